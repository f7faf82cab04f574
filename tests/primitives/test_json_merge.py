"""Field-wise three-way merge: its laws, and the cases people meet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.primitives.support import HOME

from strata_mcp.engine import Engine
from strata_mcp.primitives.json.codec import encode
from strata_mcp.primitives.json.merge import JSON_RULES, merge_documents
from strata_mcp.results.branches import ComparedCapability, DerivedStateDisposition
from strata_mcp.store.families import MergeOutcome

FIELDS = st.sampled_from(["x", "y", "z"])
LEAVES = st.sampled_from([None, True, 0, 1, 1.0, -0.0, 0.0, "", "t", [], [1], {}])
VALUES = st.recursive(LEAVES, lambda inner: st.dictionaries(FIELDS, inner, max_size=3), max_leaves=6)
TEXTS = st.none() | VALUES.map(encode)


def merged(base: Any, source: Any, target: Any, prefer: str | None = None) -> tuple[bytes | None, bool]:
    """Merge plain values; `...` stands for no document."""
    texts = [None if value is ... else encode(value) for value in (base, source, target)]
    outcome = merge_documents(*texts, prefer)
    return outcome.value, outcome.conflicted


@given(TEXTS, TEXTS, st.sampled_from([None, "source", "target"]))
def test_a_side_that_did_nothing_gives_way(base: bytes | None, other: bytes | None, prefer: str | None) -> None:
    """Law: m(b, s, b) = s, m(b, b, t) = t and m(b, x, x) = x, whoever is preferred."""
    assert merge_documents(base, other, base, prefer) == MergeOutcome(other, False)
    assert merge_documents(base, base, other, prefer) == MergeOutcome(other, False)
    assert merge_documents(base, other, other, prefer) == MergeOutcome(other, False)


@given(TEXTS, TEXTS, TEXTS)
def test_the_sides_can_be_swapped(base: bytes | None, source: bytes | None, target: bytes | None) -> None:
    """Law: preferring the source is preferring the target of the swapped merge; so is disagreeing."""
    one, other = merge_documents(base, source, target, "source"), merge_documents(base, target, source, "target")
    assert one == other
    undecided, swapped = merge_documents(base, source, target, None), merge_documents(base, target, source, None)
    assert undecided.conflicted == swapped.conflicted == one.conflicted
    if not undecided.conflicted:
        assert undecided.value == swapped.value == one.value


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["source", "target"]))
def test_merging_again_changes_nothing(
    base: bytes | None, source: bytes | None, target: bytes | None, prefer: str
) -> None:
    """Law: once the source is the base of the next merge, the outcome stays."""
    once = merge_documents(base, source, target, prefer).value
    assert merge_documents(source, source, once, prefer) == MergeOutcome(once, False)


@given(st.dictionaries(FIELDS, LEAVES), st.dictionaries(FIELDS, LEAVES), st.dictionaries(FIELDS, LEAVES))
def test_flat_objects_merge_like_three_dicts(base: Any, source: Any, target: Any) -> None:
    """Law: each field is decided by itself, as a plain loop over the fields decides it."""
    expected: dict[str, Any] = {}
    clash = False
    for name in {*base, *source, *target}:
        b, s, t = (repr(side.get(name, "absent")) for side in (base, source, target))
        both_objects = s == t == "{}"
        winner = target if s in (b, t) or both_objects else source
        clash = clash or (s not in (b, t) and t != b)
        if name in winner:
            expected[name] = winner[name]
    assert merged(base, source, target, "source") == (encode(expected), clash)


@pytest.mark.parametrize(
    ("base", "source", "target", "outcome"),
    [
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2}),
        ({"o": {"x": 1}}, {"o": {"x": 1, "y": 2}}, {"o": {"x": 1, "z": 3}}, {"o": {"x": 1, "y": 2, "z": 3}}),
        ({"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}),
        (..., {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        (..., {"a": 1, "c": 0}, {"b": 2, "c": 0}, {"a": 1, "b": 2, "c": 0}),
    ],
)
def test_different_fields_do_not_disagree(base: Any, source: Any, target: Any, outcome: Any) -> None:
    """Issue: two sides that changed different fields merge without a conflict."""
    assert merged(base, source, target) == (encode(outcome), False)


@pytest.mark.parametrize(
    ("base", "source", "target"),
    [
        ({"a": 1}, {"a": 2}, {"a": 3}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [0, 1]}),
        ({"a": 1}, {}, {"a": 2}),
        ({"a": 1}, ..., {"a": 2}),
        ({"a": 1}, {"a": 2}, ...),
        ({"a": 0}, {"a": 0.0}, {"a": False}),
        (1, 2, 3),
        (..., 1, {"a": 1}),
    ],
)
def test_disagreements_are_reported_and_decided(base: Any, source: Any, target: Any) -> None:
    """Brief: scalars and arrays are atomic, delete against modify disagrees; `prefer` picks a whole side."""
    assert merged(base, source, target)[1]
    assert merged(base, source, target, "source") == (None if source is ... else encode(source), True)
    assert merged(base, source, target, "target") == (None if target is ... else encode(target), True)


def test_preferring_a_side_still_merges_the_rest() -> None:
    """Brief: a preference decides the disagreement only."""
    sides = {"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 1, "c": 0}, {"a": 2, "b": 0, "c": 2}
    assert merged(*sides, "source") == (encode({"a": 1, "b": 1, "c": 2}), True)
    assert merged(*sides, "target") == (encode({"a": 2, "b": 1, "c": 2}), True)


def test_the_sign_of_zero_is_a_change() -> None:
    """Spec: -0.0 is kept; a merge does not lose it."""
    assert merged({"a": 0.0, "b": 1}, {"a": -0.0, "b": 1}, {"a": 0.0, "b": 2}) == (b'{"a":-0.0,"b":2}', False)


def test_the_rules_of_the_family() -> None:
    """Brief: a promoted document goes on with the target's own version."""
    assert (JSON_RULES.capability, JSON_RULES.derived) == (
        ComparedCapability.JSON,
        DerivedStateDisposition.REBUILD_REQUIRED,
    )
    assert JSON_RULES.carry((9, b"1", 7), None) == 1
    assert JSON_RULES.carry(None, (9, b"1", 7)) == 8


def test_branches_merge_documents(engine: Engine) -> None:
    """Issue: two agents on two branches, one document, different fields."""
    engine.json.set(*HOME, "d", "$", {"plan": "free", "seats": 1})
    engine.branches.fork("default", "agent")
    engine.json.set("agent", "default", "d", "plan", "pro")
    engine.json.set(*HOME, "d", "seats", 5)
    engine.branches.merge("agent", "default")
    found = engine.json.get(*HOME, "d", "$")
    assert found is not None
    assert (found.value, found.document_version) == ({"plan": "pro", "seats": 5}, 3)
