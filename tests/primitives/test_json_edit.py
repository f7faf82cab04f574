"""Changing documents at a path, beside a plain recursive model."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.primitives.support import DOCUMENTS, NAMES, SCALARS, refused, same

from strata_mcp.errors import StrataError
from strata_mcp.primitives.json.edit import MISSING, get, put, remove
from strata_mcp.primitives.json.path import Path

TYPE = "invalid_argument.engine.json_path_type"
PAST_END = "invalid_argument.engine.json_path_not_found"
PATHS = st.lists(NAMES | st.integers(0, 3), max_size=4).map(tuple)


class Clash(Exception):
    """The model's refusal."""


def model_get(document: Any, path: Path) -> Any:
    """What is at a path."""
    if not path:
        return document
    head, rest = path[0], path[1:]
    if isinstance(head, str) and isinstance(document, dict) and head in document:
        return model_get(document[head], rest)
    if isinstance(head, int) and isinstance(document, list) and head < len(document):
        return model_get(document[head], rest)
    return MISSING


def model_put(document: Any, path: Path, value: Any) -> Any:
    """A new document with the value in its place."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(head, str):
        fields = {} if document is MISSING or document is None else document
        if not isinstance(fields, dict):
            raise Clash(TYPE)
        return {**fields, head: model_put(fields.get(head, MISSING), rest, value)}
    if not isinstance(document, list):
        raise Clash(TYPE)
    if head >= len(document):
        raise Clash(PAST_END)
    return [model_put(item, rest, value) if place == head else item for place, item in enumerate(document)]


def model_remove(document: Any, path: Path) -> Any:
    """A new document without the place, or MISSING when there is no such place."""
    head, rest = path[0], path[1:]
    if not isinstance(document, dict if isinstance(head, str) else list):
        raise Clash(TYPE)
    inner = model_get(document, (head,))
    if inner is MISSING:
        return MISSING
    if rest:
        inner = model_remove(inner, rest)
        return MISSING if inner is MISSING else model_put(document, (head,), inner)
    if isinstance(document, dict):
        return {name: item for name, item in document.items() if name != head}
    return [item for place, item in enumerate(document) if place != head]


@given(DOCUMENTS, PATHS)
def test_get_walks_like_the_model(document: Any, path: Path) -> None:
    """Spec: a step that does not fit leads nowhere, never to an error."""
    found, expected = get(document, path), model_get(document, path)
    assert found is expected


@given(DOCUMENTS | st.just(MISSING), PATHS, SCALARS)
def test_put_changes_like_the_model(document: Any, path: Path, value: Any) -> None:
    """Spec: parents of names appear, arrays never grow, clashes are typed."""
    try:
        expected = model_put(document, path, value)
    except Clash as clash:
        with refused(str(clash)):
            put(copy.deepcopy(document), path, value)
    else:
        changed = put(document if document is MISSING else copy.deepcopy(document), path, value)
        assert same(changed, expected)
        assert same(get(changed, path), value)


@given(DOCUMENTS, PATHS.filter(bool))
def test_remove_changes_like_the_model(document: Any, path: Path) -> None:
    """Spec: arrays close up, absent places are no error, wrong containers are."""
    changed = copy.deepcopy(document)
    try:
        expected = model_remove(document, path)
    except Clash as clash:
        with refused(str(clash)):
            remove(changed, path)
        expected = document
    else:
        assert remove(changed, path) is (expected is not MISSING)
    assert same(changed, document if expected is MISSING else expected)


@pytest.mark.parametrize(
    ("document", "path", "at"), [({"a": 1}, ("a", "b"), "a"), ([1], ("x",), "$"), ({"l": [{}]}, ("l", 0, 0), "l[0]")]
)
def test_a_clash_names_the_place(document: Any, path: Path, at: str) -> None:
    """House rule: the error says where the path stopped fitting."""
    with pytest.raises(StrataError) as caught:
        put(document, path, 1)
    assert caught.value.details["at"] == at
