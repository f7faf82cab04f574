"""The SDK offers what the peer's programs call: same names, arguments, kinds and defaults."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import strata_mcp.sdk
import stratadb
from stratadb import namespaces

SURFACE = json.loads((Path(__file__).parents[1] / "data" / "sdk_surface.json").read_text())
CLASSES: dict[str, type] = {
    "kv": namespaces.KVNamespace,
    "json": namespaces.JSONNamespace,
    "branches": namespaces.BranchesNamespace,
    "spaces": namespaces.SpacesNamespace,
    "admin": namespaces.AdminNamespace,
}
METHODS = [(family, name) for family, methods in SURFACE["namespaces"].items() for name in methods]


def check_signature(call: Callable[..., Any], expected: list[dict[str, Any]], *, is_method: bool) -> None:
    """The promised parameters come first, as promised; ours follow and are optional."""
    parameters = list(inspect.signature(call).parameters.values())[1 if is_method else 0 :]
    required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
    assert required == [item["name"] for item in expected if item.get("required")]
    by_name = {parameter.name: parameter for parameter in parameters}
    positional = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    promised = [item["name"] for item in expected if item["kind"] == "positional_or_keyword"]
    assert positional[: len(promised)] == promised
    for item in expected:
        parameter = by_name[item["name"]]
        if item["kind"] == "keyword_only":
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if "default" in item and item["default"] != "<unset>":
            assert parameter.default == item["default"]


@pytest.mark.parametrize(("family", "name"), METHODS, ids=lambda value: value)
def test_namespace_methods_take_the_promised_arguments(family: str, name: str) -> None:
    """Spec: every method of the namespaces of this release has the peer's signature."""
    check_signature(getattr(CLASSES[family], name), SURFACE["namespaces"][family][name], is_method=True)


@pytest.mark.parametrize("name", SURFACE["module"])
def test_module_functions_take_the_promised_arguments(name: str) -> None:
    """Spec: every function of the module has the peer's signature."""
    check_signature(getattr(stratadb, name), SURFACE["module"][name], is_method=False)


@pytest.mark.parametrize("name", SURFACE["handle"])
def test_handle_methods_take_the_promised_arguments(name: str) -> None:
    """Spec: the handle and its constructor have the peer's signatures."""
    check_signature(getattr(stratadb.Strata, name), SURFACE["handle"][name], is_method=True)


def test_public_names_are_sorted_and_there() -> None:
    """Ours: `__all__` of both packages is sorted and every name in it can be had."""
    for module in (strata_mcp.sdk, stratadb):
        assert module.__all__ == sorted(module.__all__)
        assert [name for name in module.__all__ if not hasattr(module, name)] == []
        assert set(module.__all__) <= set(dir(module))


def test_public_names_include_the_peers() -> None:
    """Spec: each name the peer exports is exported here."""
    assert set(SURFACE["all"]) <= set(stratadb.__all__)


def test_stratadb_adds_nothing() -> None:
    """Ours: `stratadb` re-exports the SDK; only its submodules are its own."""
    own = {"clock", "errors", "filters", "namespaces"}
    for name in set(stratadb.__all__) - own:
        assert getattr(stratadb, name) is getattr(strata_mcp.sdk, name)
    assert own - {"namespaces"} <= set(strata_mcp.sdk.__all__)


@pytest.mark.parametrize("name", SURFACE["submodules"])
def test_submodules_can_be_imported(name: str) -> None:
    """Spec: the submodules are there, and those with public names list them sorted."""
    before = getattr(stratadb, name)
    module = import_module(f"stratadb.{name}")
    setattr(stratadb, name, before)
    public = getattr(module, "__all__", [])
    assert public == sorted(public)
    assert [missing for missing in public if not hasattr(module, missing)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Ours: lazy loading hides no typo."""
    for module in (strata_mcp.sdk, stratadb):
        with pytest.raises(AttributeError, match="opne"):
            _ = module.opne


def test_versions_agree() -> None:
    """Ours: the package, its metadata and a handle name one version."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'version = "{stratadb.__version__}"' in text
    with stratadb.open(cache=True) as db:
        assert db.version == stratadb.__version__


def test_enumerations_hold_the_promised_words() -> None:
    """Spec: the values of the exported enumerations; `target_wins` is ours."""
    assert [item.value for item in stratadb.PromotionStrategy] == ["strict", "source_wins", "target_wins"]
    assert [item.value for item in stratadb.HubDatasetSort] == ["downloads", "recent", "name", "size"]


def test_public_api_has_no_untyped_signature() -> None:
    """Ours: every public method annotates every argument and its result."""
    for owner in (*CLASSES.values(), namespaces.TagsNamespace, stratadb.Strata):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                signature = inspect.signature(method)
                assert signature.return_annotation is not inspect.Signature.empty, f"{owner.__name__}.{name}"
                bare = [p.name for p in list(signature.parameters.values())[1:] if p.annotation is p.empty]
                assert bare == [], f"{owner.__name__}.{name}"
