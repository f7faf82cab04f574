"""
The folder of a database: what makes a folder ours, and how an empty one becomes ours.

The subfolders come first and `FORMAT` last, so a folder without it was never used. Several processes may
do this at the same moment; each step of one of them suits the others.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import fail

if TYPE_CHECKING:
    from strata_mcp.errors import StrataError
    from strata_mcp.journal.io import OsIo

JOURNAL_FOLDER: Final = "journal"
TABLES_FOLDER: Final = "tables"
INDEXES_FOLDER: Final = "indexes"
FOLDERS: Final = (JOURNAL_FOLDER, TABLES_FOLDER, INDEXES_FOLDER)

FORMAT_FILE: Final = "FORMAT"
FORMAT_NAME: Final = "strata"
FORMAT_VERSION: Final = 1
_FORMAT_BYTES_MAX: Final = 256


def prepare(path: Path, io: OsIo) -> bool:
    """
    Make sure `path` is a database folder this build can open.

    A missing last folder of the path is created, an empty folder becomes a database, any other folder
    without our `FORMAT` is left alone.

    Returns:
        True when this call made the database.

    Raises:
        StrataError: `invalid_argument.engine.persistence` for a path no database can be at,
            `failed_precondition.engine.foreign_folder` for a folder with other files in it,
            `failed_precondition.engine.format_version` for a format of a newer build.
    """
    try:
        _make_folder(path, io)
        if _check_format(path):
            _complete(path, io)
            return False
        if not _is_creatable(path):
            # Someone else may have finished creating it between our two looks.
            if _check_format(path):
                _complete(path, io)
                return False
            raise fail("failed_precondition.engine.foreign_folder", path=os.fspath(path))
        _make_subfolders(path, io, FOLDERS)
        _write_format(path, io)
    except OSError as error:
        raise _unusable(path, f"{error.strerror or error}") from error
    return True


def _make_folder(path: Path, io: OsIo) -> None:
    if path.is_dir():
        return
    if os.path.lexists(path) and not path.is_dir():  # looked at again: another process may have made it just now
        raise _unusable(path, "it is not a folder")
    if not path.parent.is_dir():
        raise _unusable(path, f"its parent folder {os.fspath(path.parent)} does not exist; create that first")
    try:
        io.mkdir(path)
    except FileExistsError:
        return
    io.fsync_dir(path.parent)


def _complete(path: Path, io: OsIo) -> None:
    """Make again what can be rebuilt; refuse a database that lost what cannot."""
    for name in (JOURNAL_FOLDER, TABLES_FOLDER):
        if not (path / name).is_dir():
            raise fail(
                "data_loss.engine.control_plane_missing",
                f"the folder {name} of the database is gone; restore it from a copy",
                path=os.fspath(path / name),
            )
    _make_subfolders(path, io, (INDEXES_FOLDER,))


def _make_subfolders(path: Path, io: OsIo, names: tuple[str, ...]) -> None:
    for name in names:
        folder = path / name
        if not folder.is_dir():
            try:
                io.mkdir(folder)
            except FileExistsError:
                continue


def _check_format(path: Path) -> bool:
    """Tell whether the folder is a database; refuses one this build cannot read."""
    try:
        with open(path / FORMAT_FILE, "rb") as file:
            words = file.read(_FORMAT_BYTES_MAX).decode("utf-8", "replace").split()
    except FileNotFoundError:
        return False
    if len(words) < 2 or words[0] != FORMAT_NAME or not words[1].isdecimal():
        raise fail("failed_precondition.engine.foreign_folder", path=os.fspath(path))
    version = int(words[1])
    if not 1 <= version <= FORMAT_VERSION:
        raise fail(
            "failed_precondition.engine.format_version",
            path=os.fspath(path),
            format_version=version,
            known_version=FORMAT_VERSION,
        )
    return True


def _is_creatable(path: Path) -> bool:
    """Tell whether the folder holds nothing but what an interrupted creation leaves behind."""
    return all(_is_temporary(entry.name) or _is_ours_and_empty(entry) for entry in path.iterdir())


def _is_ours_and_empty(entry: Path) -> bool:
    return entry.name in FOLDERS and entry.is_dir() and not os.listdir(entry)


def _is_temporary(name: str) -> bool:
    return name.startswith(f"{FORMAT_FILE}.") and name.endswith(".tmp")


def _write_format(path: Path, io: OsIo) -> None:
    temporary = path / f"{FORMAT_FILE}.{os.getpid()}.{threading.get_ident()}.tmp"
    final = path / FORMAT_FILE
    fd = io.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        io.pwrite(fd, f"{FORMAT_NAME} {FORMAT_VERSION}\n".encode(), 0)
        io.fsync(fd)
    finally:
        io.close(fd)
    try:
        io.rename(temporary, final)
    except FileNotFoundError:
        # Another creator finished first and swept our temporary file away.
        if not final.exists():
            raise
    for name in os.listdir(path):
        if _is_temporary(name):
            try:
                io.unlink(path / name)
            except FileNotFoundError:
                continue
    io.fsync_dir(path)


def _unusable(path: Path, reason: str) -> StrataError:
    return fail(
        "invalid_argument.engine.persistence",
        f"no database can be at {os.fspath(path)}: {reason}",
        field="path",
        path=os.fspath(path),
    )
