"""Filters: conditions as Python values."""

from __future__ import annotations

import pytest

from stratadb import Strata
from stratadb.errors import InvalidArgumentError
from stratadb.filters import Filter, eq


@pytest.mark.parametrize(
    ("value", "kind"), [("x", "string"), (1, "number"), (1.5, "number"), (True, "bool"), (None, "null")]
)
def test_eq_carries_the_type_of_its_value(value: object, kind: str) -> None:
    """Spec: text, numbers and booleans; ours: null too."""
    condition = {"field": "a", "op": "eq", "value": {"type": kind, "value": value}}
    assert eq("a", value).to_wire() == {"conditions": [condition]}  # type: ignore[arg-type]  # parametrized


def test_and_joins_conditions() -> None:
    """Spec: `&` concatenates, and changes neither side."""
    left, right = eq("a", 1), eq("b", "x")
    assert (left & right).conditions == [*left.conditions, *right.conditions]
    assert left == eq("a", 1)
    assert left & right == Filter([*left.conditions, *right.conditions])
    assert repr(left).startswith("Filter([")


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x", object()])
def test_other_values_are_refused(value: object) -> None:
    """Ours: a typed error instead of the peer's bare TypeError."""
    with pytest.raises(InvalidArgumentError):
        eq("a", value)  # type: ignore[arg-type]  # that is the point


def test_query_takes_filters(cache_db: Strata) -> None:
    """Ours: a filter works in json.query as the dict form does."""
    cache_db.json.set_many({"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 2, "y": 2}})
    assert [row.key for row in cache_db.json.query(eq("x", 1) & eq("y", 2))] == ["b"]
    assert [row.key for row in cache_db.json.query({"x": 1})] == ["a", "b"]
