"""Opening, sharing, checkpointing and closing a database."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.journal.doubles import CountingIo
from tests.store.support import in_thread, keys, output_of, put, refused, start_python, value, wait_until

from strata_mcp.engine import Engine
from strata_mcp.results.common import CommitDurability
from strata_mcp.upkeep import Upkeep

MIB = 1 << 20
WRITER = """
import sys
from strata_mcp.engine import Engine
engine = Engine.open(sys.argv[1])
for number in range(int(sys.argv[3])):
    engine.kv.put("default", sys.argv[2], b"%d" % number, b"v")
engine.close(checkpoint=sys.argv[4] == "checkpoint")
"""


def tree(path: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


# ---- opening ----


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    """Issue: a folder with other things in it is refused, and nothing in it changes."""
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "sub").mkdir()
    before = sorted(os.listdir(tmp_path)), tree(tmp_path)
    with refused("failed_precondition.engine.foreign_folder"):
        Engine.open(tmp_path)
    assert (sorted(os.listdir(tmp_path)), tree(tmp_path)) == before


def test_a_newer_format_is_left_alone(db_path: Path) -> None:
    """Issue: a database of a later release is refused, and nothing in it changes."""
    engine = Engine.open(db_path)
    put(engine, "k", "1")
    engine.close()
    (db_path / "FORMAT").write_text("strata 999\n")
    before = tree(db_path)
    with refused("failed_precondition.engine.format_version") as caught:
        Engine.open(db_path)
    assert caught.value.details["format_version"] == "999"
    assert tree(db_path) == before


@pytest.mark.parametrize("kind", ["file", "missing parent", "below a file"])
def test_places_no_database_can_be(tmp_path: Path, kind: str) -> None:
    """Ours: a file, a folder whose parent is missing and a path through a file are refused by name."""
    (tmp_path / "file").write_text("x")
    path = {"file": "file", "missing parent": "no/app.strata", "below a file": "file/app.strata"}[kind]
    with refused("invalid_argument.engine.persistence") as caught:
        Engine.open(tmp_path / path)
    assert path in caught.value.message
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_no_path_and_no_cache_is_refused() -> None:
    """Ours: there is no default place for a database."""
    with refused("invalid_argument.cli.no_database"):
        Engine.open()


def test_what_was_written_is_there_after_reopening(db_path: Path) -> None:
    """Issue: with a checkpoint at close or without."""
    assert Engine.open(db_path).created
    for number in range(4):
        engine = Engine.open(db_path)
        assert keys(engine) == [f"k{earlier}" for earlier in range(number)]
        assert not engine.created
        put(engine, f"k{number}", "1")
        engine.close(checkpoint=number % 2 == 0)


def test_a_cache_leaves_no_trace_and_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: nothing on disk, nothing shared; what needs a disk is refused."""
    monkeypatch.chdir(tmp_path)
    first, second = Engine.open(cache=True), Engine.open(cache=True)
    receipt = first.kv.put("default", "default", b"k", b"v").commit
    assert receipt is not None
    assert receipt.durability is CommitDurability.NOT_DURABLE
    assert value(second, "k") is None
    for command in (first.checkpoint, first.compact, first.admin.storage, first.admin.verify):
        with refused("unsupported.engine.persistence_capability"):
            command()
    first.close()
    second.close()
    assert os.listdir(tmp_path) == []


# ---- closing ----


def test_close_is_idempotent_and_final(engine: Engine) -> None:
    """Issue: a second close does nothing; every later call is refused with one code."""
    put(engine, "k", "1")
    read = engine.kv.reader("default", "default")
    assert read(b"k") == b"1"
    engine.close()
    engine.close()
    calls: list[Callable[[], Any]] = [
        lambda: read(b"k"),
        lambda: value(engine, "k"),
        lambda: put(engine, "k", "2"),
        lambda: keys(engine),
        lambda: engine.json.set("default", "default", "d", "$", 1),
        lambda: engine.branches.list(),
        lambda: engine.branches.fork("default", "side"),
        lambda: engine.tags.list(),
        lambda: engine.admin.health(),
    ]
    for call in calls:
        with refused("failed_precondition.sdk.handle_closed"):
            call()


def test_close_in_two_threads_at_once(durable: Engine) -> None:
    """Ours: whoever comes second neither fails nor checkpoints again."""
    put(durable, "k", "1")
    in_thread(lambda: durable.close(checkpoint=False) or True)
    durable.close()
    assert durable.closed


# ---- several handles ----


@pytest.mark.parametrize("reloads", [False, True])
def test_handles_see_each_other_at_once(db_path: Path, reloads: bool) -> None:
    """Issue: a committed write is what every handle reads next, also after the other checkpointed and truncated."""
    first, second = Engine.open(db_path), Engine.open(db_path)
    for number in range(4):
        writer, reader = (first, second) if number % 2 else (second, first)
        put(writer, "k", str(number))
        put(writer, f"n{number}", "1", space="notes")
        writer.json.set("default", "default", "d", "$.n", number)
        if number:
            writer.checkpoint()
            if reloads:
                writer.store.reload()
        assert value(reader, "k") == str(number)
        assert reader.kv.get_value("default", "default", b"k") == b"%d" % number
        assert keys(reader, space="notes") == [f"n{each}" for each in range(number + 1)]
        found = reader.json.get("default", "default", "d", "$.n")
        assert found is not None
        assert found.value == number
        history = reader.kv.history("default", "default", b"k")
        assert history is not None
        assert [item.value for item in history] == [b"%d" % each for each in range(number, -1, -1)]
    assert put(first, "k", "x") + 1 == put(second, "k", "y")
    first.close(checkpoint=False)
    second.close(checkpoint=False)


@pytest.mark.serial
def test_processes_write_at_the_same_time(db_path: Path) -> None:
    """Issue: three processes writing and checkpointing at once lose nothing, and numbers are given once."""
    engine = Engine.open(db_path)
    processes = [
        start_python(WRITER, db_path, f"s{number}", 150, "checkpoint" if number == 1 else "none") for number in range(3)
    ]
    for number in range(150):
        put(engine, str(number), "v")
    for process in processes:
        output_of(process)
    assert [engine.kv.count("default", space) for space in ("default", "s0", "s1", "s2")] == [150] * 4
    versions = [item.version for item in engine.branches.log("default", limit=1000).items]
    assert versions == list(range(602, 2, -1))
    engine.close(checkpoint=False)


# ---- durability and memory ----


def test_always_syncs_before_it_answers(db_path: Path) -> None:
    """Issue: with durability always each commit is on disk when its receipt is there; standard waits for nothing."""
    for durability, syncs in (("always", 1), ("standard", 0)):
        io = CountingIo()
        engine = Engine.open(db_path, durability=durability, io=io)
        put(engine, "warm", "1")
        for write in (
            lambda engine=engine: put(engine, "k", "1"),
            lambda engine=engine: engine.kv.batch_put("default", "default", [(b"a", b"1")]),
            lambda engine=engine: engine.branches.fork("default", f"fork-{engine.journal.head}"),
        ):
            before = io.calls.get("fdatasync", 0) + io.calls.get("fsync", 0)
            write()
            assert io.calls.get("fdatasync", 0) + io.calls.get("fsync", 0) - before == syncs
        receipt = engine.kv.put("default", "default", b"k", b"2").commit
        assert receipt is not None
        assert receipt.durability.value == durability
        engine.close(checkpoint=False)


@pytest.mark.serial
def test_a_small_budget_still_answers(db_path: Path) -> None:
    """Issue: with 1 MiB a database several times as large reads right, and keeps little of it in memory."""
    engine = Engine.open(db_path, memory_budget=MIB)
    size = 8000
    for number in range(600):
        put(engine, f"k{number:04}", f"{number}:".ljust(size, "x"))
    engine.checkpoint()
    engine.store.reload()
    assert engine.kv.count("default", "default") == 600
    for number in (0, 599, 300, *range(0, 600, 7)):
        assert value(engine, f"k{number:04}") == f"{number}:".ljust(size, "x")
    rows = engine.kv.scan("default", "default", start=b"k0100", limit=20)
    assert [len(item.value) for item in rows.items] == [size] * 20
    put(engine, "k0003", "changed")
    assert value(engine, "k0003") == "changed"
    tables = engine.store.state.tables
    assert tables is not None
    assert tables.resident_bytes <= 2 * MIB
    engine.close()
    assert engine.store.state.overlay_bytes < MIB


@pytest.mark.serial
def test_memory_over_the_budget_is_given_back(db_path: Path) -> None:
    """Ours: upkeep checkpoints and drops recent rows once they take more than their share, unasked."""
    engine = Engine.open(db_path, memory_budget=MIB)
    for number in range(100):
        put(engine, f"k{number:03}", "x" * 10_000)
    wait_until(lambda: engine.store.state.overlay_bytes < MIB // 2)
    assert engine.store.state.floor > 0
    assert value(engine, "k042") == "x" * 10_000
    assert engine.kv.count("default", "default") == 100
    engine.close()


@pytest.mark.serial
def test_upkeep_checkpoints_a_long_journal(durable: Engine, db_path: Path) -> None:
    """Issue: once the journal has grown to the threshold it is checkpointed in the background and cut short."""
    for number in range(50):
        put(durable, f"k{number}", "x" * 1000)
    size = durable.journal.size_bytes()
    upkeep = Upkeep(durable.store, db_path, 64 * MIB, checkpoint_bytes=size // 2)
    wait_until(lambda: upkeep.checkpointed == durable.store.state.newest)
    upkeep.close(checkpoint=False)
    assert durable.journal.size_bytes() < size
    assert durable.kv.count("default", "default") == 50
    assert upkeep.last_error is None


# ---- open formats ----


@pytest.mark.serial
def test_tables_read_without_strata(db_path: Path) -> None:
    """Issue: after closing, plain LanceDB, pandas and DuckDB read every row from the folder alone."""
    import duckdb
    import lancedb
    engine = Engine.open(db_path)
    put(engine, "a", "1")
    put(engine, "a", "2")
    put(engine, "b", "3", space="notes")
    engine.json.set("default", "default", "d", "$", {"x": 1})
    engine.close()
    database = lancedb.connect(db_path / "tables")
    frame = database.open_table("kv").to_pandas().sort_values("ts")
    assert list(frame["key"]) == [b"a", b"a", b"b"]
    assert list(frame["value"]) == [b"1", b"2", b"3"]
    assert list(frame["space"]) == ["default", "default", "notes"]
    documents = database.open_table("json").to_arrow()
    assert duckdb.sql("select key, document from documents").fetchall() == [("d", '{"x":1}')]
    assert documents.num_rows == 1
    commits = importlib.import_module("lance").dataset(str(db_path / "tables" / "commits.lance"))
    assert commits.count_rows() == 4


# ---- what the admin commands say ----


def test_health_of_a_sound_database(engine: Engine) -> None:
    """Spec: healthy, and unhealthy for a branch that is not there, without an error."""
    assert engine.admin.health().status.value == "healthy"
    assert engine.admin.health("unknown").status.value == "unhealthy"


def test_compaction_changes_nothing_that_is_read(durable: Engine) -> None:
    """Issue: fewer files, same rows, same history."""
    for number in range(5):
        put(durable, "k", str(number))
        put(durable, f"n{number}", "1")
        durable.checkpoint()
    before = durable.admin.storage()
    durable.compact()
    durable.store.reload()
    assert durable.admin.storage().live_table_objects < before.live_table_objects
    history = durable.kv.history("default", "default", b"k")
    assert history is not None
    assert [item.value for item in history] == [b"4", b"3", b"2", b"1", b"0"]
    assert keys(durable) == ["k", "n0", "n1", "n2", "n3", "n4"]
    assert durable.admin.verify().damage == []
