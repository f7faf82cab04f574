"""Files of the tables: their names, digests, and making them durable."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.tables.schema import TABLE_NAMES
from strata_mcp.tables.state import DIGEST_BYTES, CheckpointState, FileEntry, TableState, tables_path

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo

LOCK_NAME: Final = "checkpoint.lock"
FOLDERS: Final = ("data", "_versions", "_transactions")
"""Where a Lance dataset keeps its files."""

_NEWEST_FIRST: Final = 2**64 - 1
"""Lance names a manifest after this number minus the version."""


def dataset_path(db_path: Path, table: str) -> str:
    """Folder of one table."""
    return os.path.join(tables_path(db_path), f"{table}.lance")


def manifest_name(version: int) -> str:
    """File name of the manifest of a version."""
    return f"{_NEWEST_FIRST - version:020d}.manifest"


def table_damage(table: str, file: str, problem: str) -> StrataError:
    """Build the error for a file that is not what was written."""
    return fail("data_loss.engine.table", f"table {table}: {file} {problem}", table=table, file=file)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def discard_unrecorded(db_path: Path, table: str, version: int, io: OsIo) -> None:
    """
    Remove manifests newer than a version, so that it is the newest again (0: so that there is none).

    They stem from a checkpoint that did not get as far as its record: all their rows are still in the
    journal. A manifest torn by a power cut goes the same way.
    """
    folder = os.path.join(dataset_path(db_path, table), "_versions")
    for name in _names(folder):
        stem, _, suffix = name.partition(".")
        if suffix == "manifest" and stem.isdigit() and _NEWEST_FIRST - int(stem) > version:
            io.unlink(os.path.join(folder, name))


def entry_of(db_path: Path, relative_path: str) -> FileEntry:
    """Size and digest of a file that was just written."""
    size_bytes, digest = _measure(os.path.join(tables_path(db_path), relative_path))
    return FileEntry(relative_path, size_bytes, digest)


def _measure(path: str) -> tuple[int, str]:
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    size_bytes = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size_bytes += len(block)
    return size_bytes, digest.hexdigest()


def check_sizes(db_path: Path, table: str, state: TableState) -> None:
    """
    Check that every file of a table is there and as long as it was.

    Raises:
        FileNotFoundError: one is gone.
        StrataError: `data_loss.engine.table`, one has another length.
    """
    folder = tables_path(db_path)
    for file in state.files:
        size_bytes = os.stat(os.path.join(folder, file.path)).st_size
        if size_bytes != file.size_bytes:
            raise table_damage(table, file.path, f"has {size_bytes} bytes instead of {file.size_bytes}")


def check_digests(db_path: Path, table: str, state: TableState) -> None:
    """
    Check that every file of a table holds what was written.

    Raises:
        FileNotFoundError: one is gone.
        StrataError: `data_loss.engine.table`, one was changed.
    """
    for file in state.files:
        measured = _measure(os.path.join(tables_path(db_path), file.path))
        if measured != (file.size_bytes, file.digest):
            raise table_damage(table, file.path, "is not what was written: its digest differs")


def sync_table(db_path: Path, table: str, paths: Iterable[str], io: OsIo) -> None:
    """Make files of a table, given relative to the folder of tables, and their names durable."""
    for path in paths:
        fd = io.open(os.path.join(tables_path(db_path), path), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            io.fsync(fd)
        finally:
            io.close(fd)
    root = dataset_path(db_path, table)
    for name in ("data", "_versions"):
        io.fsync_dir(os.path.join(root, name))
    io.fsync_dir(root)


def sweep(db_path: Path, state: CheckpointState, io: OsIo) -> int:
    """
    Delete files no reader needs: neither in the record nor retired by it.

    Returns:
        Bytes given back. A file that cannot be deleted now is left for the next sweep.
    """
    kept = state.paths().union(state.retired)
    freed_bytes = 0
    for table in TABLE_NAMES:
        recorded = state.tables.get(table)
        newest_transaction = f"{recorded.version - 1}-" if recorded is not None else "-"
        for relative in _dataset_files(db_path, table):
            if relative in kept or os.path.basename(relative).startswith(newest_transaction):
                continue
            path = os.path.join(tables_path(db_path), relative)
            with contextlib.suppress(OSError):
                size_bytes = os.stat(path).st_size
                io.unlink(path)
                freed_bytes += size_bytes
    return freed_bytes


def _dataset_files(db_path: Path, table: str) -> Iterator[str]:
    root = dataset_path(db_path, table)
    for folder in FOLDERS:
        for name in _names(os.path.join(root, folder)):
            if name.endswith((".lance", ".manifest", ".txn")):
                yield f"{table}.lance/{folder}/{name}"


@contextlib.contextmanager
def checkpoint_lock(db_path: Path, io: OsIo) -> Iterator[bool]:
    """
    Hold the lock of whoever changes the tables, and make their folder first.

    Yields:
        False, at once, when another process has the lock.

    Raises:
        StrataError: `io.engine.checkpoint` for whatever the operating system refuses, also within.
    """
    import fcntl

    try:
        _make_folder(db_path, io)
        fd = io.open(os.path.join(tables_path(db_path), LOCK_NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_ours = True
            except BlockingIOError:
                is_ours = False
            yield is_ours
        finally:
            io.close(fd)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise fail("io.engine.checkpoint", f"the tables could not be written: {reason}") from error


def _make_folder(db_path: Path, io: OsIo) -> None:
    folder = tables_path(db_path)
    if not folder.is_dir():
        with contextlib.suppress(FileExistsError):
            io.mkdir(folder)
        io.fsync_dir(db_path)
