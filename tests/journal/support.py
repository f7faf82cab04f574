"""Commits to write and ways to run other processes, for the journal's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.port import Journal
from strata_mcp.model import Commit, Durability

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 30


def commit(number: int, size_bytes: int = 10, *, last: int | None = None) -> Commit:
    """A commit with one record whose value tells the commit's number."""
    value = f"{number}:".encode().ljust(size_bytes, b"x")
    return Commit(number, last or number, 1_000_000 + number, 0, [(1, "default", b"k%d" % number, value, 0)])


def write(journal: Journal, number: int, size_bytes: int = 10) -> None:
    """Append one commit the way the store does, level already."""
    journal.acquire()
    try:
        journal.append(commit(number, size_bytes))
    finally:
        journal.release()
    journal.sync()


def numbers(commits: list[Commit]) -> list[int]:
    """Their timestamps."""
    return [each.timestamp for each in commits]


def open_level(path: Path, durability: Durability = Durability.STANDARD, **options: object) -> FileJournal:
    """Open a journal and read everything in it."""
    journal = FileJournal(path, durability, **options)  # type: ignore[arg-type]
    journal.read()
    return journal


def start_worker(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a function of `worker.py` in a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.journal.worker", name, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(worker: subprocess.Popen[str]) -> str:
    """Wait for a worker that is expected to end well; returns what it printed."""
    try:
        output, _ = worker.communicate(timeout=WAIT_S)
    finally:
        worker.kill()
    assert worker.returncode == 0, output
    return output
