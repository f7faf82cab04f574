"""Queries beside a naive evaluator, with and without indexes, now and in the past."""

from __future__ import annotations

import operator
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.primitives.support import HOME, refused

from strata_mcp.engine import Engine

PATHS = ["a", "b", "o.c"]
NOTHING = object()
SCALARS = st.one_of(
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, 1.5, -2.0, 2**63, float(2**63)]),
    st.text("ab", max_size=2),
    st.booleans(),
    st.none(),
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["x", "y"]), SCALARS, max_size=1)
DOCUMENTS = st.fixed_dictionaries(
    {}, optional={"a": VALUES, "b": VALUES, "o": VALUES | st.fixed_dictionaries({}, optional={"c": VALUES})}
)
KEYS = st.sampled_from([f"k{n}" for n in range(8)])
STORES = st.dictionaries(KEYS, DOCUMENTS, max_size=8)
NUMBERS_AND_TEXTS = st.integers(-2, 2) | st.sampled_from([0.0, 1.5]) | st.text("ab", max_size=2)
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(["$eq", "$ne"]), VALUES),
    st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), NUMBERS_AND_TEXTS),
    st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(VALUES, max_size=3)),
    st.tuples(st.just("$exists"), st.booleans()),
    st.tuples(st.just("$prefix"), st.text("ab", max_size=2)),
    st.tuples(st.just("$contains"), SCALARS),
)
FIELDS = st.dictionaries(
    st.sampled_from(PATHS), VALUES | st.lists(OPERATIONS, min_size=1, max_size=2).map(dict), max_size=2
)
FILTERS = st.recursive(
    FIELDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"$and": parts}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
        st.tuples(FIELDS, inner).map(lambda both: {**both[0], "$and": [both[1]]}),
    ),
    max_leaves=3,
)
ORDERS = st.none() | st.lists(st.sampled_from([*PATHS, *(f"-{path}" for path in PATHS)]), max_size=2)
INDEXES = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(["numeric", "tag", "text"])), max_size=3)
COMPARE = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}


def kind(value: Any) -> int:
    """Rank of the JSON type: null, boolean, number, text, array, object."""
    for rank, types in enumerate([type(None), bool, (int, float), str, list]):
        if isinstance(value, types):
            return rank
    return 5


def at(document: Any, path: str) -> Any:
    """What a dotted path leads to."""
    for name in path.split("."):
        if not isinstance(document, dict) or name not in document:
            return NOTHING
        document = document[name]
    return document


def alike(left: Any, right: Any) -> bool:
    """Equality of JSON values."""
    if left is NOTHING or kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return set(left) == set(right) and all(alike(left[name], right[name]) for name in left)
    return bool(left == right)


def holds(value: Any, name: str, operand: Any) -> bool:
    """One comparison."""
    if name in COMPARE:
        return value is not NOTHING and kind(value) == kind(operand) and bool(COMPARE[name](value, operand))
    if name in ("$in", "$nin"):
        return any(alike(value, choice) for choice in operand) is (name == "$in")
    if name in ("$eq", "$ne"):
        return alike(value, operand) is (name == "$eq")
    if name == "$exists":
        return (value is not NOTHING) is operand
    if name == "$prefix":
        return isinstance(value, str) and value.startswith(operand)
    return isinstance(value, list) and any(alike(item, operand) for item in value)


def meets(document: Any, condition: dict[str, Any]) -> bool:
    """The whole filter."""
    for name, value in condition.items():
        if name == "$and":
            met = all(meets(document, part) for part in value)
        elif name == "$or":
            met = any(meets(document, part) for part in value)
        elif name == "$not":
            met = not meets(document, value)
        else:
            is_operators = isinstance(value, dict) and any(key.startswith("$") for key in value)
            tests = value if is_operators else {"$eq": value}
            met = all(holds(at(document, name), test, operand) for test, operand in tests.items())
        if not met:
            return False
    return True


def naive(store: dict[str, Any], condition: dict[str, Any], order: list[str] | None) -> list[str]:
    """Ids that match, in order."""
    found = sorted(key for key in store if meets(store[key], condition))
    for term in reversed(order or []):
        path = term.removeprefix("-")

        def rank(key: str, path: str = path) -> tuple[int, Any]:
            value = at(store[key], path)
            return (kind(value), value if kind(value) in (1, 2, 3) else 0)

        there = [key for key in found if at(store[key], path) is not NOTHING]
        gone = [key for key in found if at(store[key], path) is NOTHING]
        found = sorted(there, key=rank, reverse=term.startswith("-")) + gone
    return found


def write(engine: Engine, branch: str, documents: dict[str, Any]) -> None:
    """Set documents; None deletes one."""
    engine.json.batch_set(branch, "default", [(key, "$", value) for key, value in documents.items() if value != "gone"])
    engine.json.batch_delete(branch, "default", [(key, "$") for key, value in documents.items() if value == "gone"])


def ask(engine: Engine, condition: Any, order: Any = None, branch: str = "default", **moment: Any) -> list[str]:
    """Ids of the matches."""
    found = engine.json.query(branch, "default", filter=condition, order=order, limit=None, **moment)
    return [row.key for row in found.items]


@given(STORES, st.dictionaries(KEYS, DOCUMENTS | st.just("gone"), max_size=4), INDEXES, FILTERS, ORDERS)
def test_queries_answer_like_a_plain_loop(
    before: dict[str, Any], change: dict[str, Any], indexes: list[tuple[str, str]], condition: Any, order: Any
) -> None:
    """Brief: the same answer with and without indexes, before and after changes, in the past, on a fork."""
    after = {key: value for key, value in {**before, **change}.items() if value != "gone"}
    engine = Engine.open(None, cache=True)
    try:
        write(engine, "default", before)
        for number, (path, index_type) in enumerate(indexes):
            engine.json.create_index(*HOME, f"i{number}", path, index_type)
        engine.kv.put(*HOME, b"k", b"a commit, whatever was drawn")
        moment = engine.store.journal.head
        assert ask(engine, condition, order) == naive(before, condition, order)
        engine.branches.fork("default", "fork")
        write(engine, "default", change)
        assert ask(engine, condition, order) == naive(after, condition, order)
        assert ask(engine, condition, order, as_of=moment) == naive(before, condition, order)
        assert ask(engine, condition, order, branch="fork") == naive(before, condition, order)
        write(engine, "fork", change)
        assert ask(engine, condition, order, branch="fork") == naive(after, condition, order)
    finally:
        engine.close()


def fill(engine: Engine) -> None:
    """Ten people."""
    people = [
        (f"p{n}", "$", {"age": n * 10, "name": f"n{n % 3}", "tags": ["even" if n % 2 == 0 else "odd"]})
        for n in range(10)
    ]
    engine.json.batch_set(*HOME, people)


def test_an_index_is_used_and_said_so(engine: Engine) -> None:
    """Brief: the answer names the index; only documents it leads to are looked at."""
    fill(engine)
    assert engine.json.query(*HOME, filter={"age": {"$gte": 70}}).examined == 10
    engine.json.create_index(*HOME, "by_age", "$.age", "numeric")
    engine.json.create_index(*HOME, "by_name", '$["name"]', "tag")
    for condition, index, examined, matches in (
        ({"age": {"$gte": 70}}, "by_age", 3, 3),
        ({"age": 70, "tags": {"$contains": "odd"}}, "by_age", 1, 1),
        ({"age": {"$in": [10, 20, 1000]}}, "by_age", 2, 2),
        ({"name": {"$prefix": "n1"}}, "by_name", 3, 3),
        ({"$and": [{"name": "n0"}, {"age": {"$lt": 50}}]}, "by_name", 4, 2),
        ({"$or": [{"name": "n0"}, {"age": 10}]}, None, 10, 5),
        ({"$not": {"name": "n0"}}, None, 10, 6),
        ({"age": {"$ne": 70}}, None, 10, 9),
        ({"age": "70"}, None, 10, 0),
        ({"name": None}, None, 10, 0),
    ):
        found = engine.json.query(*HOME, filter=condition)
        assert (found.index, found.examined, len(found.items)) == (index, examined, matches), condition


def test_an_index_follows_what_is_written(engine: Engine) -> None:
    """Brief: kept up with the keys touched since, deletes and other handles' spaces included."""
    fill(engine)
    engine.json.create_index(*HOME, "by_age", "age", "numeric")
    old = {"age": {"$gte": 80}}
    assert ask(engine, old) == ["p8", "p9"]
    engine.json.delete(*HOME, "p9", "$")
    engine.json.set(*HOME, "p1", "age", 99)
    engine.json.set(*HOME, "p8", "age", "old")
    engine.json.set("default", "elsewhere", "p5", "age", 99)
    assert ask(engine, old) == ["p1"]
    engine.json.set(*HOME, "p9", "$", {"age": 80})
    assert ask(engine, old) == ["p1", "p9"]
    engine.json.drop_index(*HOME, "by_age")
    engine.json.create_index(*HOME, "by_age", "name", "text")
    assert engine.json.query(*HOME, filter=old).index is None
    found = engine.json.query(*HOME, filter={"name": "n0"})
    assert (found.index, [row.key for row in found.items]) == ("by_age", ["p0", "p3", "p6"])


def test_the_past_is_scanned(engine: Engine) -> None:
    """Brief: as_of answers exactly and without an index."""
    fill(engine)
    engine.json.create_index(*HOME, "by_age", "age", "numeric")
    moment = engine.store.journal.head
    engine.json.set(*HOME, "p9", "age", 0)
    found = engine.json.query(*HOME, filter={"age": 90}, as_of=moment)
    assert (found.index, [row.key for row in found.items]) == (None, ["p9"])
    assert ask(engine, {"age": 90}) == []


def test_an_indexed_answer_is_one_state(engine: Engine) -> None:
    """Design: while another thread rewrites all documents, one commit each time, no answer mixes two commits."""
    keys = [f"k{n:03}" for n in range(200)]
    engine.json.create_index(*HOME, "i", "turn", "numeric")
    engine.json.batch_set(*HOME, [(key, "turn", 0) for key in keys])

    def rewrite() -> None:
        for turn in range(1, 40):
            engine.json.batch_set(*HOME, [(key, "turn", turn) for key in keys])

    writer = threading.Thread(target=rewrite)
    mixed = []
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        writer.start()
        while writer.is_alive():
            found = engine.json.query(*HOME, filter={"turn": {"$gte": 0}}, limit=None)
            turns = {row.value["turn"] for row in found.items}
            if (found.index, len(found.items), len(turns)) != ("i", 200, 1):
                mixed.append(turns)
    finally:
        writer.join()
        sys.setswitchinterval(usual)
    assert mixed == []
    assert ask(engine, {"turn": 39}) == keys


def test_structures_of_what_is_gone_are_let_go(engine: Engine) -> None:
    """Design: memory does not grow with indexes and branches that were removed."""
    fill(engine)
    for number in range(5):
        engine.json.create_index(*HOME, "i", "age", "numeric")
        engine.branches.fork("default", f"f{number}")
        assert ask(engine, {"age": 90}, branch=f"f{number}") == ["p9"]
        assert ask(engine, {"age": 90}) == ["p9"]
        engine.branches.delete(f"f{number}")
        engine.json.drop_index(*HOME, "i")
    assert len(engine.json._indexes._structures) <= 2


def test_matches_are_ordered_cut_and_projected(engine: Engine) -> None:
    """Brief: order with missing fields last and ties by id, offset, limit, projection."""
    values: list[Any] = [[1], "b", None, 2, {"x": 1}, True, 1.5, "a", False]
    engine.json.batch_set(*HOME, [(f"k{n}", "$", {"v": value, "same": 0}) for n, value in enumerate(values)])
    engine.json.set(*HOME, "k9", "$", {"same": 0})
    ascending = ["k2", "k8", "k5", "k6", "k3", "k7", "k1", "k0", "k4"]
    assert ask(engine, None, ["v"]) == [*ascending, "k9"]
    assert ask(engine, None, ["-v"]) == [*reversed(ascending), "k9"]
    assert ask(engine, None, ["-same", "v"]) == [*ascending, "k9"]
    assert ask(engine, None, ["-same"]) == [f"k{n}" for n in range(10)]
    page = engine.json.query(*HOME, order=["v"], offset=2, limit=3, projection=["v", "$.same", "none"])
    assert [(row.key, row.value) for row in page.items] == [
        ("k5", {"v": True, "$.same": 0}),
        ("k6", {"v": 1.5, "$.same": 0}),
        ("k3", {"v": 2, "$.same": 0}),
    ]
    assert page.has_more
    assert not engine.json.query(*HOME, offset=8, limit=2).has_more
    assert engine.json.query(*HOME, projection=[]).items[0].value == {}
    assert engine.json.query(*HOME, limit=0).items == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"filter": []}, "list"),
        ({"filter": {"a": {"$near": 1}}}, "$near"),
        ({"filter": {"a": {"$gt": 1, "b": 2}}}, "'b'"),
        ({"filter": {"$nor": []}}, "$nor"),
        ({"filter": {"$and": {}}}, "$and"),
        ({"filter": {"$or": []}}, "$or"),
        ({"filter": {"$not": 1}}, "int"),
        ({"filter": {"a": {"$gt": None}}}, "$gt"),
        ({"filter": {"a": {"$in": "ab"}}}, "$in"),
        ({"filter": {"a": {"$exists": 1}}}, "$exists"),
        ({"filter": {"a": {"$prefix": 1}}}, "$prefix"),
        ({"filter": {"a": float("nan")}}, "$eq"),
        ({"filter": {"a": {"$eq": object()}}}, "$eq"),
        ({"filter": {"bad[": 1}}, "bad["),
        ({"filter": {1: 1}}, "text"),
        ({"order": ["-bad["]}, "bad["),
        ({"order": "a"}, "order"),
        ({"order": 5}, "order"),
        ({"projection": [1]}, "projection"),
    ],
)
def test_malformed_queries_are_explained(engine: Engine, arguments: dict[str, Any], named: str) -> None:
    """Brief: the error names the part that is wrong and shows how it looks right."""
    with refused("invalid_argument.engine.query") as caught:
        engine.json.query(*HOME, **arguments)
    assert named in caught.value.message
    assert '"status": "open"' in caught.value.message


def test_filters_nest_32_deep_at_most(engine: Engine) -> None:
    """Brief: depth limit 32, also for a filter that contains itself."""
    condition: dict[str, Any] = {"a": 1}
    for _ in range(32):
        condition = {"$not": condition}
    assert ask(engine, condition) == []
    endless: dict[str, Any] = {}
    endless["$and"] = [endless]
    for deep in ({"$not": condition}, endless):
        with refused("invalid_argument.engine.query"):
            ask(engine, deep)
