"""What receipts count for indexes, and what a batch refuses: the peer's answers, observed by running it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.primitives.support import HOME, refused

from strata_mcp.engine import Engine
from strata_mcp.results.common import CommitReceipt

REPEATED = "invalid_argument.executor.json_batch_duplicate_key"
UNCHANGED, CHANGED = (1, 0), (2, 1)


def counts(commit: CommitReceipt | None) -> tuple[int, int]:
    """(puts, deletes) of a commit that was made."""
    assert commit is not None
    return commit.put_count, commit.delete_count


def rewritten(engine: Engine, index_type: str, before: Any, after: Any) -> tuple[int, int]:
    """Counts of changing an indexed field from one value to another."""
    engine.json.create_index(*HOME, "i", "f", index_type)
    engine.json.set(*HOME, "d", "$", {"f": before})
    return counts(engine.json.set(*HOME, "d", "f", after).commit)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, 1.0, UNCHANGED),
        (2**53, 2**53 + 1, UNCHANGED),
        (2**64 - 1, 2.0**64, UNCHANGED),
        (2**53, 2**53 + 2, CHANGED),
        (0, 0.0, UNCHANGED),
        (0, -0.0, CHANGED),
        (5e-324, 0.0, CHANGED),
        (1, True, (1, 1)),
        ("1", 1, (2, 0)),
        ([1], {"a": 1}, UNCHANGED),
    ],
)
def test_numeric_entries_are_floats(engine: Engine, before: Any, after: Any, expected: tuple[int, int]) -> None:
    """Peer: numbers that are one float are one entry, the sign of zero counts, nothing else has an entry."""
    assert rewritten(engine, "numeric", before, after) == expected


@pytest.mark.parametrize("index_type", ["tag", "text"])
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A", "a", UNCHANGED),
        ("É", "é", UNCHANGED),
        ("ΑΣ", "ας", UNCHANGED),
        ("ß", "ss", CHANGED),
        ("é", "e\u0301", CHANGED),
        ("a ", "a", CHANGED),
        ("", "\0", CHANGED),
        ("a", 1, (1, 1)),
        (1, True, UNCHANGED),
        (None, "", (2, 0)),
    ],
)
def test_other_entries_are_lower_case_texts(
    engine: Engine, index_type: str, before: Any, after: Any, expected: tuple[int, int]
) -> None:
    """Peer: texts that differ by case only are one entry; numbers, booleans and null have none."""
    assert rewritten(engine, index_type, before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a" * 127 + "X", "a" * 127 + "Y", CHANGED),
        ("a" * 128 + "X", "a" * 128 + "Y", UNCHANGED),
        ("日" * 42 + "X", "日" * 42 + "Y", CHANGED),
        ("a" * 126 + "日", "a" * 126 + "本", UNCHANGED),
    ],
)
def test_text_entries_are_128_bytes_of_whole_characters(
    engine: Engine, before: str, after: str, expected: tuple[int, int]
) -> None:
    """Peer: a text index keeps the beginning; a character that does not fit whole is left out."""
    assert rewritten(engine, "text", before, after) == expected


def test_tag_entries_are_whole(engine: Engine) -> None:
    """Peer: a tag index keeps all of a text."""
    assert rewritten(engine, "tag", "a" * 5000 + "X", "a" * 5000 + "Y") == CHANGED


def test_folded_entries_do_not_blur_queries(engine: Engine) -> None:
    """Ours: what receipts count as one entry, queries still tell apart."""
    for name, index_type in (("t", "tag"), ("x", "text"), ("n", "numeric")):
        engine.json.create_index(*HOME, name, name, index_type)
    long = "a" * 200
    engine.json.set(*HOME, "d", "$", {"t": "A", "x": long + "X", "n": 2**53})
    engine.json.set(*HOME, "e", "$", {"t": "a", "x": long + "Y", "n": 2**53 + 1})
    for path, value in (("t", "A"), ("x", long + "X"), ("n", 2**53)):
        found = engine.json.query(*HOME, filter={path: value})
        assert ([row.key for row in found.items], found.index, found.examined) == (["d"], path, 1)


@pytest.mark.parametrize(
    ("stored", "entries", "expected"),
    [
        (None, [("$", {"n": 1}), ("n", 2)], (2, 0)),
        ({"n": 1}, [("$", {}), ("n", 1)], (1, 0)),
        ({"n": 1}, [("$", {}), ("n", 2)], (2, 1)),
        ({}, [("n", 1), ("$", {})], (1, 0)),
        ({"n": 1}, [("n", 1)], (1, 0)),
    ],
)
def test_a_batch_counts_what_it_leaves_behind(
    engine: Engine, stored: Any, entries: list[tuple[str, Any]], expected: tuple[int, int]
) -> None:
    """Peer: entries that come and go inside one batch are not counted."""
    engine.json.create_index(*HOME, "i", "n", "numeric")
    if stored is not None:
        engine.json.set(*HOME, "d", "$", stored)
    batch = engine.json.batch_set(*HOME, [("d", path, value) for path, value in entries])
    assert counts(batch.commit) == expected


def test_a_batch_of_deletes_counts_each_entry_once(engine: Engine) -> None:
    """Peer: a field and then its whole document are two entries and one row."""
    for name, index_type in (("n", "numeric"), ("t", "tag")):
        engine.json.create_index(*HOME, name, name, index_type)
    engine.json.set(*HOME, "d", "$", {"n": 1, "t": "a"})
    assert counts(engine.json.batch_delete(*HOME, [("d", "n"), ("d", "$")]).commit) == (0, 3)


@pytest.mark.parametrize(
    "entries",
    [
        [("d", "a", 1), ("d", "a", 1)],
        [("d", "$", 1), ("e", "$", 1), ("d", "$", 2)],
        [("", "$", 1), ("d", "$", 1), ("d", "$", 2)],
        [("old", "a.x", 1), ("d", "$", 1), ("d", "$", 1)],
    ],
)
def test_a_repeated_place_fails_the_batch(engine: Engine, entries: list[tuple[str, str, Any]]) -> None:
    """Peer: before anything else is looked at, and nothing is written."""
    engine.json.set(*HOME, "old", "$", {"a": 1})
    head = engine.store.journal.head
    with refused(REPEATED):
        engine.json.batch_set(*HOME, entries)
    assert engine.json.list(*HOME).items == ["old"]
    assert engine.store.journal.head == head


@pytest.mark.parametrize(("first", "second"), [("a", "$.a"), ("a", '["a"]'), ("$", "")])
def test_places_repeat_by_their_spelling(engine: Engine, first: str, second: str) -> None:
    """Peer: one place spelled in two ways is set twice, in order."""
    batch = engine.json.batch_set(*HOME, [("d", first, 1), ("d", second, 2)])
    assert [item.result.document_version for item in batch] == [1, 2]
    found = engine.json.get(*HOME, "d", first)
    assert found is not None
    assert found.value == 2


def test_malformed_entries_may_repeat(engine: Engine) -> None:
    """Peer: each is an error of its own, the others are written."""
    malformed = [("d", "bad[", 1), ("", "$", 1)]
    batch = engine.json.batch_set(*HOME, [*malformed, *malformed, ("e", "$", 1)])
    assert [item.status for item in batch] == ["error"] * 4 + ["ok"]
    assert engine.json.list(*HOME).items == ["e"]
