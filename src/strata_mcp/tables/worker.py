"""
Checkpoints in a process of their own, so that writing tables never holds the interpreter of the user.

The parent writes one JSON line per command to the worker's standard input and reads one line back. The
worker ends when its input ends (the parent closed it, or died) and after a while without a command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

import msgspec

from strata_mcp.errors import StrataError, error_from_status, fail
from strata_mcp.tables.checkpoint import CheckpointOutcome

Kind: TypeAlias = Literal["checkpoint", "compact"]

IDLE_S: Final = 30.0
"""A worker without work ends after this long."""
ATTEMPTS: Final = 2
"""A worker may just have ended for lack of work; every command can be repeated."""
CLOSE_S: Final = 60.0
"""How long `close` waits for a checkpoint that is being written."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line from the worker: an outcome, or a typed error in its wire form."""

    outcome: CheckpointOutcome | None = None
    error: dict[str, Any] | None = None


_decode_reply = msgspec.json.Decoder(Reply).decode
_encode = msgspec.json.Encoder().encode


def perform(db_path: Path, kind: str) -> CheckpointOutcome:
    """
    Run one command in this process.

    A checkpoint is followed by a compaction of the tables that have come to stand in many files.
    """
    from strata_mcp.journal.file import FileJournal
    from strata_mcp.journal.io import OsIo
    from strata_mcp.model import Durability
    from strata_mcp.tables.checkpoint import run_checkpoint
    from strata_mcp.tables.compaction import FRAGMENTS_MAX, compact
    from strata_mcp.tables.state import read_state

    io = OsIo()
    if kind == "compact":
        return compact(db_path, io)
    journal = FileJournal(db_path / "journal", Durability.STANDARD, io, start_after=read_state(db_path).head)
    try:
        outcome = run_checkpoint(db_path, journal, io)
    finally:
        journal.close()
    if outcome.fragments > FRAGMENTS_MAX:
        compact(db_path, io, is_forced=False)
    return outcome


class CheckpointWorker:
    """
    The worker process of one open database; started when first needed, again when it has ended.

    Every method may be called from any thread. Commands run one after the other; asking for one that is
    already waiting to run gives the same future.
    """

    def __init__(self, db_path: Path, *, idle_s: float = IDLE_S) -> None:
        """Start nothing yet."""
        self._db_path = db_path
        self._idle_s = idle_s
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: dict[str, Future[CheckpointOutcome]] = {}
        self._running: Future[CheckpointOutcome] | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._owner = os.getpid()

    @property
    def is_busy(self) -> bool:
        """Whether a command is running or waiting to run."""
        return self._running is not None

    def request(self, kind: Kind) -> Future[CheckpointOutcome]:
        """Ask for a command and return at once; what happens to it is the future's to tell."""
        with self._lock:
            found = self._waiting.get(kind)
            if found is not None:
                return found
            future: Future[CheckpointOutcome] = Future()
            if self._is_closed or self._owner != os.getpid():
                future.set_exception(fail("failed_precondition.engine.runtime_closed"))
                return future
            self._waiting[kind] = future
            if self._running is None:
                self._running = future
                threading.Thread(target=self._work, name="strata-checkpoint", daemon=True).start()
        return future

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is running or waiting; False when that took longer than `timeout` seconds."""
        while True:
            with self._lock:
                pending = [*self._waiting.values()]
                if self._running is not None:
                    pending.append(self._running)
            if not pending:
                return True
            if wait_for(pending, timeout).not_done:
                return False

    def run(self, kind: Kind, timeout: float | None = None) -> CheckpointOutcome:
        """
        Run a command to its end.

        Raises:
            StrataError: what the command failed with; `io.engine.checkpoint` when it took longer than
                `timeout` seconds (it goes on in the background) or the worker died.
        """
        try:
            return self.request(kind).result(timeout)
        except TimeoutError as error:
            raise fail(
                "io.engine.checkpoint", f"the {kind} did not end within {timeout} seconds; it goes on in the background"
            ) from error

    def close(self, timeout: float = CLOSE_S) -> None:
        """Let the worker finish, then end it; after `timeout` seconds it is killed, which is harmless."""
        with self._lock:
            self._is_closed = True
            process = self._process
        if process is None or self._owner != os.getpid():
            return
        self.wait(timeout)
        self._end(process, timeout)

    # ---- the thread that talks to the process ----

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = None
                    return
                kind = next(iter(self._waiting))
                future = self._running = self._waiting.pop(kind)
            try:
                outcome = self._exchange(kind)
            except StrataError as error:
                future.set_exception(error)
            except BaseException as error:
                self._fail_all(future, error)
                raise
            else:
                future.set_result(outcome)

    def _fail_all(self, future: Future[CheckpointOutcome], error: BaseException) -> None:
        """Leave nobody waiting behind a fault of our own."""
        with self._lock:
            futures = [future, *self._waiting.values()]
            self._waiting.clear()
            self._running = None
        for each in futures:
            each.set_exception(error)

    def _exchange(self, kind: str) -> CheckpointOutcome:
        if not can_spawn():
            return perform(self._db_path, kind)
        status = 0
        for _ in range(ATTEMPTS):
            process = self._started()
            line = _ask(process, kind)
            if line:
                reply = _decode_reply(line)
                if reply.outcome is not None:
                    return reply.outcome
                raise error_from_status(reply.error or {})
            self._end(process, CLOSE_S)
            status = process.returncode
        raise fail("io.engine.checkpoint", f"the process that writes tables ended with status {status}")

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            process = self._process
        if process is not None and process.poll() is None:
            return process
        if process is not None:
            self._end(process, CLOSE_S)
        process = start_process(self._db_path, self._idle_s)
        with self._lock:
            self._process = process
        return process

    def _end(self, process: subprocess.Popen[bytes], timeout: float) -> None:
        with suppress(OSError):
            _pipe(process.stdin).close()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()
        with self._lock:
            if self._process is process:
                self._process = None


def can_spawn() -> bool:
    """Whether this interpreter can be started again; an application frozen into one file cannot."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def start_process(db_path: Path, idle_s: float) -> subprocess.Popen[bytes]:
    """Start a worker for a database."""
    source = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, *([inherited] if inherited else [])])}
    # -P: the user's working folder must not shadow modules.
    command = [sys.executable, "-P", "-m", "strata_mcp.tables.worker", str(db_path.resolve()), str(idle_s)]
    try:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    except OSError as error:
        raise fail("io.engine.checkpoint", f"the process that writes tables could not be started: {error}") from error


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise fail("internal.engine.persistence", "the process that writes tables was started without pipes")
    return pipe


def _ask(process: subprocess.Popen[bytes], kind: str) -> bytes:
    """Send a command and return the answer; empty when the process ended instead."""
    try:
        stdin = _pipe(process.stdin)
        stdin.write(_encode({"kind": kind}) + b"\n")
        stdin.flush()
        return _pipe(process.stdout).readline()
    except (OSError, ValueError):
        return b""


# ---- inside the worker process ----


def main(arguments: list[str]) -> int:
    """Serve commands from standard input until it ends or nothing comes for a while."""
    db_path, idle_s = Path(arguments[0]), float(arguments[1])
    # Ctrl-C in a terminal reaches the whole group; the parent decides what becomes of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in _lines(0, idle_s):
        kind = msgspec.json.decode(line, type=dict[str, str])["kind"]
        if kind == "exit":
            break
        try:
            reply = Reply(outcome=perform(db_path, kind))
        except StrataError as error:
            reply = Reply(error=error.status)
        try:
            os.write(answers, _encode(reply) + b"\n")
        except BrokenPipeError:
            break
    return 0


def _lines(fd: int, idle_s: float) -> Iterator[bytes]:
    """Lines of a pipe; ends with the pipe, or when nothing comes for a while."""
    from select import select

    buffer = b""
    while True:
        while b"\n" not in buffer:
            ready, _, _ = select([fd], [], [], idle_s)
            block = os.read(fd, 65536) if ready else b""
            if not block:
                return
            buffer += block
        line, _, buffer = buffer.partition(b"\n")
        yield line


if __name__ == "__main__":
    # Everything is on disk; taking the interpreter and its native threads apart would only keep the parent waiting.
    os._exit(main(sys.argv[1:]))
