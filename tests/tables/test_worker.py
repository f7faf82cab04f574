"""Checkpoints in a process of their own."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tables.support import FIRST, checkpoint, commit, everything, journal_timestamps, put, write_commits

from strata_mcp.errors import StrataError
from strata_mcp.journal.io import OsIo
from strata_mcp.tables.files import checkpoint_lock
from strata_mcp.tables.state import read_state
from strata_mcp.tables.worker import CheckpointWorker, start_process

pytestmark = pytest.mark.serial

ROOT = Path(__file__).resolve().parents[2]
BOUND_S = 30.0


@pytest.fixture
def worker(db_path: Path) -> Iterator[CheckpointWorker]:
    """A worker of a database with one commit in its journal."""
    write_commits(db_path, [commit(FIRST, [put(b"k", b"v")])])
    worker = CheckpointWorker(db_path)
    yield worker
    worker.close()


def process_of(worker: CheckpointWorker) -> subprocess.Popen[bytes]:
    """The process that is running now."""
    process = worker._process
    assert process is not None
    return process


def test_a_worker_checkpoints_and_compacts(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: commands run in one process, one after the other, and say what they did."""
    assert worker.run("checkpoint", BOUND_S).commits == 1
    process = process_of(worker)
    write_commits(db_path, [commit(FIRST + 1, [put(b"k", b"w")])])
    assert worker.run("checkpoint", BOUND_S).fragments == 2
    assert worker.run("compact", BOUND_S).fragments == 1
    assert worker.run("checkpoint", BOUND_S).status == "nothing"
    assert process_of(worker) is process
    assert everything(db_path) == {b"k": [(FIRST, b"v"), (FIRST + 1, b"w")]}
    worker.close()
    assert process.returncode == 0


def test_requests_wait_for_nobody(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: a request returns at once, the same command waiting twice is one, and `wait` sees the end of all."""
    futures = [worker.request("checkpoint"), worker.request("compact"), worker.request("compact")]
    assert worker.is_busy
    assert worker.wait(BOUND_S)
    assert not worker.is_busy
    assert [future.result(0).status for future in futures] == ["done", "nothing", "nothing"]
    assert futures[1] is futures[2]
    assert journal_timestamps(db_path) == []


def test_a_worker_that_went_idle_is_started_again(db_path: Path) -> None:
    """Ours: a worker ends without work and comes back with the next command."""
    write_commits(db_path, [commit(FIRST, [put(b"k", b"v")])])
    worker = CheckpointWorker(db_path, idle_s=0.01)
    assert worker.run("checkpoint", BOUND_S).status == "done"
    first = process_of(worker)
    assert first.wait(BOUND_S) == 0
    assert worker.run("checkpoint", BOUND_S).status == "nothing"
    assert process_of(worker) is not first
    worker.close()


def test_a_killed_worker_is_replaced(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: when the process is killed between commands, the next command does not notice."""
    worker.run("checkpoint", BOUND_S)
    process_of(worker).send_signal(signal.SIGKILL)
    write_commits(db_path, [commit(FIRST + 1, [put(b"k", b"w")])])
    assert worker.run("checkpoint", BOUND_S).commits == 1


def test_errors_cross_over_with_code_and_details(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: what went wrong in the worker is raised here with the same code and facts; the worker lives on."""
    checkpoint(db_path)
    path = db_path / "tables" / read_state(db_path).tables["kv"].files[0].path
    content = path.read_bytes()
    path.unlink()
    write_commits(db_path, [commit(FIRST + 1, [put(b"k", b"w")])])
    with pytest.raises(StrataError) as caught:
        worker.run("checkpoint", BOUND_S)
    assert caught.value.code == "data_loss.engine.table"
    assert caught.value.details["file"] == f"kv.lance/data/{path.name}"
    path.write_bytes(content)
    assert worker.run("checkpoint", BOUND_S).status == "done"


def test_another_process_at_work_is_no_error(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: the worker reports busy when somebody else is writing the tables."""
    with checkpoint_lock(db_path, OsIo()):
        assert worker.run("checkpoint", BOUND_S).status == "busy"


def test_a_closed_worker_refuses(worker: CheckpointWorker) -> None:
    """Ours: after close a request fails with a typed error; closing twice is fine."""
    worker.close()
    worker.close()
    with pytest.raises(StrataError) as caught:
        worker.run("checkpoint", BOUND_S)
    assert caught.value.code == "failed_precondition.engine.runtime_closed"


def test_without_an_interpreter_commands_run_here(
    db_path: Path, worker: CheckpointWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: where no interpreter can be started, the thread that waits does the work itself."""
    monkeypatch.setattr(sys, "executable", "")
    assert worker.run("checkpoint", BOUND_S).status == "done"
    assert worker._process is None


def test_a_worker_writes_nothing_but_answers(db_path: Path, worker: CheckpointWorker) -> None:
    """Ours: one line per command on standard output and nothing else, then the end with the input."""
    process = start_process(db_path, BOUND_S)
    output, _ = process.communicate(b'{"kind":"checkpoint"}\n{"kind":"compact"}\n{"kind":"exit"}\n', BOUND_S)
    assert [line[:23] for line in output.splitlines()] == [b'{"outcome":{"status":"d', b'{"outcome":{"status":"n']
    assert process.returncode == 0


ORPHANING = """
import os, sys
from pathlib import Path
from strata_mcp.tables.worker import CheckpointWorker
worker = CheckpointWorker(Path(sys.argv[1]))
worker.run("checkpoint")
print(worker._process.pid, flush=True)
sys.stdin.read(1)
os._exit(0)
"""


def test_a_worker_ends_with_its_parent(db_path: Path) -> None:
    """Ours: a parent that dies without closing leaves no process behind."""
    write_commits(db_path, [commit(FIRST, [put(b"k", b"v")])])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", ORPHANING, str(db_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        descriptor = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.stdin.write(b"x")
            parent.stdin.close()
            parent.wait(BOUND_S)
            ready, _, _ = select.select([descriptor], [], [], BOUND_S)
        finally:
            os.close(descriptor)
    assert ready == [descriptor]
