"""Several processes on one journal: order, deaths at every moment, power cuts, forks."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.journal.doubles import PowerCut, PowerCutIo
from tests.journal.support import WAIT_S, commit, finish, numbers, open_level, start_worker, write
from tests.journal.worker import BIG, SWEEP_LAST, SWEEP_SEGMENT_BYTES, SWEEP_TRUNCATE_AT

from strata_mcp.errors import StrataError
from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.layout import prepare
from strata_mcp.model import Durability

pytestmark = pytest.mark.serial


def await_word(worker: subprocess.Popen[str], word: str) -> None:
    """Wait until a worker says it got there."""
    assert worker.stdout is not None
    assert worker.stdout.readline().strip() == word


def say_go(worker: subprocess.Popen[str]) -> None:
    """Let a waiting worker go on."""
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


@pytest.mark.parametrize("durability", ["standard", "always"])
def test_processes_append_in_one_order(tmp_path: Path, durability: str) -> None:
    """Spec: processes with no owner share one order: no number twice, none missing, each seen by all."""
    watcher = open_level(tmp_path)
    count = 400 if durability == "standard" else 60
    workers = [start_worker("append_many", tmp_path, count, durability) for _ in range(3)]
    for worker in workers:
        await_word(worker, "ready")
    for worker in workers:
        say_go(worker)
    followed: list[int] = []
    while any(worker.poll() is None for worker in workers):
        if watcher.stale():
            followed += numbers(watcher.read())
    given = [int(word) for worker in workers for word in finish(worker).split()]
    followed += numbers(watcher.read())
    assert sorted(given) == list(range(3, 3 + 3 * count))
    assert followed == sorted(given)
    assert watcher.recovered_bytes == 0
    assert numbers(FileJournal(tmp_path, Durability.STANDARD).read()) == followed


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """Spec: a process killed while it holds the write lock stops nobody."""
    worker = start_worker("hold_lock", tmp_path)
    await_word(worker, "locked")
    worker.send_signal(signal.SIGKILL)
    worker.communicate(timeout=WAIT_S)
    journal = open_level(tmp_path)
    write(journal, 3)
    assert journal.head == 3


@pytest.mark.parametrize("moment", [20, 21, 22, 23, 63, 64, 65, 66, 67, 68, 69, 70])
def test_survivors_go_on_where_a_killed_writer_stopped(tmp_path: Path, moment: int) -> None:
    """Spec: handles that are open while a writer dies adopt its whole frame or cut its half one, and go on."""
    survivor = open_level(tmp_path, segment_bytes=SWEEP_SEGMENT_BYTES)
    watcher = open_level(tmp_path)
    seen: list[int] = []
    watched: list[int] = []
    doomed = start_worker("append_and_die", tmp_path, moment)
    alive_rounds = 20
    while alive_rounds:
        alive_rounds -= doomed.poll() is not None
        survivor.acquire()
        while survivor.stale():
            seen += numbers(survivor.read())
        seen.append(survivor.head + 1)
        survivor.append(commit(seen[-1]))
        survivor.release()
        watched += numbers(watcher.read())
    doomed.communicate(timeout=WAIT_S)
    assert doomed.returncode == -signal.SIGKILL
    assert watcher.damage is None
    assert seen == watched == list(range(3, seen[-1] + 1))
    assert numbers(FileJournal(tmp_path, Durability.STANDARD).read()) == seen


def test_lock_is_free_although_a_forked_child_lives(tmp_path: Path) -> None:
    """Ours: a child forked inside the lock does not keep it after its parent died."""
    worker = start_worker("fork_holding", tmp_path)
    await_word(worker, "forked")
    worker.wait(WAIT_S)
    journal = open_level(tmp_path)
    write(journal, 3)
    assert journal.head == 3
    worker.communicate("go\n", timeout=WAIT_S)


def test_forked_child_is_refused(tmp_path: Path) -> None:
    """Ours: a handle used in a forked child says so, and the parent's handle goes on working."""
    codes = finish(start_worker("fork_child", tmp_path)).split()
    assert codes == ["failed_precondition.sdk.fork_not_supported"] * 4
    assert numbers(FileJournal(tmp_path, Durability.STANDARD).read()) == [3, 4]


def test_first_opens_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    """Ours: several processes may create the same database at once."""
    workers = [start_worker("prepare_folder", tmp_path / "db") for _ in range(4)]
    for worker in workers:
        await_word(worker, "ready")
    for worker in workers:
        say_go(worker)
    for worker in workers:
        finish(worker)
    assert prepare(tmp_path / "db", OsIo()) is False
    assert sorted(entry.name for entry in (tmp_path / "db").iterdir()) == ["FORMAT", "indexes", "journal", "tables"]


@pytest.mark.parametrize("durability", ["standard", "always"])
def test_death_at_any_moment_loses_nothing_acknowledged(tmp_path: Path, durability: str) -> None:
    """Spec: killed before, in or after any call, a process leaves every acknowledged commit and no half one."""
    moments = int(finish(start_worker("sweep", tmp_path, durability)))
    assert moments > 60
    for moment in range(1, moments + 1):
        root = tmp_path / str(moment)
        told = [int(line) for line in (tmp_path / f"{moment}.acknowledged").read_text().split()]
        acknowledged = max((number for number in told if number <= SWEEP_LAST), default=2)
        truncated = SWEEP_LAST if told and told[-1] > SWEEP_LAST else SWEEP_TRUNCATE_AT - 2
        start_after = truncated if acknowledged >= SWEEP_TRUNCATE_AT else 0
        if acknowledged == SWEEP_LAST:
            start_after = SWEEP_LAST
        prepare(root, OsIo())
        journal = FileJournal(root / "journal", Durability(durability), start_after=start_after)
        commits = journal.read()
        assert journal.damage is None, moment
        assert journal.head in {acknowledged, acknowledged + 1}, moment
        assert numbers(commits) == list(range(max(start_after + 1, 3), journal.head + 1)), moment
        for each in commits:
            assert each == commit(each.timestamp, _size_bytes(each.timestamp)), moment
        write(journal, journal.head + 1)
        journal.close()
        again = FileJournal(root / "journal", Durability(durability), start_after=start_after)
        assert len(again.read()) == len(commits) + 1, moment
        assert again.recovered_bytes == 0, moment
        again.close()


def _size_bytes(number: int) -> int:
    if number > SWEEP_LAST:
        return 10
    return 3 * SWEEP_SEGMENT_BYTES if number == BIG else 20


def _power_cut_workload(path: Path, io: PowerCutIo, rng: random.Random) -> int:
    """Write in groups, several commits to a flush; returns the last acknowledged number."""
    acknowledged = 2
    try:
        journal = open_level(path, Durability.ALWAYS, io=io, segment_bytes=600)
        number = 3
        for _ in range(8):
            for _ in range(rng.randint(1, 3)):
                journal.acquire()
                journal.append(commit(number, rng.randint(10, 150)))
                journal.release()
                number += 1
            journal.sync()
            acknowledged = number - 1
    except PowerCut:
        pass
    return acknowledged


def test_power_cut_at_any_step_keeps_what_was_flushed(
    tmp_path: Path, rng: random.Random, sweep: Callable[[Sequence[int], int], Sequence[int]]
) -> None:
    """Spec: in `always`, whatever part of the unflushed bytes reaches the disk, acknowledged commits are there."""
    for step in sweep(range(1, 90), 60):
        path = tmp_path / str(step)
        path.mkdir()
        io = PowerCutIo(step)
        acknowledged = _power_cut_workload(path, io, rng)
        io.leave_disk(rng)
        (path / "control").unlink(missing_ok=True)
        journal = FileJournal(path, Durability.ALWAYS)
        got = numbers(journal.read())
        assert journal.damage is None, step
        assert got == list(range(3, journal.head + 1)), step
        assert journal.head >= acknowledged, step
        write(journal, journal.head + 1)
        journal.close()


def test_interrupted_append_is_settled_by_the_next_lock(tmp_path: Path) -> None:
    """Ours: an interrupt in the middle of an append (Ctrl-C) leaves a whole commit or none."""

    class Interrupting(OsIo):
        armed = False

        def __init__(self, *, after: bool) -> None:
            def pwrite(fd: int, data: bytes | memoryview, offset: int) -> int:
                written = 0
                if after or not self.armed:
                    written = OsIo.pwrite(fd, data, offset)
                if self.armed:
                    self.armed = False
                    raise KeyboardInterrupt
                return written

            self.pwrite = pwrite

    for after in (False, True):
        path = tmp_path / str(after)
        path.mkdir()
        io = Interrupting(after=after)
        journal = open_level(path, io=io)
        write(journal, 3)
        io.armed = True
        with pytest.raises(KeyboardInterrupt):
            write(journal, 4)
        journal.acquire()
        assert numbers(journal.read()) == ([4] if after else [])
        journal.append(commit(journal.head + 1))
        journal.release()
        assert numbers(FileJournal(path, Durability.STANDARD).read()) == list(range(3, journal.head + 1))


def test_missing_folder_is_a_typed_error(tmp_path: Path) -> None:
    """Ours: a journal folder that cannot be opened is reported, not leaked as an OS error."""
    with pytest.raises(StrataError) as refusal:
        FileJournal(tmp_path / "nowhere", Durability.STANDARD)
    assert refusal.value.code == "io.engine.journal_write"
