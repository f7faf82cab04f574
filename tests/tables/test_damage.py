"""Table files that are not what was written: typed errors or the recorded version, never wrong rows."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

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
    put,
    write_commits,
)

from strata_mcp.errors import StrataError
from strata_mcp.tables.dataset import TableMoved, reading, writing
from strata_mcp.tables.files import manifest_name
from strata_mcp.tables.state import STATE_NAME, read_state
from strata_mcp.tables.tableset import TableSet
from strata_mcp.tables.verify import verify

ROWS = {b"k%02d" % n: [(FIRST, b"value %d" % n)] for n in range(50)}


@pytest.fixture
def written(db_path: Path) -> Path:
    """A database with one checkpoint."""
    write_commits(db_path, [commit(FIRST, [put(key, versions[0][1]) for key, versions in ROWS.items()])])
    checkpoint(db_path)
    return db_path


def zero(path: Path) -> None:
    """What a power cut leaves of a file that was never flushed."""
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    """What another one leaves."""
    path.write_bytes(b"")


def shorten(path: Path) -> None:
    """A file cut in half."""
    os.truncate(path, path.stat().st_size // 2)


def remove(path: Path) -> None:
    """A file that is gone."""
    path.unlink()


@pytest.mark.parametrize("damage", [zero, empty, shorten])
def test_a_torn_newer_version_is_set_aside(written: Path, damage: Callable[[Path], None]) -> None:
    """Ours: a head manifest that was never recorded hides nothing, and the next checkpoint replaces it."""
    import lance

    dataset = lance.dataset(written / "tables" / "kv.lance")
    lance.write_dataset(dataset.to_table(), dataset.uri, mode="append")
    damage(written / "tables" / "kv.lance" / "_versions" / manifest_name(2))
    assert everything(written) == ROWS
    write_commits(written, [commit(FIRST + 1, [put(b"new", b"new")])])
    checkpoint(written)
    assert everything(written) == {**ROWS, b"new": [(FIRST + 1, b"new")]}
    assert lance.dataset(written / "tables" / "kv.lance").count_rows() == len(ROWS) + 1


@pytest.mark.parametrize("damage", [zero, empty, shorten, remove])
def test_a_damaged_file_is_named(written: Path, damage: Callable[[Path], None]) -> None:
    """Ours: a missing or changed file is an error naming it; other tables stay readable."""
    state = read_state(written)
    for file in state.tables["kv"].files:
        path = written / "tables" / file.path
        content = path.read_bytes()
        damage(path)
        tables = TableSet.open(written, PLENTY)
        with pytest.raises(StrataError) as caught:
            tables.base(KV)
        assert caught.value.code == "data_loss.engine.table"
        assert (caught.value.details["table"], caught.value.details["file"]) == ("kv", file.path)
        assert tables.timeline().rows == 1
        assert [error.details["table"] for error in verify(written)] == ["kv"]
        assert [error.code for error in tables.damage()] == ([] if damage is zero else ["data_loss.engine.table"])
        path.write_bytes(content)
    assert everything(written) == ROWS
    assert verify(written) == []


def test_a_flipped_bit_never_shows_as_a_row(written: Path, rng: random.Random) -> None:
    """Ours: any flipped bit of any file is an error naming the file, or changes nothing that is read."""
    entries = [file for table in read_state(written).tables.values() for file in table.files]
    for _ in range(60):
        file = rng.choice(entries)
        path = written / "tables" / file.path
        content = bytearray(path.read_bytes())
        bit = rng.randrange(len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        tables = TableSet.open(written, PLENTY)
        load = tables.timeline if file.path.startswith("commits") else partial(tables.base, KV)
        with pytest.raises(StrataError) as caught:
            load()
        assert caught.value.details["file"] == file.path
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
    assert everything(written) == ROWS


def test_a_damaged_record_is_named(written: Path, rng: random.Random) -> None:
    """Ours: the record of checkpoints carries its own digest."""
    path = written / "tables" / STATE_NAME
    content = path.read_bytes()
    for _ in range(50):
        changed = bytearray(content)
        bit = rng.randrange((len(content) - 1) * 8)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(StrataError) as caught:
            TableSet.open(written, PLENTY)
        assert (caught.value.code, caught.value.details["file"]) == ("data_loss.engine.table", f"tables/{STATE_NAME}")
    assert [error.code for error in verify(written)] == ["data_loss.engine.table"]


def test_a_damaged_table_is_not_appended_to(written: Path) -> None:
    """Ours: a checkpoint onto a table with a file missing fails and keeps the journal."""
    (written / "tables" / read_state(written).tables["kv"].files[0].path).unlink()
    write_commits(written, [commit(FIRST + 1, [put(b"new", b"new")])])
    before = files_below(written / "tables")
    with pytest.raises(StrataError) as caught:
        checkpoint(written)
    assert caught.value.code == "data_loss.engine.table"
    assert files_below(written / "tables") == before
    assert read_state(written).checkpoint_ts == FIRST


class PanicException(BaseException):
    """Named as the native code names its panics, which cannot be imported."""


def test_a_panic_of_native_code_is_damage(db_path: Path) -> None:
    """Ours: a panic below Lance becomes data loss with the table named, on either side."""
    for edge in (reading, writing):
        with pytest.raises(StrataError) as caught, edge(db_path, "kv"):
            raise PanicException("index out of bounds in kv.lance/data/01ab.lance")
        assert (caught.value.code, caught.value.details["file"]) == (
            "data_loss.engine.table",
            "kv.lance/data/01ab.lance",
        )


def test_failures_of_lance_are_translated(db_path: Path) -> None:
    """Ours: a file that is gone makes a reader look again; a failed write is a failed checkpoint; our errors pass."""
    with pytest.raises(TableMoved), reading(db_path, "kv"):
        raise OSError("LanceError(IO): Not found: kv.lance/data/01ab.lance")
    with pytest.raises(StrataError, match="kv") as caught, writing(db_path, "kv"):
        raise OSError(28, "No space left on device")
    assert caught.value.code == "io.engine.checkpoint"
    with pytest.raises(StrataError) as passed, writing(db_path, "kv"):
        raise caught.value
    assert passed.value is caught.value
    with pytest.raises(KeyboardInterrupt), reading(db_path, "kv"):
        raise KeyboardInterrupt


def test_a_lost_row_is_noticed(written: Path) -> None:
    """Ours: the number of rows is compared with the record when a table is loaded."""
    import msgspec

    from strata_mcp.journal.io import OsIo
    from strata_mcp.tables.state import write_state

    state = read_state(written)
    wrong = msgspec.structs.replace(state.tables["kv"], rows=len(ROWS) + 1)
    write_state(written, msgspec.structs.replace(state, tables={**state.tables, "kv": wrong}), OsIo())
    with pytest.raises(StrataError, match="rows"):
        TableSet.open(written, PLENTY).base(KV).newest("default", b"k00", 0, NO_LIMIT)
