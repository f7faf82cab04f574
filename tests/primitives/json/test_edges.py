"""Bounds of pages and filters, and merges of what was no object before."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.primitives.support import HOME, refused

from strata_mcp.engine import Engine
from strata_mcp.primitives.json.codec import encode
from strata_mcp.primitives.json.merge import merge_documents
from strata_mcp.primitives.json.query import CONDITIONS_MAX, DEPTH_MAX

QUERY = "invalid_argument.engine.query"


@pytest.mark.parametrize("limit", [2, 2**62, sys.maxsize - 1, sys.maxsize, sys.maxsize + 1, 2**64 - 1])
def test_any_limit_is_safe(engine: Engine, limit: int) -> None:
    """Brief: a limit is a bound, not a reservation; every page that holds all says so."""
    engine.json.batch_set(*HOME, [("d", "$", 1), ("e", "$", 2)])
    for page in (
        engine.json.list(*HOME, limit=limit),
        engine.json.scan(*HOME, limit=limit),
        engine.json.query(*HOME, limit=limit),
    ):
        assert (len(page.items), page.has_more) == (2, False)
    assert engine.json.sample(*HOME, count=limit).total_count == 2
    assert engine.json.query(*HOME, offset=limit).items == []


def conjunction(depth: int) -> dict[str, Any]:
    """A condition inside so many $and."""
    condition: dict[str, Any] = {"a": 1}
    for _ in range(depth):
        condition = {"$and": [condition]}
    return condition


def test_filters_nest_and_grow_within_bounds(engine: Engine) -> None:
    """Brief: depth and number of conditions are limited, and the error says which; the bounds themselves work."""
    engine.json.set(*HOME, "d", "$", {"a": 1})
    assert len(engine.json.query(*HOME, filter=conjunction(DEPTH_MAX)).items) == 1
    with refused(QUERY) as caught:
        engine.json.query(*HOME, filter=conjunction(DEPTH_MAX + 1))
    assert "deeper" in str(caught.value)
    most = {f"f{n}": {"$exists": False} for n in range(CONDITIONS_MAX - 1)}
    assert len(engine.json.query(*HOME, filter=most).items) == 1
    for wide in (most | {"a": 1}, {"$or": [{}] * CONDITIONS_MAX}):
        with refused(QUERY) as caught:
            engine.json.query(*HOME, filter=wide)
        assert "$in" in str(caught.value)


def test_membership_tells_types_apart(engine: Engine) -> None:
    """Brief: 1 is 1.0 but neither true nor "1"; arrays and objects are members as a whole."""
    values = [1, 1.0, True, "1", None, [1], [True], {"x": 1}, {"x": True}, {}]
    engine.json.batch_set(*HOME, [(f"d{n}", "$", {"a": value}) for n, value in enumerate(values)])
    engine.json.set(*HOME, "none", "$", {})
    for choices, expected in [
        ([1], [0, 1]),
        ([True, None], [2, 4]),
        (["1", [1.0]], [3, 5]),
        ([{"x": 1.0}, {}], [7, 9]),
        ([], []),
    ]:
        found = engine.json.query(*HOME, filter={"a": {"$in": choices}})
        assert [row.key for row in found.items] == [f"d{n}" for n in expected]
        others = engine.json.query(*HOME, filter={"a": {"$nin": choices}})
        assert len(others.items) == len(values) + 1 - len(expected)


@pytest.mark.parametrize("base", [0, None, "t", [1], []])
def test_a_value_replaced_by_two_objects_is_a_disagreement(base: Any) -> None:
    """Brief: scalars and arrays are atomic, so two replacements disagree even if both are objects."""
    sides = [encode({"f": value}) for value in (base, {"a": 1}, {"b": 2})]
    assert merge_documents(*sides, None).conflicted
    assert merge_documents(*sides, "source").value == sides[1]
    assert merge_documents(*sides, "target").value == sides[2]


def test_two_new_objects_merge() -> None:
    """Brief: where neither side had a value before, objects merge field by field."""
    base, source, target = encode({}), encode({"f": {"a": 1}}), encode({"f": {"b": 2}})
    assert merge_documents(base, source, target, None).value == b'{"f":{"a":1,"b":2}}'
    assert not merge_documents(None, source, target, None).conflicted
