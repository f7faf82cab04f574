"""Promises of an open database that need more than one layer: memory, tables, damage, clocks, other handles."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.journal.doubles import FaultIo

from strata_mcp.engine import Engine
from strata_mcp.errors import ConflictError, StrataError


class SetClock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.us = 1_000_000

    def now_us(self) -> int:
        """The instant it was put at."""
        return self.us


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the database goes."""
    return tmp_path / "db"


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    """An open durable database."""
    opened = Engine.open(folder)
    yield opened
    opened.close(checkpoint=False)


def value(engine: Engine, key: bytes, branch: str = "default") -> bytes | None:
    """A value at the head."""
    return engine.kv.get_value(branch, "default", key)


def test_a_small_memory_budget_still_answers_right(folder: Path) -> None:
    """With 1 MiB, values far beyond it are read back, changed and counted after memory was dropped (issue #2)."""
    engine = Engine.open(folder, memory_budget=1 << 20)
    for number in range(60):
        engine.kv.put("default", "default", b"%03d" % number, b"%03d" % number * 20_000)
    engine.checkpoint()
    engine.store.reload()
    assert engine.store.state.overlay_bytes == 0
    assert engine.kv.count("default", "default") == 60
    for number in (0, 31, 59):
        assert value(engine, b"%03d" % number) == b"%03d" % number * 20_000
    tables = engine.store.state.tables
    assert tables is not None
    assert tables.resident_bytes < 1 << 20
    engine.kv.put("default", "default", b"031", b"new")
    history = engine.kv.history("default", "default", b"031")
    assert history is not None
    assert history[0].value == b"new"
    engine.close()


def test_the_tables_are_ordinary_lancedb_tables(folder: Path) -> None:
    """After close, lancedb, pandas and DuckDB read every version without us (issue #2)."""
    import duckdb
    import lancedb

    engine = Engine.open(folder)
    engine.kv.put("default", "default", b"a", b"1")
    engine.kv.put("default", "default", b"a", b"2")
    engine.json.set("default", "default", "d", "$", {"x": 1})
    engine.close()
    tables = lancedb.connect(folder / "tables")
    frame = tables.open_table("kv").to_pandas()
    assert sorted(frame["value"]) == [b"1", b"2"]
    with duckdb.connect() as session:
        session.register("documents", tables.open_table("json").to_arrow())
        assert session.sql("select document from documents").fetchall() == [('{"x":1}',)]


def test_expired_pairs_are_gone_at_the_head_only() -> None:
    """Expiry hides a pair from every read at the head, keeps it in the past, and a put revives it (issue #2)."""
    clock = SetClock()
    engine = Engine.open(cache=True, clock=clock)
    written = engine.kv.put("default", "default", b"k", b"v", expires_in_us=10)
    assert value(engine, b"k") == b"v"
    clock.us += 1_000
    assert value(engine, b"k") is None
    assert not engine.kv.exists("default", "default", b"k")
    assert engine.kv.count("default", "default") == 0
    assert engine.kv.list("default", "default").items == []
    assert engine.kv.scan("default", "default").items == []
    assert written.commit is not None
    past = engine.kv.get("default", "default", b"k", as_of=written.commit.version)
    assert past is not None
    assert [item.value for item in engine.kv.history("default", "default", b"k") or ()] == [b"v"]
    assert engine.kv.put("default", "default", b"k", b"w", if_version=0).effect.kind == "created"
    assert value(engine, b"k") == b"w"


def test_commit_times_only_grow_when_the_clock_goes_back() -> None:
    """Each commit has a later instant than the one before, whatever the wall clock says (ours)."""
    clock = SetClock()
    engine = Engine.open(cache=True, clock=clock)
    times = []
    for step in (0, -500_000, 3):
        clock.us += step
        receipt = engine.kv.put("default", "default", b"k", b"%d" % step).commit
        assert receipt is not None
        times.append(receipt.committed_at)
    assert times == sorted(set(times), key=lambda found: found or 0)


def test_one_version_has_one_winner(engine: Engine) -> None:
    """Many threads compare-and-set one counter; no increment is lost and no version is used twice (issue #2)."""
    engine.kv.put("default", "default", b"n", b"0")
    threads = [threading.Thread(target=count_up, args=(engine, 25)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert value(engine, b"n") == b"100"


def count_up(engine: Engine, times: int) -> None:
    """Add one, again and again until the version was right."""
    done = 0
    while done < times:
        entry = engine.kv.get("default", "default", b"n")
        assert entry is not None
        try:
            engine.kv.put("default", "default", b"n", b"%d" % (int(entry.value) + 1), if_version=entry.version)
        except ConflictError:
            continue
        done += 1


def test_a_transaction_conflicts_with_what_changed_meanwhile(engine: Engine, folder: Path) -> None:
    """A key read in a transaction and changed by another handle refuses the commit; nothing of it shows (issue #2)."""
    engine.kv.put("default", "default", b"read", b"1")
    other = Engine.open(folder)
    transaction = engine.store.transaction("default")
    transaction.__enter__()
    value(engine, b"read")
    engine.kv.put("default", "default", b"mine", b"1")
    other.kv.put("default", "default", b"read", b"2")
    with pytest.raises(ConflictError):
        transaction.__exit__(None, None, None)
    assert value(engine, b"mine") is None
    assert value(engine, b"read") == b"2"
    other.close(checkpoint=False)


def test_a_failed_step_inside_a_transaction_leaves_nothing_staged(engine: Engine) -> None:
    """A batch that is refused is rolled back alone; the rest of the transaction commits (ours)."""
    with engine.store.transaction("default"):
        engine.kv.put("default", "default", b"kept", b"1")
        with pytest.raises(StrataError):
            engine.kv.batch_put("default", "default", [(b"lost", b"1"), (b"k" * 70_000, b"1")])
    assert value(engine, b"kept") == b"1"
    assert value(engine, b"lost") is None


def test_handles_stay_level_across_a_checkpoint_of_another(engine: Engine, folder: Path) -> None:
    """A handle that slept while another wrote, checkpointed and dropped the journal reads everything (issue #2)."""
    engine.kv.put("default", "default", b"a", b"1")
    other = Engine.open(folder)
    for number in range(50):
        other.kv.put("default", "default", b"b%d" % number, b"x")
    other.checkpoint()
    other.kv.put("default", "default", b"a", b"2")
    assert value(engine, b"b49") == b"x"
    assert value(engine, b"a") == b"2"
    assert engine.kv.count("default", "default") == 51
    other.close()
    engine.kv.put("default", "default", b"a", b"3")
    assert value(engine, b"a") == b"3"


def fill(engine: Engine, written: list[bytes]) -> None:
    """Put until something fails, noting what was acknowledged."""
    for number in range(10):
        engine.kv.put("default", "default", b"%d" % number, b"v")
        written.append(b"%d" % number)


def test_a_full_disk_fails_the_commit_and_loses_nothing(folder: Path) -> None:
    """The commit is refused with a typed error, the handle turns read-only, reopening goes on (issue #2)."""
    Engine.open(folder).close()
    io = FaultIo(3, errno.ENOSPC, name="pwrite", is_lasting=True)
    engine = Engine.open(folder, io=io)
    written = []
    with pytest.raises(StrataError) as refused:
        fill(engine, written)
    assert refused.value.code == "io.engine.journal_write"
    assert refused.value.commit_outcome == "definitely_not_committed"
    with pytest.raises(StrataError, match="read_only_after_error"):
        engine.kv.put("default", "default", b"x", b"v")
    assert engine.kv.list("default", "default").items == written
    engine.close(checkpoint=False)
    again = Engine.open(folder)
    assert again.kv.list("default", "default").items == written
    again.kv.put("default", "default", b"x", b"v")
    again.close(checkpoint=False)


def test_damage_in_the_middle_leaves_the_prefix_readable(folder: Path) -> None:
    """A flipped byte is data loss with a place; what stands before it is read, writing is refused (issue #2)."""
    engine = Engine.open(folder)
    for number in range(20):
        engine.kv.put("default", "default", b"%02d" % number, b"v" * 100)
    engine.close(checkpoint=False)
    (segment,) = (folder / "journal").glob("*.log")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    engine = Engine.open(folder)
    found = engine.kv.list("default", "default").items
    assert 0 < len(found) < 20
    assert found == [b"%02d" % number for number in range(len(found))]
    assert engine.admin.health().status == "unhealthy"
    with pytest.raises(StrataError) as refused:
        engine.kv.put("default", "default", b"x", b"v")
    assert refused.value.code == "data_loss.engine.journal"
    assert {"segment", "offset"} <= set(refused.value.details)
    engine.close(checkpoint=False)


@pytest.mark.parametrize("name", ["notes.txt", "FORMAT"])
def test_a_folder_of_somebody_else_or_of_a_later_release_is_untouched(folder: Path, name: str) -> None:
    """A foreign folder and an unknown newer format are refused and left as they are (issue #2)."""
    folder.mkdir()
    (folder / name).write_text("strata 999\n")
    with pytest.raises(StrataError) as refused:
        Engine.open(folder)
    assert refused.value.error_class == "failed_precondition"
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "strata 999\n"


def test_a_deep_chain_of_forks_reads_what_its_root_wrote() -> None:
    """Every fork of 300 in a row sees the root's rows and its own, and none of later ones (issue #2)."""
    engine = Engine.open(cache=True)
    engine.kv.put("default", "default", b"root", b"r")
    source = "default"
    for number in range(300):
        name = f"b{number}"
        engine.branches.fork(source, name)
        engine.kv.put(name, "default", b"own%d" % number, b"o")
        source = name
    assert value(engine, b"root", "b299") == b"r"
    assert value(engine, b"own0", "b299") == b"o"
    assert value(engine, b"own200", "b199") is None
    assert engine.kv.count("b299", "default") == 301
    engine.kv.put("default", "default", b"late", b"l")
    assert value(engine, b"late", "b299") is None


def test_a_picked_commit_and_its_revert(engine: Engine) -> None:
    """One commit of another branch is applied alone, and undone alone (issue #2)."""
    engine.branches.fork("default", "f")
    with engine.store.transaction("f", author="ann", message="the fix"):
        engine.kv.put("f", "default", b"fix", b"1")
        engine.json.set("f", "default", "doc", "$", {"fixed": True})
    engine.kv.put("f", "default", b"noise", b"1")
    commit = engine.branches.log("f", limit=2).items[1]
    assert (commit.author, commit.message, len(commit.changes)) == ("ann", "the fix", 2)
    picked = engine.branches.cherry_pick("f", commit.version, "default")
    assert (value(engine, b"fix"), value(engine, b"noise")) == (b"1", None)
    assert picked.target_version is not None
    engine.branches.revert("default", picked.target_version)
    assert value(engine, b"fix") is None
    assert not engine.json.exists("default", "default", "doc")
