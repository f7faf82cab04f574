"""Disks that are full, bytes that changed, handles in forked processes: a typed error, never a wrong answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journal.doubles import FaultIo
from tests.store.support import keys, output_of, put, refused, start_python, value

from strata_mcp.engine import Engine

FORK = """
import os, sys
from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
engine = Engine.open(sys.argv[1])
engine.kv.put("default", "default", b"k", b"parent")
if sys.argv[2] == "worker":
    engine.checkpoint()
engine.kv.put("default", "default", b"late", b"parent")
child = os.fork()
if child == 0:
    codes = set()
    for call in (
        lambda: engine.kv.get("default", "default", b"k"),
        lambda: engine.kv.get_value("default", "default", b"k"),
        lambda: engine.kv.put("default", "default", b"k", b"child"),
        lambda: engine.kv.batch_put("default", "default", [(b"k", b"child")]),
        lambda: engine.branches.create("child"),
        lambda: engine.checkpoint(),
        lambda: engine.admin.health(),
    ):
        try:
            call()
            codes.add("allowed")
        except StrataError as error:
            codes.add(error.code)
    try:
        engine.close()
    except StrataError as error:
        codes.add(f"close {error.code}")
    print(sorted(codes), flush=True)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
engine.kv.put("default", "default", b"k", b"after")
engine.checkpoint()
print(engine.kv.get_value("default", "default", b"k"), engine.admin.health().status.value)
engine.close()
"""


def flip(path: Path, offset: int) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 0x10
    path.write_bytes(content)


def damaged(db_path: Path) -> int:
    """Leave a database whose journal has a changed byte halfway; returns how many commits there were."""
    engine = Engine.open(db_path)
    for number in range(20):
        put(engine, f"k{number:02}", "value of some length " * 3)
    size = engine.journal.size_bytes()
    engine.close(checkpoint=False)
    flip(min((db_path / "journal").glob("*.log")), size // 2)
    return 20


def test_a_damaged_journal_reads_up_to_the_damage(db_path: Path) -> None:
    """Issue: what stands before the changed byte is readable, the handle says it is unhealthy, writes are refused."""
    count = damaged(db_path)
    engine = Engine.open(db_path)
    found = keys(engine)
    assert 0 < len(found) < count
    assert found == [f"k{number:02}" for number in range(len(found))]
    assert value(engine, "k00") is not None
    assert engine.admin.health().status.value == "unhealthy"
    assert engine.admin.verify().damage != []
    for write in (
        lambda: put(engine, "new", "1"),
        lambda: engine.kv.batch_put("default", "default", [(b"new", b"1")]),
        lambda: engine.branches.create("new"),
        lambda: engine.json.set("default", "default", "d", "$", 1),
    ):
        with refused("data_loss.engine.journal"):
            write()
    assert keys(engine) == found
    engine.close()


def test_damage_is_left_as_it_was_found(db_path: Path) -> None:
    """Ours: a checkpoint moves what is intact into the tables; no byte of the damaged journal is dropped."""
    damaged(db_path)
    segment = min((db_path / "journal").glob("*.log"))
    before = segment.read_bytes()
    engine = Engine.open(db_path)
    readable = keys(engine)
    assert engine.checkpoint().commits == len(readable)
    engine.close()
    engine = Engine.open(db_path)
    with refused("data_loss.engine.journal"):
        engine.checkpoint()
    assert keys(engine) == readable
    engine.close()
    assert segment.read_bytes() == before


def test_a_damaged_table_is_reported_and_found_by_verify(db_path: Path) -> None:
    """Issue: a changed byte in a table is never served; verify names the table, other families still read."""
    engine = Engine.open(db_path)
    put(engine, "k", "v" * 1000)
    engine.json.set("default", "default", "d", "$", {"a": 1})
    engine.checkpoint()
    assert engine.admin.verify().damage == []
    engine.close()
    data = max((db_path / "tables" / "kv.lance" / "data").iterdir(), key=lambda path: path.stat().st_size)
    flip(data, data.stat().st_size // 3)
    engine = Engine.open(db_path)
    problems = engine.admin.verify().damage
    assert len(problems) == 1
    assert "kv" in problems[0]
    with refused("data_loss.engine.table"):
        value(engine, "k")
    found = engine.json.get("default", "default", "d", "$")
    assert found is not None
    assert found.value == {"a": 1}
    engine.close()


@pytest.mark.parametrize("step", ["pwrite", "fallocate"])
def test_a_full_disk_refuses_the_write_and_keeps_the_rest(db_path: Path, step: str) -> None:
    """Issue: a typed error, then a handle that still reads; opening again finds every acknowledged write."""
    Engine.open(db_path).close()
    counting = FaultIo(0, name=step)
    engine = Engine.open(db_path, io=counting)
    put(engine, "kept", "1")
    counting.n, counting.is_lasting = counting.steps + 1, True
    written = 0

    def fill() -> None:
        nonlocal written
        for number in range(200):
            put(engine, f"k{number}", "x" * 100_000)
            written += 1

    with refused("io.engine.journal_write") as caught:
        fill()
    assert caught.value.commit_outcome == "definitely_not_committed"
    for write in (lambda: put(engine, "more", "1"), lambda: engine.branches.create("more")):
        with refused("failed_precondition.engine.read_only_after_error"):
            write()
    assert engine.kv.count("default", "default") == written + 1
    assert value(engine, "kept") == "1"
    engine.close(checkpoint=False)
    reopened = Engine.open(db_path)
    assert reopened.store.damage is None
    assert reopened.kv.count("default", "default") == written + 1
    put(reopened, "more", "1")
    reopened.close(checkpoint=False)


def test_another_handle_writes_on_after_a_full_disk(db_path: Path) -> None:
    """Ours: half a frame left by a failed write does not disturb the others."""
    faulty = FaultIo(0, name="pwrite")
    engine = Engine.open(db_path, io=faulty)
    other = Engine.open(db_path)
    put(engine, "k", "1")
    faulty.n = faulty.steps + 1
    with refused("io.engine.journal_write"):
        put(engine, "lost", "1" * 1000)
    assert put(other, "k", "2") == 4
    assert value(engine, "k") == "2"
    assert value(other, "lost") is None
    engine.close(checkpoint=False)
    other.close(checkpoint=False)


@pytest.mark.serial
@pytest.mark.parametrize("worker", ["worker", "no-worker"])
def test_a_forked_child_cannot_use_the_handle(db_path: Path, worker: str) -> None:
    """Issue: every call in the child is refused with one code, and the parent goes on undisturbed."""
    lines = output_of(start_python(FORK, db_path, worker)).splitlines()
    assert lines == ["['failed_precondition.sdk.fork_not_supported']", "b'after' healthy"]
    engine = Engine.open(db_path)
    assert value(engine, "k") == "after"
    assert [item.name for item in engine.branches.list().items] == ["default"]
    engine.close(checkpoint=False)
