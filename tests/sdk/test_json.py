"""`db.json`: documents, paths, batches, queries."""

from __future__ import annotations

from collections import Counter, OrderedDict
from enum import StrEnum

import pytest
from tests.sdk.refusals import refused

from stratadb import Strata
from stratadb.errors import ConflictError, InvalidArgumentError

COMMAND = "invalid_argument.sdk.command"
ENTRY = "invalid_argument.sdk.entry"


def test_two_arguments_mean_the_document_three_a_place(cache_db: Strata) -> None:
    """Spec: the forms of set, by position and by keyword."""
    assert cache_db.json.set("d", {"a": 1}).key == "d"
    cache_db.json.set("d", "$.b", 2)
    assert cache_db.json.get("d") == {"a": 1, "b": 2}
    assert cache_db.json.get("d", "$.b") == 2
    cache_db.json.set("d", path="$.b", value=3)
    assert cache_db.json.get("d", "b") == 3
    cache_db.json.set("d", value=4)
    assert cache_db.json.get("d") == 4
    cache_db.json.set("d", path="$.b")  # type: ignore[call-overload]  # the peer stores the text itself
    assert cache_db.json.get("d") == "$.b"
    with refused(COMMAND):
        cache_db.json.set("d")  # type: ignore[call-overload]  # that is the point


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "é", [], {}, [1, {"a": [None]}], 2**64 - 1])
def test_values_come_back_as_they_were(cache_db: Strata, value: list[object]) -> None:
    """Spec: any JSON value; a stored null reads as None but has an entry."""
    cache_db.json.set("d", value)
    assert cache_db.json.get("d") == value
    entry = cache_db.json.get_entry("d")
    assert entry is not None
    assert (entry.value, entry.document_version) == (value, 1)
    assert cache_db.json.get("absent") is None
    assert cache_db.json.get_entry("absent") is None


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": {1, 2}}, b"bytes", "\ud800"])
def test_what_is_not_json_is_refused(cache_db: Strata, value: list[object]) -> None:
    """Ours: a typed error, and nothing is written."""
    with pytest.raises(InvalidArgumentError):
        cache_db.json.set("d", value)
    with pytest.raises(InvalidArgumentError):
        cache_db.json.set_many([("d", value)])
    assert not cache_db.json.exists("d")


class Color(StrEnum):
    """Text that is an enumeration."""

    RED = "red"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (Color.RED, "red"),
        (OrderedDict(a=[Color.RED]), {"a": ["red"]}),
        (Counter("aa"), {"a": 2}),
        ((1, (2,)), [1, [2]]),
        ({1: 1, None: 2, False: 3, 1.5: 4}, {"1": 1, "null": 2, "false": 3, "1.5": 4}),
        ({Color.RED: 1}, {"red": 1}),
    ],
)
def test_values_may_be_more_than_plain(cache_db: Strata, value: list[object], stored: object) -> None:
    """Spec: whatever json.dumps writes is a value, alone and in a batch."""
    cache_db.json.set("d", value)
    cache_db.json.set_many({"e": value})
    assert cache_db.json.get_many(["d", "e"]) == [stored, stored]


def test_names_must_be_text(cache_db: Strata) -> None:
    """Spec: ids and paths of another type are refused."""
    json = cache_db.json
    for call in (
        lambda: json.set(3, 1),  # type: ignore[call-overload]
        lambda: json.set("d", 3, 1),  # type: ignore[call-overload]
        lambda: json.get(b"d"),  # type: ignore[arg-type]
        lambda: json.get("d", None),  # type: ignore[arg-type]
        lambda: json.delete(3),  # type: ignore[arg-type]
        lambda: json.history(3),  # type: ignore[arg-type]
        lambda: json.keys(3),  # type: ignore[arg-type]
        lambda: json.keys(cursor=b"d"),
        lambda: json.scan(3),  # type: ignore[arg-type]
        lambda: json.create_index("i", "a", index_type="nonsense"),
    ):
        with refused(COMMAND):
            call()
    with pytest.raises(InvalidArgumentError):
        json.get("\ud800")


def test_places_and_documents_can_be_deleted(cache_db: Strata) -> None:
    """Spec: a path deletes one place, the root the document; absent is a no-op."""
    cache_db.json.set("d", {"a": [1, 2], "b": 1})
    cache_db.json.delete("d", "$.a[0]")
    assert cache_db.json.get("d") == {"a": [2], "b": 1}
    assert cache_db.json.delete("d", "$.nothing").commit is None
    assert cache_db.json.delete("d").effect.kind == "deleted"
    assert cache_db.json.delete("d").commit is None
    history = cache_db.json.history("d")
    assert history is not None
    assert [item.tombstone for item in history] == [True, False, False]
    assert cache_db.json.history("absent") is None


def test_the_past_can_be_read_by_number_and_by_time(cache_db: Strata) -> None:
    """Spec: both clocks on reads, counts, listings and batches."""
    first = cache_db.json.set("d", {"a": 1}).commit
    cache_db.json.set("d", {"a": 2})
    cache_db.json.set("e", {"a": 2})
    assert first is not None
    for clock in ({"as_of": first.version}, {"as_of_time": first.committed_at}):
        assert cache_db.json.get("d", "$.a", **clock) == 1
        assert cache_db.json.count(**clock) == 1
        assert cache_db.json.keys(**clock).all() == ["d"]
        assert cache_db.json.get_many(["d", "e"], **clock) == [{"a": 1}, None]
        assert not cache_db.json.exists("e", **clock)
        assert cache_db.json.query({"a": 1}, **clock)[0].key == "d"
    with refused("invalid_argument.sdk.as_of_kind"):
        cache_db.json.get("d", as_of="1")  # type: ignore[arg-type]  # that is the point
    with refused("invalid_argument.executor.as_of_conflict"):
        cache_db.json.get("d", as_of=1, as_of_time=1)


@pytest.mark.parametrize(
    "entries",
    [
        {"a": 1, "b": {"x": 2}},
        [("a", 1), ("b", "$", {"x": 2})],
        [{"key": "a", "value": 1}, {"key": "b", "path": "$.x", "value": 2}],
    ],
)
def test_batches_take_several_forms(cache_db: Strata, entries: dict[str, int]) -> None:
    """Spec: a dict, tuples of two or three, or dicts; one commit."""
    result = cache_db.json.set_many(entries)
    assert (result.status, len(result)) == ("ok", 2)
    assert result.commit is not None
    assert cache_db.json.get_many(["a", ("b", "$.x"), ["b"], {"key": "b", "path": "x"}, "absent", ""]) == [
        1,
        2,
        {"x": 2},
        2,
        None,
        None,
    ]
    assert cache_db.json.exists_many(["a", "absent"]) == [True, False]
    assert cache_db.json.delete_many(["a", ("b", "$.x")]).applied
    assert cache_db.json.get_many(["a", "b"]) == [None, {}]


def test_malformed_batches_are_refused_whole(cache_db: Strata) -> None:
    """Ours: typed errors instead of the peer's bare ones."""
    for entries in ([("a",)], ["a"], [3], [{"key": "a"}], [{"value": 1}], [("a", "$", 1, 2)], 3, "ab"):
        with refused(ENTRY):
            cache_db.json.set_many(entries)  # type: ignore[arg-type]  # that is the point
    for targets in ([3], [()], [("a", "$", "b")], [{"path": "$"}], "ab", 3):
        with refused(ENTRY):
            cache_db.json.get_many(targets)  # type: ignore[arg-type]  # that is the point
        with refused(ENTRY):
            cache_db.json.delete_many(targets)  # type: ignore[arg-type]  # that is the point
    with refused(COMMAND):
        cache_db.json.set_many([{"key": "a", "path": None, "value": 1}])
    assert cache_db.json.count() == 0


def test_listings_are_pages(cache_db: Strata) -> None:
    """Spec: ids in byte order, page by page or one page with a cursor."""
    names = [f"d{number:03}" for number in range(300)]
    cache_db.json.set_many(dict.fromkeys(names, 1))
    assert cache_db.json.keys().all() == names
    assert list(cache_db.json.iter_keys("d29")) == names[290:]
    page = cache_db.json.keys(limit=2)
    assert (page.items, page.has_more) == (names[:2], True)
    assert cache_db.json.keys(limit=1, cursor=page.cursor).items == names[2:3]
    assert [row.key for row in cache_db.json.iter_rows()] == names
    rows = cache_db.json.scan("d100", limit=2)
    assert [row.value for row in rows] == [1, 1]
    assert [row.key for row in cache_db.json.scan(limit=1, cursor=rows.cursor)] == ["d102"]
    assert cache_db.json.sample(count=3).total_count == 300
    with refused("invalid_argument.sdk.limit"):
        cache_db.json.keys(limit=0)


def test_queries_filter_order_and_project(cache_db: Strata) -> None:
    """Ours: documents by content, a page at a time."""
    cache_db.json.set_many({"a": {"n": 3, "t": "x"}, "b": {"n": 1, "t": "x"}, "c": {"n": 2, "t": "y"}})
    assert [row.key for row in cache_db.json.query()] == ["a", "b", "c"]
    assert [row.key for row in cache_db.json.query({"t": "x"}, order="n")] == ["b", "a"]
    assert [row.key for row in cache_db.json.query(order="-n", limit=1, offset=1)] == ["c"]
    assert cache_db.json.query({"t": "y"}, projection=["n"])[0].value == {"n": 2}
    with refused("invalid_argument.sdk.limit"):
        cache_db.json.query(limit=0)
    for wrong in ({"offset": -1}, {"filter": "t = x"}, {"order": 3}, {"projection": b"n"}, {"order": [3]}):
        with refused(COMMAND):
            cache_db.json.query(**wrong)


def test_indexes_can_be_declared(cache_db: Strata) -> None:
    """Spec: create, list, drop; the default type is tag."""
    definition = cache_db.json.create_index("i", "$.a")
    assert (definition.name, definition.field_path, definition.index_type) == ("i", "a", "tag")
    assert cache_db.json.list_indexes() == [definition]
    assert cache_db.json.drop_index("i") is True
    assert cache_db.json.drop_index("i") is False


def test_writes_can_demand_a_version(cache_db: Strata) -> None:
    """Ours: compare-and-set by version, 0 for absent."""
    receipt = cache_db.json.set("d", {"a": 1}, if_version=0).commit
    assert receipt is not None
    cache_db.json.set("d", "$.a", 2, if_version=receipt.version)
    with pytest.raises(ConflictError):
        cache_db.json.set("d", "$.a", 3, if_version=receipt.version)
    with pytest.raises(ConflictError):
        cache_db.json.delete("d", if_version=receipt.version)
    assert cache_db.json.get("d") == {"a": 2}
