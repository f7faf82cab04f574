"""Fewer, sorted files with the same rows in them."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from tests.tables.support import (
    FIRST,
    KV,
    NO_LIMIT,
    PLENTY,
    checkpoint,
    commit,
    everything,
    files_below,
    open_journal,
    put,
    write_commits,
)

from strata_mcp.errors import StrataError
from strata_mcp.journal.io import OsIo
from strata_mcp.model import Family
from strata_mcp.tables import compaction
from strata_mcp.tables.checkpoint import run_checkpoint
from strata_mcp.tables.compaction import FRAGMENTS_MAX, compact
from strata_mcp.tables.state import read_state, write_state
from strata_mcp.tables.tableset import MEMORY_BUDGET_BYTES_MIN, TableSet
from strata_mcp.tables.verify import verify
from strata_mcp.tables.worker import perform


def spread(db_path: Path, rng: random.Random, count: int = 5) -> None:
    """A database whose tables stand in `count` files."""
    for n in range(count):
        records = [put(b"k%02d" % key, rng.randbytes(5)) for key in rng.sample(range(30), 10)]
        space = put(b"space %d" % n, b"", family=Family.SPACE, space="")
        write_commits(db_path, [commit(FIRST + n, [*records, space], branch=n % 2)])
        checkpoint(db_path)


def test_compaction_keeps_every_row(db_path: Path, rng: random.Random) -> None:
    """Ours: each table becomes one sorted file with the same rows; what readers see does not change."""
    import lance

    spread(db_path, rng)
    before = everything(db_path), TableSet.open(db_path, PLENTY).timeline().log(0, None, 0, 100)
    outcome = compact(db_path, OsIo())
    assert (outcome.status, sorted(outcome.tables), outcome.fragments) == ("done", ["catalog", "commits", "kv"], 1)
    assert (everything(db_path), TableSet.open(db_path, PLENTY).timeline().log(0, None, 0, 100)) == before
    keys = lance.dataset(db_path / "tables" / "kv.lance").to_table()["key"].to_pylist()
    assert keys == sorted(keys)
    assert verify(db_path) == []
    assert compact(db_path, OsIo()).status == "nothing"


def test_old_files_go_when_the_next_state_is_recorded(db_path: Path, rng: random.Random) -> None:
    """Ours: files a handle may still read from stay for one more state, and no longer."""
    spread(db_path, rng)
    old = set((db_path / "tables" / "kv.lance" / "data").iterdir())
    compact(db_path, OsIo())
    assert old < set((db_path / "tables" / "kv.lance" / "data").iterdir())
    write_commits(db_path, [commit(FIRST + 9, [put(b"k", b"v")])])
    assert checkpoint(db_path).freed_bytes > 0
    assert not old & set((db_path / "tables" / "kv.lance" / "data").iterdir())


def test_unasked_compaction_waits_for_many_files(db_path: Path, rng: random.Random) -> None:
    """Ours: the worker compacts a table once it stands in more than 16 files."""
    spread(db_path, rng, FRAGMENTS_MAX)
    assert compact(db_path, OsIo(), is_forced=False).status == "nothing"
    write_commits(db_path, [commit(FIRST + FRAGMENTS_MAX, [put(b"k", b"v")])])
    assert perform(db_path, "checkpoint").fragments == FRAGMENTS_MAX + 1
    counts = {name: len(table.files) - 1 for name, table in read_state(db_path).tables.items()}
    assert counts == {"kv": 1, "catalog": FRAGMENTS_MAX, "commits": 1}


def test_rows_written_twice_become_one(db_path: Path) -> None:
    """Ours: should a repeated checkpoint have appended rows again, compaction and readers drop them."""
    first = commit(FIRST, [put(b"k", b"v"), put(b"l", b"w")])
    write_commits(db_path, [first])
    checkpoint(db_path)
    state = read_state(db_path)
    rewound = msgspec.structs.replace(state, checkpoint_ts=0, head=FIRST - 1)
    write_state(db_path, rewound, OsIo())
    journal = open_journal(db_path / "again")
    journal.acquire()
    journal.read()
    journal.append(first)
    journal.release()
    run_checkpoint(db_path, journal, OsIo())
    journal.close()
    assert read_state(db_path).tables["kv"].rows == 4
    assert TableSet.open(db_path, PLENTY).base(KV).rows == 2
    assert TableSet.open(db_path, PLENTY).timeline().rows == 1
    compact(db_path, OsIo())
    state = read_state(db_path)
    assert (state.tables["kv"].rows, state.tables["kv"].value_bytes, state.tables["commits"].rows) == (2, 2, 1)
    assert everything(db_path) == {b"k": [(FIRST, b"v")], b"l": [(FIRST, b"w")]}


def test_large_files_are_left_alone(db_path: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: only small files are rewritten, in groups of bounded size; order between files does not matter."""
    for n, size in enumerate([10, 20_000, 10, 10, 20_000]):
        write_commits(db_path, [commit(FIRST + n, [put(b"k%d" % n, rng.randbytes(size)), put(b"k", b"%d" % n)])])
        checkpoint(db_path)
    before = everything(db_path)
    large = {file.path for file in read_state(db_path).tables["kv"].files if file.size_bytes > 20_000}
    monkeypatch.setattr(compaction, "GROUP_BYTES_MAX", 30_000)
    compact(db_path, OsIo())
    after = {file.path for file in read_state(db_path).tables["kv"].files if "/data/" in file.path}
    assert len(large) == 2
    assert large < after
    assert len(after) == 3
    assert everything(db_path) == before
    write_commits(db_path, [commit(FIRST + 9, [put(b"k", b"later")])])
    checkpoint(db_path)
    assert everything(db_path)[b"k"][-1] == (FIRST + 9, b"later")


def test_a_handle_reads_on_while_tables_are_rewritten(db_path: Path, rng: random.Random) -> None:
    """Ours: values left on disk are found again after their files were replaced and deleted."""
    values = {b"%04d" % n: rng.randbytes(9_000) for n in range(400)}
    for n in range(4):
        records = [put(key, value) for key, value in values.items() if int(key) % 4 == n]
        write_commits(db_path, [commit(FIRST + n, records)])
        checkpoint(db_path)
    tables = TableSet.open(db_path, MEMORY_BUDGET_BYTES_MIN)
    base = tables.base(KV)
    for n in range(4, 7):
        write_commits(db_path, [commit(FIRST + n, [put(b"%04d" % n, b"later"), put(b"a%d" % n, b"later")])])
        checkpoint(db_path)
        compact(db_path, OsIo())
    compact(db_path, OsIo())
    assert len(files_below(db_path / "tables" / "kv.lance" / "data")) <= 3
    assert {key: base.row(versions[0][2])[1] for key, versions in base.scan("default", b"")} == values
    assert base.newest("default", b"0005", 0, NO_LIMIT) == (FIRST + 1, values[b"0005"], 0)
    late = TableSet.open(db_path, MEMORY_BUDGET_BYTES_MIN).base(KV)
    assert late.newest("default", b"0005", 0, NO_LIMIT) == (FIRST + 5, b"later", 0)


def test_a_damaged_table_is_not_rewritten(db_path: Path, rng: random.Random) -> None:
    """Ours: compaction checks what it reads, so that it never gives damaged rows a fresh digest."""
    spread(db_path, rng)
    path = db_path / "tables" / read_state(db_path).tables["kv"].files[0].path
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)
    with pytest.raises(StrataError) as caught:
        compact(db_path, OsIo())
    assert caught.value.code == "data_loss.engine.table"
    path.unlink()
    with pytest.raises(StrataError) as missing:
        compact(db_path, OsIo())
    assert missing.value.code == "data_loss.engine.table"
