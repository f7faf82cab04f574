"""Definitions of indexes, and what writes count for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.primitives.support import HOME, refused

from strata_mcp.engine import Engine
from strata_mcp.results.documents import JsonIndexDefinition, JsonIndexType


def counts(engine: Engine, path: str, value: Any) -> tuple[int, int]:
    """(puts, deletes) of setting one place of document d."""
    commit = engine.json.set(*HOME, "d", path, value).commit
    assert commit is not None
    return commit.put_count, commit.delete_count


def names(engine: Engine, branch: str = "default", space: str = "default") -> list[str]:
    """Names of the indexes there."""
    return [each.name for each in engine.json.list_indexes(branch, space).items]


@pytest.mark.parametrize(
    ("given", "stored"), [("$.a", "a"), ('$["x y"]', '["x y"]'), ("$", "$"), ('a["b"][0]', "a.b[0]"), ("", "$")]
)
def test_definitions_store_one_spelling(engine: Engine, given: str, stored: str) -> None:
    """Spec: field_path is normalised; the version is the commit's."""
    made = engine.json.create_index(*HOME, "i", given, "tag")
    head = engine.store.journal.head
    assert made == JsonIndexDefinition(head, head, stored, JsonIndexType.TAG, "i", "default")
    assert engine.json.list_indexes(*HOME).items == [made]


def test_names_are_unique_and_come_by_length(engine: Engine) -> None:
    """Spec: duplicates are refused, the list is ordered by length and bytes, dropping tells."""
    for name in ("bb", "c", "é", "aaa", "b"):
        engine.json.create_index(*HOME, name, "x", "tag")
    assert names(engine) == ["b", "c", "bb", "é", "aaa"]
    with refused("already_exists.engine.json_index"):
        engine.json.create_index(*HOME, "c", "y", "text")
    assert engine.json.drop_index(*HOME, "c")
    assert not engine.json.drop_index(*HOME, "c")
    engine.json.create_index(*HOME, "c", "y", "text")


@pytest.mark.parametrize(
    ("name", "path", "index_type", "code"),
    [
        ("", "a", "tag", "json_index_name"),
        ("x" * 257, "a", "tag", "json_index_name"),
        ("a\nb", "a", "tag", "json_index_name"),
        ("a\0b", "a", "tag", "json_index_name"),
        ("\ud800", "a", "tag", "json_index_name"),
        ("_own", "a", "tag", "json_index_name_reserved"),
        ("i", "bad[", "tag", "json_path"),
        ("i", "\ud800", "tag", "json_path"),
        ("i", "a", "nonsense", "json_index"),
    ],
)
def test_definitions_have_rules(engine: Engine, name: str, path: str, index_type: str, code: str) -> None:
    """Spec: names of 1 to 256 bytes, sound paths, three types; all typed errors."""
    with refused(f"invalid_argument.engine.{code}"):
        engine.json.create_index(*HOME, name, path, index_type)
    assert names(engine) == []


def test_receipts_count_index_entries(engine: Engine) -> None:
    """Brief: one more put or delete per entry that changed."""
    engine.json.create_index(*HOME, "n", "a", "numeric")
    engine.json.create_index(*HOME, "t", "b", "text")
    assert counts(engine, "$", {"a": 1, "b": "x"}) == (3, 0)
    assert counts(engine, "a", 2) == (2, 1)
    assert counts(engine, "a", 2) == (1, 0)
    assert counts(engine, "a", "text") == (1, 1)
    assert counts(engine, "c", 1) == (1, 0)
    gone = engine.json.delete(*HOME, "d", "$").commit
    assert gone is not None
    assert (gone.put_count, gone.delete_count) == (0, 2)
    batch = engine.json.batch_set(*HOME, [("d", "$", {"a": 1}), ("e", "$", {"a": 1, "b": "x"})]).commit
    assert batch is not None
    assert (batch.put_count, batch.delete_count) == (5, 0)
    removed = engine.json.batch_delete(*HOME, [("d", "a"), ("e", "$")]).commit
    assert removed is not None
    assert (removed.put_count, removed.delete_count) == (1, 4)


def test_definitions_belong_to_a_branch_and_a_space(engine: Engine) -> None:
    """Brief: a definition is a row of its branch: it forks, and goes with its space."""
    engine.json.create_index("default", "notes", "i", "a", "tag")
    engine.branches.fork("default", "fork")
    assert engine.json.drop_index("default", "notes", "i")
    assert (names(engine, "default", "notes"), names(engine, "fork", "notes"), names(engine)) == ([], ["i"], [])
    engine.spaces.delete("fork", "notes", force=True)
    assert names(engine, "fork", "notes") == []


def test_indexes_wait_for_the_end_of_a_transaction(engine: Engine) -> None:
    """Design: definitions are commits of their own."""
    with engine.store.transaction("default"), refused("failed_precondition.engine.transaction_open"):
        engine.json.create_index(*HOME, "i", "a", "tag")


def test_another_handle_sees_index_and_documents(db_path: Path) -> None:
    """Issue: two handles of one database; what one writes, the other's indexed query finds, checkpoints or not."""
    writer, reader = Engine.open(db_path), Engine.open(db_path)
    try:
        writer.json.create_index(*HOME, "i", "a", "tag")
        for number in range(4):
            writer.json.set(*HOME, f"d{number}", "$", {"a": number % 2})
            found = reader.json.query(*HOME, filter={"a": number % 2})
            assert (found.index, found.items[-1].key) == ("i", f"d{number}")
            if number == 1:
                writer.checkpoint()
        assert found.examined == 2
    finally:
        reader.close()
        writer.close()
    with_tables = Engine.open(db_path)
    try:
        found = with_tables.json.query(*HOME, filter={"a": 1})
        assert (found.index, [row.key for row in found.items]) == ("i", ["d1", "d3"])
    finally:
        with_tables.close()
