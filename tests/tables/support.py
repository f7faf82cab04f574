"""Databases for the tests of the tables: commits, journals, and an operating system that fails."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.io import OsIo
from strata_mcp.model import FRESH_HEAD, BranchRecord, Commit, Durability, Family, RecordTuple
from strata_mcp.tables.checkpoint import CheckpointOutcome, run_checkpoint
from strata_mcp.tables.state import read_state
from strata_mcp.tables.tableset import TableSet

KV = int(Family.KV)
JSON = int(Family.JSON)
START_US = 1_700_000_000_000_000
PLENTY = 1 << 30
NO_LIMIT = 1 << 62


class Dies(BaseException):
    """The process ends here: nothing after this call happens."""


class BreakingIo(OsIo):
    """Counts every call; the one numbered `at` raises, and so does each later one when `for_good`."""

    _CALLS = ("open", "pwrite", "ftruncate", "fsync", "fdatasync", "rename", "unlink", "mkdir", "close", "fallocate")

    def __init__(self, at: int = -1, error: BaseException | None = None) -> None:
        self.at = at
        self.error = error or Dies()
        self.calls: list[str] = []
        for name in (*self._CALLS, "fsync_dir", "step"):
            setattr(self, name, self._counting(name, getattr(OsIo(), name)))

    def _counting(self, name: str, call: Any) -> Any:
        def counted(*arguments: Any) -> Any:
            # Closing is what the operating system does anyway when a process ends.
            if name != "close":
                self.calls.append(name)
                if len(self.calls) == self.at:
                    raise self.error
            return call(*arguments)

        return counted


def commit(timestamp: int, records: Iterable[RecordTuple], branch: int = 0, **more: Any) -> Commit:
    """One commit whose instant follows from its number."""
    return Commit(
        timestamp=timestamp,
        last=more.pop("last", timestamp),
        committed_at_us=START_US + timestamp * 1000,
        branch=branch,
        records=list(records),
        **more,
    )


def put(key: bytes, value: bytes | None, *, family: int = KV, space: str = "default", extra: int = 0) -> RecordTuple:
    """One record; value None is a deletion."""
    return (family, space, key, value, extra)


def branch_row(uid: int, name: str) -> RecordTuple:
    """The catalogue's record of a branch."""
    return (int(Family.BRANCH), "", name.encode(), msgspec.json.encode(BranchRecord(uid=uid, name=name)), 0)


def open_journal(db_path: Path, io: OsIo | None = None, start_after: int = 0) -> FileJournal:
    """A journal handle of a database, which is made when there is none."""
    (db_path / "journal").mkdir(parents=True, exist_ok=True)
    return FileJournal(db_path / "journal", Durability.STANDARD, io, start_after=start_after)


def write_commits(db_path: Path, commits: Iterable[Commit]) -> None:
    """Append commits to the journal of a database."""
    (db_path / "journal").mkdir(parents=True, exist_ok=True)
    journal = open_journal(db_path, start_after=read_state(db_path).head)
    try:
        journal.acquire()
        try:
            journal.read()
            for each in commits:
                journal.append(each)
        finally:
            journal.release()
    finally:
        journal.close()


def checkpoint(db_path: Path, io: OsIo | None = None) -> CheckpointOutcome:
    """Checkpoint a database the way the worker does."""
    journal = open_journal(db_path, start_after=read_state(db_path).head)
    try:
        return run_checkpoint(db_path, journal, io or OsIo())
    finally:
        journal.close()


def journal_timestamps(db_path: Path) -> list[int]:
    """Numbers of the commits a handle would replay over the tables."""
    state = read_state(db_path)
    journal = open_journal(db_path, start_after=state.head)
    try:
        return [each.timestamp for each in journal.read()]
    finally:
        journal.close()


def everything(db_path: Path, family: int = KV, space: str = "default") -> dict[bytes, list[tuple[int, Any]]]:
    """All versions of all keys of a space: (timestamp, value) per key, by branch and then oldest first."""
    base = TableSet.open(db_path, PLENTY).base(family)
    return {key: [base.row(row)[:2] for _, _, row in versions] for key, versions in base.scan(space, b"")}


def files_below(folder: Path) -> list[Path]:
    """Every file below a folder."""
    return sorted(Path(root) / name for root, _, names in os.walk(folder) for name in names)


FIRST = int(FRESH_HEAD) + 1
