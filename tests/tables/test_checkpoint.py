"""Moving commits from the journal into tables that anyone can open."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path

import pytest
from tests.tables.support import (
    FIRST,
    KV,
    NO_LIMIT,
    PLENTY,
    START_US,
    branch_row,
    checkpoint,
    commit,
    everything,
    files_below,
    journal_timestamps,
    open_journal,
    put,
    write_commits,
)

from strata_mcp.errors import StrataError
from strata_mcp.journal.io import OsIo
from strata_mcp.model import Commit, Family
from strata_mcp.tables import checkpoint as checkpoint_module
from strata_mcp.tables.checkpoint import chunks
from strata_mcp.tables.files import checkpoint_lock
from strata_mcp.tables.state import STATE_NAME, read_state
from strata_mcp.tables.tableset import TableSet

EXPIRY_US = START_US + 3_600_000_000


def some_commits() -> list[Commit]:
    """A commit of every kind: branches, spaces, values, documents, deletions."""
    uid = FIRST
    return [
        commit(uid, [branch_row(uid, "feature"), (int(Family.SPACE), "", b"default", b"", 0)], uid, last=uid + 2),
        commit(
            uid + 3, [put(b"k", b"one", extra=EXPIRY_US), put(b"\xff\x00", b"\x00\xff")], author="ann", message="first"
        ),
        commit(uid + 4, [put(b"k", None), (int(Family.JSON), "docs", b"d", b'{"a": 1}', 3)], uid),
    ]


def test_lancedb_reads_what_was_checkpointed(db_path: Path) -> None:
    """Ours: the tables are an ordinary LanceDB database with typed columns."""
    import lancedb

    write_commits(db_path, some_commits())
    checkpoint(db_path)
    database = lancedb.connect(db_path / "tables")
    kv = sorted(database.open_table("kv").to_arrow().to_pylist(), key=lambda row: (row["key"], row["ts"]))
    common = {"space": "default", "ts": FIRST + 3, "deleted": False}
    default, feature = {"branch": "default", "branch_uid": 0}, {"branch": "feature", "branch_uid": FIRST}
    instant = dt.datetime.fromtimestamp(EXPIRY_US // 10**6, dt.UTC) + dt.timedelta(microseconds=EXPIRY_US % 10**6)
    assert kv == [
        {**default, **common, "key": b"k", "value": b"one", "expires_at": instant},
        {**feature, **common, "key": b"k", "ts": FIRST + 4, "deleted": True, "value": None, "expires_at": None},
        {**default, **common, "key": b"\xff\x00", "value": b"\x00\xff", "expires_at": None},
    ]
    documents = database.open_table("json").to_arrow().to_pylist()
    assert documents == [
        {
            **feature,
            "space": "docs",
            "key": "d",
            "ts": FIRST + 4,
            "deleted": False,
            "document": '{"a": 1}',
            "document_version": 3,
        }
    ]


def test_pandas_reads_what_was_checkpointed(db_path: Path) -> None:
    """Ours: a data frame of the catalogue shows each family's rows, global ones without a branch."""
    import lance

    write_commits(db_path, some_commits())
    checkpoint(db_path)
    frame = lance.dataset(db_path / "tables" / "catalog.lance").to_table().to_pandas()
    rows = {row.family: row for row in frame.itertuples()}
    assert (rows["branch"].branch, rows["branch"].branch_uid, rows["branch"].key) == ("", -1, "feature")
    assert json.loads(rows["branch"].value)["name"] == "feature"
    assert (rows["space"].branch, rows["space"].branch_uid, rows["space"].value) == ("feature", FIRST, "")


def test_duckdb_reads_what_was_checkpointed(db_path: Path) -> None:
    """Ours: SQL over the commits shows numbers, authors and counts."""
    import duckdb
    import lance

    write_commits(db_path, some_commits())
    checkpoint(db_path)
    commits = lance.dataset(db_path / "tables" / "commits.lance").to_table()
    with duckdb.connect() as connection:
        connection.register("commits", commits)
        query = (
            "select ts, last, branch, author, message, puts, deletes, epoch_us(committed_at) from commits order by ts"
        )
        found = connection.execute(query).fetchall()
    assert found == [
        (FIRST, FIRST + 2, "feature", "", "", 2, 0, START_US + FIRST * 1000),
        (FIRST + 3, FIRST + 3, "default", "ann", "first", 2, 0, START_US + (FIRST + 3) * 1000),
        (FIRST + 4, FIRST + 4, "feature", "", "", 1, 1, START_US + (FIRST + 4) * 1000),
    ]


def test_a_checkpoint_says_what_it_did_and_drops_the_journal(db_path: Path) -> None:
    """Ours: afterwards the journal has nothing to replay and the set knows where it ends."""
    write_commits(db_path, some_commits())
    outcome = checkpoint(db_path)
    assert (outcome.status, outcome.commits, outcome.rows) == ("done", 3, 6)
    assert (outcome.checkpoint_ts, outcome.head) == (FIRST + 4, FIRST + 4)
    assert sorted(outcome.tables) == ["catalog", "commits", "json", "kv"]
    assert journal_timestamps(db_path) == []
    journal = open_journal(db_path, start_after=outcome.head)
    assert journal.size_bytes() == 0
    journal.close()
    tables = TableSet.open(db_path, PLENTY)
    assert (tables.checkpoint_ts, tables.head) == (FIRST + 4, FIRST + 4)
    assert tables.committed_at_us == START_US + (FIRST + 4) * 1000


def test_a_checkpoint_of_nothing_changes_nothing(db_path: Path) -> None:
    """Ours: without new commits no file is touched."""
    write_commits(db_path, some_commits())
    checkpoint(db_path)
    before = {path: path.stat().st_mtime_ns for path in files_below(db_path / "tables")}
    outcome = checkpoint(db_path)
    assert (outcome.status, outcome.commits, outcome.tables) == ("nothing", 0, [])
    assert {path: path.stat().st_mtime_ns for path in files_below(db_path / "tables")} == before


def test_the_head_covers_every_number_a_commit_occupies(db_path: Path) -> None:
    """Ours: after a commit that took a range of numbers, the range is not used again."""
    write_commits(db_path, [commit(FIRST, [branch_row(FIRST, "b")], FIRST, last=FIRST + 4)])
    checkpoint(db_path)
    tables = TableSet.open(db_path, PLENTY)
    assert (tables.checkpoint_ts, tables.head) == (FIRST, FIRST + 4)
    write_commits(db_path, [commit(FIRST + 5, [put(b"k", b"v")])])
    assert checkpoint(db_path).commits == 1


def test_rows_name_branches_checkpointed_long_ago(db_path: Path) -> None:
    """Ours: the name of a branch is known from its catalogue row, also when that was checkpointed before."""
    import lance

    write_commits(db_path, [commit(FIRST, [branch_row(FIRST, "old")], FIRST)])
    checkpoint(db_path)
    write_commits(db_path, [commit(FIRST + 1, [put(b"k", b"v")], FIRST)])
    checkpoint(db_path)
    assert lance.dataset(db_path / "tables" / "kv.lance").to_table()["branch"].to_pylist() == ["old"]


def test_versions_and_files_do_not_pile_up(db_path: Path) -> None:
    """Ours: each checkpoint sweeps what only states before the previous one needed."""
    counts = []
    for n in range(6):
        write_commits(db_path, [commit(FIRST + n, [put(b"k", b"%d" % n)])])
        checkpoint(db_path)
        counts.append(len(list((db_path / "tables" / "kv.lance" / "_versions").glob("*.manifest"))))
    assert counts == [1, 2, 2, 2, 2, 2]
    assert everything(db_path) == {b"k": [(FIRST + n, b"%d" % n) for n in range(6)]}


def test_a_set_shows_what_was_checkpointed_when_it_was_opened(db_path: Path) -> None:
    """Ours: later checkpoints do not show up in a set, whenever it loads a table."""
    write_commits(db_path, [commit(FIRST, [put(b"k", b"old")])])
    checkpoint(db_path)
    tables = TableSet.open(db_path, PLENTY)
    for n in range(1, 4):
        write_commits(db_path, [commit(FIRST + n, [put(b"k", b"new"), put(b"new", b"new")])])
        checkpoint(db_path)
    base = tables.base(KV)
    assert base.rows == 1
    assert base.newest("default", b"k", 0, NO_LIMIT) == (FIRST, b"old", 0)
    assert tables.timeline().rows == 1


def test_another_process_at_it_makes_a_checkpoint_give_way(db_path: Path) -> None:
    """Ours: a second checkpoint at the same time reports busy and does nothing."""
    write_commits(db_path, some_commits())
    checkpoint(db_path)
    write_commits(db_path, [commit(FIRST + 5, [put(b"k", b"v")])])
    with checkpoint_lock(db_path, OsIo()) as is_ours:
        assert is_ours
        assert checkpoint(db_path).status == "busy"
    assert journal_timestamps(db_path) == [FIRST + 5]


def test_a_long_journal_is_cut_into_chunks(db_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: chunks hold whole commits, and each is recorded before the next is written."""
    commits = [commit(FIRST + n, [put(b"%d" % n, b"x" * 100), put(b"same", b"%d" % n)]) for n in range(10)]
    monkeypatch.setattr(checkpoint_module, "CHUNK_ROWS_MAX", 6)
    assert [len(chunk) for chunk in chunks(commits)] == [3, 3, 3, 1]
    write_commits(db_path, commits)
    outcome = checkpoint(db_path)
    assert (outcome.commits, outcome.rows, outcome.fragments) == (10, 20, 4)
    assert read_state(db_path).generation == 4
    assert everything(db_path)[b"same"] == [(FIRST + n, b"%d" % n) for n in range(10)]


def test_chunks_are_bounded_by_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: large values make a chunk small; a commit larger than a chunk is one on its own."""
    commits = [commit(FIRST + n, [put(b"k", b"x" * size)]) for n, size in enumerate([10, 10, 10, 500, 10])]
    monkeypatch.setattr(checkpoint_module, "CHUNK_BYTES_MAX", 30)
    assert [[each.timestamp - FIRST for each in chunk] for chunk in chunks(commits)] == [[0, 1], [2], [3], [4]]


def test_rows_of_an_unknown_family_are_refused(db_path: Path) -> None:
    """Ours: a journal with rows of a newer build is left alone, not half understood."""
    write_commits(db_path, [commit(FIRST, [put(b"k", b"v"), (63, "default", b"k", b"v", 0)])])
    with pytest.raises(StrataError) as caught:
        checkpoint(db_path)
    assert caught.value.code == "failed_precondition.engine.storage_registry"
    assert journal_timestamps(db_path) == [FIRST]


def test_a_record_of_a_newer_build_is_refused(db_path: Path) -> None:
    """Ours: a record of checkpoints in a later format is not touched."""
    from strata_mcp.tables.state import digest_of

    (db_path / "tables").mkdir(parents=True)
    body = b'{"format":99,"surprise":true}'
    (db_path / "tables" / STATE_NAME).write_bytes(body + b"\n" + digest_of(body).encode() + b"\n")
    with pytest.raises(StrataError) as caught:
        TableSet.open(db_path, PLENTY)
    assert caught.value.code == "failed_precondition.engine.format_version"


def test_a_journal_that_starts_after_the_tables_end_is_damage(db_path: Path) -> None:
    """Ours: when the record of checkpoints was lost or rolled back, nothing pretends to be complete."""
    for n in range(2):
        write_commits(db_path, [commit(FIRST + n, [put(b"k", b"v")])])
        checkpoint(db_path)
    os.unlink(db_path / "tables" / STATE_NAME)
    with pytest.raises(StrataError) as caught:
        checkpoint(db_path)
    assert caught.value.code == "data_loss.engine.table"
