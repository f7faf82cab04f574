"""`db.kv`: what goes in, what comes out, what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.sdk.refusals import refused

from stratadb import Strata
from stratadb.errors import ConflictError, InvalidArgumentError

COMMAND = "invalid_argument.sdk.command"
ENTRY = "invalid_argument.sdk.entry"


class Name(str):
    """A subclass of text, as string enumerations are."""

    __slots__ = ()


@pytest.mark.parametrize("key", ["k", b"k", bytearray(b"k"), memoryview(b"k"), Name("k")])
def test_text_and_bytes_name_the_same_key(cache_db: Strata, key: str | bytes) -> None:
    """Spec: text is UTF-8, bytes are themselves; ours: any buffer and any kind of text."""
    written = cache_db.kv.put(key, "v")
    assert (written.key, written.effect.kind) == (b"k", "created")
    assert cache_db.kv.get(key) == b"v"
    assert cache_db.kv.exists(key)
    assert cache_db.kv.get("absent") is None


@pytest.mark.parametrize("value", ["", b"", b"\x00\xff", "é"])
def test_values_come_back_as_bytes(cache_db: Strata, value: str | bytes) -> None:
    """Spec: a value may be empty and is returned as bytes."""
    cache_db.kv.put("k", value)
    assert cache_db.kv.get("k") == (value.encode() if isinstance(value, str) else value)


@pytest.mark.parametrize("wrong", [3, None, 1.5, ["k"]])
def test_other_types_are_refused(cache_db: Strata, wrong: str) -> None:
    """Spec: a key or value of another type is a typed error."""
    for call in (cache_db.kv.get, cache_db.kv.delete, cache_db.kv.history, lambda key: cache_db.kv.put(key, "v")):
        with refused(COMMAND):
            call(wrong)
    with refused(COMMAND):
        cache_db.kv.put("k", wrong)
    assert cache_db.kv.count() == 0


def test_half_a_surrogate_pair_is_refused(cache_db: Strata) -> None:
    """Ours: a typed error instead of the peer's bare UnicodeEncodeError, naming the argument."""
    for call, field in (
        (lambda: cache_db.kv.get("a\ud800"), "key"),
        (lambda: cache_db.kv.put("a\ud800", "v"), "key"),
        (lambda: cache_db.kv.put("k", "a\ud800"), "value"),
        (lambda: cache_db.kv.put("\ud800", "\ud800"), "key"),
        (lambda: cache_db.kv.keys("\ud800"), "prefix"),
    ):
        with pytest.raises(InvalidArgumentError, match=field):
            call()


def test_entries_carry_their_version(cache_db: Strata) -> None:
    """Spec: get_entry gives the value with the commit that wrote it."""
    receipt = cache_db.kv.put("k", "v").commit
    entry = cache_db.kv.get_entry("k")
    assert receipt is not None
    assert entry is not None
    assert (entry.value, entry.version, entry.timestamp) == (b"v", receipt.version, receipt.timestamp)
    assert cache_db.kv.get_entry("absent") is None


def test_the_past_can_be_read_by_number_and_by_time(cache_db: Strata) -> None:
    """Spec: both clocks, on reads, counts and listings; ours: on exists and get_many too."""
    first = cache_db.kv.put("k", "1").commit
    cache_db.kv.put("k", "2")
    cache_db.kv.put("l", "2")
    assert first is not None
    for clock in ({"as_of": first.version}, {"as_of_time": first.committed_at}):
        assert cache_db.kv.get("k", **clock) == b"1"
        assert cache_db.kv.count(**clock) == 1
        assert cache_db.kv.keys(**clock).all() == [b"k"]
        assert list(cache_db.kv.iter_keys(**clock)) == [b"k"]
        assert not cache_db.kv.exists("l", **clock)
        assert cache_db.kv.get_many(["k", "l", ""], **clock) == [b"1", None, None]


@pytest.mark.parametrize(
    ("clock", "code"),
    [
        ({"as_of": True}, "invalid_argument.sdk.as_of_kind"),
        ({"as_of": "3"}, "invalid_argument.sdk.as_of_kind"),
        ({"as_of": 3.0}, "invalid_argument.sdk.as_of_kind"),
        ({"as_of": -1}, COMMAND),
        ({"as_of": 2**64}, "invalid_argument.executor.json_number"),
        ({"as_of_time": True}, "invalid_argument.sdk.as_of_time"),
        ({"as_of_time": 3.5}, "invalid_argument.sdk.as_of_time"),
        ({"as_of_time": "yesterday"}, "invalid_argument.sdk.as_of_time"),
        ({"as_of": 3, "as_of_time": 3}, "invalid_argument.executor.as_of_conflict"),
        ({"as_of": 0}, "history_unavailable.engine.persistence_history"),
    ],
)
def test_wrong_clocks_are_refused(cache_db: Strata, clock: dict[str, int], code: str) -> None:
    """Spec: the code tells what is wrong with the moment."""
    for call in (cache_db.kv.get, cache_db.kv.get_entry, cache_db.kv.keys, cache_db.kv.count):
        with refused(code):
            call("k", **clock)


def test_listings_are_pages(cache_db: Strata) -> None:
    """Spec: without a limit everything, page by page; with one a page and a cursor."""
    names = [f"{number:04}".encode() for number in range(600)]
    cache_db.kv.put_many(dict.fromkeys(names, b"v"))
    page = cache_db.kv.keys()
    assert len(page) == 256
    assert page.all() == names
    assert list(cache_db.kv.iter_keys("03")) == names[300:400]
    two = cache_db.kv.keys("03", limit=2)
    assert (two.items, two.has_more) == (names[300:302], True)
    assert cache_db.kv.keys("03", limit=2, cursor=two.cursor).items == names[302:304]
    assert cache_db.kv.keys(limit=600).has_more is False
    assert [row.key for row in cache_db.kv.iter_rows("0598")] == names[598:]
    rows = cache_db.kv.scan("0300", limit=2)
    assert [row.value for row in rows] == [b"v", b"v"]
    assert [row.key for row in cache_db.kv.scan("0000", limit=1, cursor=rows.cursor)] == [names[302]]


def test_arguments_of_listings_are_checked(cache_db: Strata) -> None:
    """Spec: limits, cursors, prefixes and counts of the wrong kind."""
    for limit in (0, -1, True, "1"):
        with refused("invalid_argument.sdk.limit"):
            cache_db.kv.keys(limit=limit)  # type: ignore[arg-type]  # that is the point
        with refused("invalid_argument.sdk.limit"):
            cache_db.kv.scan(limit=limit)  # type: ignore[arg-type]  # that is the point
    for call in (
        lambda: cache_db.kv.keys(cursor=3),
        lambda: cache_db.kv.keys(3),  # type: ignore[arg-type]
        lambda: cache_db.kv.sample(count=True),
        lambda: cache_db.kv.sample(count=-1),
    ):
        with refused(COMMAND):
            call()


def test_samples_tell_the_total(cache_db: Strata) -> None:
    """Spec: up to ten rows spread over the keys; a count of zero is allowed."""
    cache_db.kv.put_many({f"{number:02}": "v" for number in range(20)})
    sample = cache_db.kv.sample()
    assert (len(sample), sample.total_count, sample[1].key) == (10, 20, b"02")
    assert cache_db.kv.sample(count=0).items == []
    assert cache_db.kv.sample("1", count=2).total_count == 10


def test_history_includes_deletions(cache_db: Strata) -> None:
    """Spec: newest first; None for a key never written."""
    cache_db.kv.put("k", "1")
    cache_db.kv.delete("k")
    history = cache_db.kv.history("k")
    assert history is not None
    assert [(item.tombstone, item.value) for item in history] == [(True, None), (False, b"1")]
    assert cache_db.kv.history("absent") is None


@pytest.mark.parametrize(
    "entries",
    [
        {"a": "1", b"b": b"2"},
        [("a", "1"), [b"b", "2"]],
        [{"key": "a", "value": "1"}, {"key": b"b", "value": "2"}],
        iter([("a", "1"), ("b", "2")]),
    ],
)
def test_batches_take_several_forms(cache_db: Strata, entries: dict[str, str]) -> None:
    """Spec: a dict, pairs, or dicts with key and value; one commit."""
    result = cache_db.kv.put_many(entries)
    assert (result.status, len(result), result[0].ok) == ("ok", 2, True)
    assert result.commit is not None
    assert result.commit.put_count == 2
    assert cache_db.kv.get_many(["a", "b", "c", ""]) == [b"1", b"2", None, None]
    assert cache_db.kv.exists_many([b"a", "c", ""]) == [True, False, False]
    assert cache_db.kv.delete_many(["a", "c"]).commit is not None
    assert cache_db.kv.count() == 1


@pytest.mark.parametrize(
    "entries", [[("a",)], ["ab"], [("a", "b", "c")], [{"key": "a"}], [{"value": "a"}], [3], 3, "ab"]
)
def test_malformed_batches_are_refused_whole(cache_db: Strata, entries: dict[str, str]) -> None:
    """Ours: a typed error instead of the peer's bare KeyError, ValueError or TypeError."""
    with refused(ENTRY):
        cache_db.kv.put_many(entries)
    with refused(COMMAND):
        cache_db.kv.put_many([("a", 3)])  # type: ignore[list-item]  # that is the point
    assert cache_db.kv.count() == 0


def test_one_bare_key_is_no_batch(cache_db: Strata) -> None:
    """Ours: a forgotten list must not delete the keys named by single letters."""
    for call in (cache_db.kv.get_many, cache_db.kv.delete_many, cache_db.kv.exists_many):
        with refused(ENTRY):
            call("abc")


def test_writes_can_demand_a_version(cache_db: Strata) -> None:
    """Ours: compare-and-set by version, 0 for absent; nothing is written otherwise."""
    receipt = cache_db.kv.put("k", "1", if_version=0).commit
    assert receipt is not None
    with pytest.raises(ConflictError):
        cache_db.kv.put("k", "2", if_version=0)
    with pytest.raises(ConflictError):
        cache_db.kv.delete("k", if_version=receipt.version + 1)
    assert cache_db.kv.get("k") == b"1"
    cache_db.kv.put("k", "2", if_version=receipt.version)
    for wrong in (-1, True, "3"):
        with refused(COMMAND):
            cache_db.kv.put("k", "3", if_version=wrong)  # type: ignore[arg-type]  # that is the point
    assert cache_db.kv.get("k") == b"2"


def test_values_can_expire(cache_db: Strata) -> None:
    """Ours: seconds or a timedelta above zero."""
    cache_db.kv.put("k", "1", expires_in=3600)
    cache_db.kv.put("l", "1", expires_in=timedelta(microseconds=1))
    assert cache_db.kv.get("k") == b"1"
    assert cache_db.kv.get("l") is None
    for wrong in (0, -1, 0.0, timedelta(0), float("nan"), float("inf"), "1", True):
        with pytest.raises(InvalidArgumentError):
            cache_db.kv.put("k", "2", expires_in=wrong)  # type: ignore[arg-type]  # that is the point
