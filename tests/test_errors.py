"""The tree of errors, the registry behind it, and the promises every code keeps."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strata_mcp import errors
from strata_mcp.error_registry import ENTRIES, PARTS
from strata_mcp.errors import StrataError, catalog, client_error, error_from_payload, error_from_status, fail

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
POLICIES = {"never", "after_state_change", "same_request", "idempotent_only", "unknown"}
OUTCOMES = {
    "not_applicable",
    "not_started",
    "definitely_not_committed",
    "maybe_committed",
    "committed_post_commit_failed",
}
KNOWN: list[list[Any]] = json.loads((ROOT / "tests" / "data" / "error_codes.json").read_text(encoding="utf-8"))
OURS = {
    "access_denied.engine.read_only",
    "already_exists.engine.tag",
    "conflict.engine.revert",
    "conflict.engine.version",
    "data_loss.engine.journal",
    "data_loss.engine.table",
    "failed_precondition.engine.foreign_folder",
    "failed_precondition.engine.read_only_after_error",
    "failed_precondition.engine.transaction_closed",
    "failed_precondition.engine.transaction_open",
    "invalid_argument.engine.expires_in",
    "invalid_argument.engine.limit",
    "invalid_argument.engine.query",
    "invalid_argument.engine.tag_name",
    "invalid_argument.engine.transaction",
    "invalid_argument.sdk.argument",
    "io.engine.checkpoint",
    "io.engine.journal_sync",
    "io.engine.journal_write",
    "not_found.engine.commit",
    "not_found.engine.tag",
    "resource_exhausted.executor.result_size",
    "unavailable.engine.lock_timeout",
}


def fields(error: StrataError) -> dict[str, Any]:
    """Everything an error says about itself."""
    names = ("code", "error_class", "message", "hint", "ref", "reference_id", "retry_policy", "retryable")
    return {name: getattr(error, name) for name in (*names, "commit_outcome", "details", "hints", "trace_id", "status")}


# ---- the registry ----


def test_every_known_code_is_registered_as_specified() -> None:
    """Spec: all 252 codes exist with their class; policy and outcome are the given ones where given."""
    assert len(KNOWN) == 252
    wrong = [
        code
        for code, error_class, policy, outcome in KNOWN
        if (entry := ENTRIES.get(code)) is None
        or entry[0] != error_class
        or policy not in (None, entry[3])
        or outcome not in (None, entry[4])
    ]
    assert wrong == []


def test_codes_beyond_the_known_ones_are_listed() -> None:
    """Ours: a code is append-only, so adding or losing one shows up here."""
    assert set(ENTRIES) - {row[0] for row in KNOWN} == OURS


def test_no_code_is_registered_twice() -> None:
    """Ours: two parts of the registry do not describe one code."""
    assert sum(map(len, PARTS)) == len(ENTRIES)


@pytest.mark.parametrize("code", sorted(ENTRIES))
def test_code_keeps_its_promises(code: str) -> None:
    """Ours: class, texts, policy and outcome of each code hang together."""
    error_class, message, hint, policy, outcome = ENTRIES[code]
    prefix = code.split(".")[0]
    assert prefix in (error_class, "inference")
    assert policy in POLICIES
    assert outcome in OUTCOMES
    for text in (message, hint):
        assert text == text.strip()
        assert text.endswith(".")
        assert len(text.split()) >= 3
        assert "  " not in text
    error = fail(code)
    assert type(error) is errors.CLASSES[error_class]
    assert error.retryable == (policy not in ("never", "unknown"))
    assert error.ref == f"docs/errors.md#{code}"


def test_every_code_the_package_uses_is_registered() -> None:
    """Ours: `fail("...")` never meets an unknown code."""
    unknown = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.args[0].value!r}"
        for path in SRC.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "fail"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value not in ENTRIES
    ]
    assert unknown == []


def test_catalog_lists_every_code_in_order() -> None:
    """Ours: the catalogue is the whole registry, sorted by code."""
    entries = catalog()
    assert [entry["code"] for entry in entries] == sorted(ENTRIES)
    keys = ["code", "class", "area", "message", "hint", "retry_policy", "commit_outcome", "ref"]
    assert [entry for entry in entries if list(entry) != keys] == []
    by_code = {entry["code"]: entry for entry in entries}
    assert by_code["invalid_argument.sdk.entry"]["area"] == "sdk"
    assert by_code["inference.missing_model"]["class"] == "failed_precondition"


# ---- the tree ----


def test_sixteen_classes_share_one_base() -> None:
    """Spec: each class of the wire has one exception class, named after it, under StrataError."""
    assert len(errors.CLASSES) == 16
    for name, cls in errors.CLASSES.items():
        assert issubclass(cls, StrataError)
        assert cls.__name__ == "".join(part.title() for part in name.split("_")) + "Error"
        assert cls.error_class == name


@pytest.mark.parametrize(
    ("code", "builtin"),
    [("not_found.engine.branch", LookupError), ("invalid_argument.engine.kv_key", ValueError)],
)
def test_errors_are_also_the_builtin_ones(code: str, builtin: type[Exception]) -> None:
    """Ours: code that knows nothing of Strata can still catch the natural builtin."""
    assert isinstance(fail(code), builtin)


def test_fail_takes_what_the_caller_knows() -> None:
    """Ours: message, hint and outcome override the registry; details become text."""
    error = fail(
        "conflict.engine.version", "the key moved", hint="read again", commit_outcome="maybe_committed", expected=3
    )
    assert (error.message, error.hint, error.commit_outcome) == ("the key moved", "read again", "maybe_committed")
    assert error.details == {"expected": "3"}
    assert (error.retry_policy, error.retryable) == ("after_state_change", True)


def test_text_shows_code_message_hint_and_ref() -> None:
    """Spec: str() is "code: message" and two indented lines; repr names class and code."""
    error = fail("not_found.engine.branch", "no branch 'x'", hint="make it")
    assert str(error) == (
        "not_found.engine.branch: no branch 'x'\n  hint: make it\n  ref: docs/errors.md#not_found.engine.branch"
    )
    assert repr(error) == "NotFoundError(code='not_found.engine.branch')"


def test_text_leaves_out_a_missing_hint() -> None:
    """Ours: no hint, no empty hint line."""
    assert "hint" not in str(StrataError("a.b.c", "message"))


def test_reference_ids_tell_occurrences_apart() -> None:
    """Ours: each error has its own reference id, and keeps it."""
    first, second = fail("not_found.engine.branch"), fail("not_found.engine.branch")
    assert first.reference_id
    assert first.reference_id == first.reference_id == first.status["reference_id"]
    assert first.reference_id != second.reference_id


# ---- the wire ----


def test_status_has_the_fields_of_the_wire() -> None:
    """Spec: required fields always, details as key-value pairs, optional fields only when filled."""
    required = {
        "class",
        "code",
        "commit_outcome",
        "docs_url",
        "message",
        "reference_id",
        "retry_policy",
        "retryable",
        "suggested_fix",
    }
    assert set(fail("invalid_argument.engine.kv_key").status) == required
    status = fail("invalid_argument.engine.kv_key", field="key").status
    assert set(status) == {*required, "details"}
    assert status["details"] == [{"key": "field", "value": "key"}]
    assert json.loads(json.dumps(status)) == status


@pytest.mark.parametrize("code", sorted(ENTRIES))
def test_errors_survive_the_wire(code: str) -> None:
    """Ours: the wire form of an error, as dict or JSON text, gives the same error back."""
    error = fail(code, where="here")
    for again in (error_from_status(error.status), error_from_payload(json.dumps(error.status))):
        assert type(again) is type(error)
        assert fields(again) == fields(error)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_copy_and_pickle(duplicate: Any) -> None:
    """Ours: errors cross process borders whole."""
    error = client_error(errors.ConflictError, "conflict.engine.version", "moved", "read again")
    error.details["expected"] = "3"
    error.hints.append("or leave if_version out")
    error.trace_id = "t1"
    again = duplicate(error)
    assert type(again) is errors.ConflictError
    assert fields(again) == fields(error)
    assert str(again) == str(error)


def test_unknown_class_gives_the_base() -> None:
    """Spec: an error of a class this release does not know is a plain StrataError."""
    error = error_from_status({"class": "weird", "code": "weird.x.y", "message": "m", "retryable": True})
    assert type(error) is StrataError
    assert (error.code, error.error_class, error.message) == ("weird.x.y", "weird", "m")
    assert (error.retryable, error.retry_policy) == (True, "unknown")


@pytest.mark.parametrize("payload", ["", "junk", "[1]", '"text"', "null"])
def test_payload_that_is_no_error_gives_an_internal_error(payload: str) -> None:
    """Ours: rebuilding an error never fails itself."""
    error = error_from_payload(payload)
    assert type(error) is errors.InternalError
    assert error.code in ENTRIES


def test_client_error_knows_registered_codes() -> None:
    """Spec: an SDK-side error takes policy and outcome from the registry, or never and not_started."""
    known = client_error(errors.ConflictError, "conflict.engine.version", "m", "h")
    assert (known.retry_policy, known.retryable, known.commit_outcome) == ("after_state_change", True, "not_started")
    unknown = client_error(errors.NotFoundError, "a.b.c", "m")
    assert (unknown.retry_policy, unknown.retryable, unknown.commit_outcome) == ("never", False, "not_started")
    assert unknown.hint == ""


def test_required_field_is_returned_or_named() -> None:
    """Spec: a field that is there comes back, null too; one that is not gives invalid_argument.sdk.entry."""
    assert errors.require_field({"key": None}, "key") is None
    with pytest.raises(errors.InvalidArgumentError, match="'value'") as caught:
        errors.require_field({"key": "a"}, "value")
    assert caught.value.code == "invalid_argument.sdk.entry"


def test_registry_is_not_loaded_before_the_first_error() -> None:
    """Ours: importing the tree loads neither the registry nor anything slow."""
    code = "import strata_mcp.errors, sys; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PYTHONPATH": str(SRC)},
    )
    loaded = set(result.stdout.split())
    assert {"strata_mcp.error_registry", "dataclasses", "inspect", "json", "msgspec"} & loaded == set()
