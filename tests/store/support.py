"""A clock turned by hand, short ways to write and read, and other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
from strata_mcp.results.common import Written

ROOT = Path(__file__).resolve().parents[2]
START_US = 1_700_000_000_000_000
WAIT_S = 60
SECOND = 1_000_000


class HandClock:
    """Shows the same instant until somebody moves it."""

    def __init__(self, now_us: int = START_US) -> None:
        self.at_us = now_us

    def now_us(self) -> int:
        """The instant it shows."""
        return self.at_us


def put(engine: Engine, key: str, value: str, branch: str = "default", space: str = "default") -> int:
    """Write a value; returns its version."""
    return version_of(engine.kv.put(branch, space, key.encode(), value.encode()))


def delete(engine: Engine, key: str, branch: str = "default", space: str = "default") -> int:
    """Delete a value that is there; returns the version of the deletion."""
    return version_of(engine.kv.delete(branch, space, key.encode()))


def version_of(written: Written) -> int:
    """Version of a write that was made."""
    assert written.commit is not None
    return written.commit.version


def time_of(written: Written) -> int:
    """Instant of a write that was made."""
    assert written.commit is not None
    assert written.commit.committed_at is not None
    return written.commit.committed_at


def value(
    engine: Engine, key: str, branch: str = "default", space: str = "default", as_of: int | None = None
) -> str | None:
    """Read a value as text."""
    found = engine.kv.get(branch, space, key.encode(), as_of=as_of)
    return None if found is None else found.value.decode()


def keys(engine: Engine, branch: str = "default", space: str = "default", as_of: int | None = None) -> list[str]:
    """Keys of a space as text."""
    return [key.decode() for key in engine.kv.list(branch, space, as_of=as_of).items]


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[StrataError]]:
    """Expect the typed error with this code."""
    with pytest.raises(StrataError) as caught:
        yield caught
    assert caught.value.code == code


def in_thread(work: Callable[[], Any]) -> Any:
    """Run something to its end in another thread; returns what it returns."""
    results: list[Any] = []
    thread = Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join(WAIT_S)
    assert results, "the other thread failed or did not end"
    return results[0]


def wait_until(is_done: Callable[[], bool]) -> None:
    """Look again and again for at most a minute."""
    pause = Event()
    for _ in range(WAIT_S * 20):
        if is_done():
            return
        pause.wait(0.05)
    pytest.fail("what the test waits for did not happen")


def start_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a piece of Python in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(process: subprocess.Popen[str]) -> str:
    """Wait for a process that is expected to end well; returns what it printed."""
    try:
        out, err = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out
