"""
Segment files: the journal's bytes, cut into pieces that can be dropped whole.

A segment is named after the first number its commits may have, which is one above the last number in
the segment before it: a missing segment shows as a gap between names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo

SEGMENT_BYTES: Final = 4 * 1024 * 1024
"""Space reserved at a time; a commit larger than that gets a segment of its own size."""

_NAME: Final = re.compile(r"(\d{20})\.log")


class Segments:
    """The segment files of one journal folder."""

    def __init__(self, folder: Path, io: OsIo) -> None:
        self.folder = folder
        self._io = io

    def name(self, first: int) -> str:
        """File name of the segment whose commits start at `first`."""
        return f"{first:020d}.log"

    def path(self, first: int) -> str:
        """Full path of the segment whose commits start at `first`."""
        return os.path.join(self.folder, self.name(first))

    def firsts(self) -> list[int]:
        """First numbers of the segments there are, in order."""
        return sorted(int(match[1]) for name in os.listdir(self.folder) if (match := _NAME.fullmatch(name)))

    def open(self, first: int, *, create: bool = False) -> int:
        """Open a segment for reading and writing."""
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
        return self._io.open(self.path(first), flags | os.O_CREAT if create else flags, 0o644)

    def size_bytes(self, first: int) -> int:
        """Length of a segment file, 0 when it is gone."""
        try:
            return os.stat(self.path(first)).st_size
        except FileNotFoundError:
            return 0

    def trim(self, first: int, size_bytes: int) -> None:
        """Cut a segment to the bytes it uses."""
        fd = self.open(first)
        try:
            if os.fstat(fd).st_size > size_bytes:
                self._io.ftruncate(fd, size_bytes)
        finally:
            self._io.close(fd)

    def sync_all(self) -> None:
        """Make every segment and its name durable."""
        for first in self.firsts():
            fd = self.open(first)
            try:
                self._io.fdatasync(fd)
            finally:
                self._io.close(fd)
        self._io.fsync_dir(self.folder)
