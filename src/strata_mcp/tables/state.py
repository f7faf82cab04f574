"""
The record of the last checkpoint: what the tables are, in our own words and durable.

Lance neither flushes nor checksums, so whatever it says about its newest version is not believed. The
file `tables/CHECKPOINT` names, for each table, the version that counts, its number of rows, and size and
digest of every file behind it. Its second line is the digest of the first.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from strata_mcp.errors import fail
from strata_mcp.model import FRESH_HEAD

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo

STATE_NAME: Final = "CHECKPOINT"
STATE_FORMAT: Final = 1
DIGEST_BYTES: Final = 16


class FileEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file of a table; `path` is relative to the folder of tables."""

    path: str
    size_bytes: int
    digest: str


class TableState(msgspec.Struct, frozen=True):
    """The version of a table that counts. `value_bytes` is the length of all its values together."""

    version: int
    rows: int
    value_bytes: int
    files: list[FileEntry]


class CheckpointState(msgspec.Struct, frozen=True):
    """
    What has been checkpointed.

    Attributes:
        format: format of the file.
        generation: counts the states written.
        checkpoint_ts: timestamp of the last commit in the tables, 0 when there is none.
        head: highest number that commit occupies.
        committed_at_us: its instant, UTC microseconds.
        tables: by name.
        retired: files the state before this one needed and this one does not; they are kept for readers
            that still use them, until the next state is written.
    """

    format: int = STATE_FORMAT
    generation: int = 0
    checkpoint_ts: int = 0
    head: int = int(FRESH_HEAD)
    committed_at_us: int = 0
    tables: dict[str, TableState] = msgspec.field(default_factory=dict)
    retired: list[str] = msgspec.field(default_factory=list)

    def paths(self) -> set[str]:
        """Every file the state needs."""
        return {file.path for table in self.tables.values() for file in table.files}


class _Format(msgspec.Struct):
    format: int


_decode = msgspec.json.Decoder(CheckpointState).decode
_decode_format = msgspec.json.Decoder(_Format).decode
_encode = msgspec.json.Encoder().encode


def tables_path(db_path: Path) -> Path:
    """Folder of the tables of a database."""
    return db_path / "tables"


def digest_of(content: bytes) -> str:
    """Digest of some bytes, as written in the record."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def read_state(db_path: Path) -> CheckpointState:
    """
    Return what has been checkpointed; an empty state when nothing was.

    Raises:
        StrataError: `data_loss.engine.table` when the record does not match its digest,
            `failed_precondition.engine.format_version` when a newer build wrote it.
    """
    path = tables_path(db_path) / STATE_NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return CheckpointState()
    body, _, check = content.partition(b"\n")
    if check.strip().decode("ascii", "replace") != digest_of(body):
        raise _damaged("does not match its digest")
    try:
        if _decode_format(body).format > STATE_FORMAT:
            raise fail("failed_precondition.engine.format_version", file=f"tables/{STATE_NAME}")
        return _decode(body)
    except msgspec.MsgspecError as error:
        raise _damaged("cannot be understood") from error


def _damaged(problem: str) -> Exception:
    name = f"tables/{STATE_NAME}"
    return fail("data_loss.engine.table", f"the record of checkpoints, {name}, {problem}", table="", file=name)


def write_state(db_path: Path, state: CheckpointState, io: OsIo) -> None:
    """Replace the record of the last checkpoint; durable when this returns."""
    folder = tables_path(db_path)
    body = _encode(state)
    content = memoryview(body + b"\n" + digest_of(body).encode("ascii") + b"\n")
    target = os.path.join(folder, STATE_NAME)
    fresh = f"{target}.new"
    fd = io.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        written = 0
        while written < len(content):
            written += io.pwrite(fd, content[written:], written)
        io.fsync(fd)
    finally:
        io.close(fd)
    io.rename(fresh, target)
    io.fsync_dir(folder)
