"""
The control page: one memory-mapped file that tells every handle in every process where the journal ends.

It also carries the write lock. It is a hint about the segments, never the truth: after a power cut, on a
copy of the folder or when its bytes do not add up, it is rebuilt from them.

Writers change it under the lock, in this order: ACTIVE on, OFFSET, HEAD, CHECK, SEQUENCE, ACTIVE off.
Each word is written whole, so a reader needs no lock: SEQUENCE read before the frames can only make it
read again, never too little.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import fail

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo

if sys.platform == "win32":
    LOCK_EXCLUSIVE: Final = 0
    LOCK_SHARED: Final = 0
    LOCK_WITHOUT_WAITING: Final = 0
    LOCK_RELEASE: Final = 0

    def flock(fd: int, operation: int) -> None:
        """Refuse: there is no lock between processes here that the journal could use."""
        raise fail(
            "unsupported.engine.persistence_capability",
            "databases on disk need a POSIX system; open a cache database, or use WSL",
        )

else:
    from fcntl import LOCK_EX as LOCK_EXCLUSIVE
    from fcntl import LOCK_NB as LOCK_WITHOUT_WAITING
    from fcntl import LOCK_SH as LOCK_SHARED
    from fcntl import LOCK_UN as LOCK_RELEASE
    from fcntl import flock

__all__ = ["LOCK_EXCLUSIVE", "LOCK_RELEASE", "LOCK_SHARED", "LOCK_WITHOUT_WAITING", "ControlPage", "flock"]

SEQUENCE: Final = 0
"""Changes with every append, truncation and recovery."""
ACTIVE: Final = 1
"""Not zero while a writer is at work; the next holder of the lock then knows that one died."""
SEGMENT: Final = 2
"""First number of the segment that takes the next frame."""
OFFSET: Final = 3
"""Where in it the next frame goes."""
HEAD: Final = 4
BASE: Final = 5
FINISHED_BYTES: Final = 6
"""Bytes in the segments before it."""
CHECK: Final = 7
"""Words 2 to 6 and the magic, xored."""
MAGIC: Final = 8
FORMAT: Final = 9
IDENTITY: Final = 10
"""Of this file since this system start: differs on a copy and after a restart."""

PAGE_BYTES: Final = 4096
MAGIC_VALUE: Final = int.from_bytes(b"strataJ1", "little")
FORMAT_VERSION: Final = 1
SEQUENCE_LIMIT: Final = 1 << 62


class ControlPage:
    """The mapped page and the lock file behind it; closing it leaves the words readable."""

    def __init__(self, folder: Path, io: OsIo) -> None:
        path = os.path.join(folder, "control")
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
        self.lock_fd = io.open(path, flags | os.O_CREAT, 0o644)
        try:
            flock(self.lock_fd, LOCK_EXCLUSIVE)
            size = os.fstat(self.lock_fd).st_size
            if size < PAGE_BYTES:
                # Written, not just grown: a store through the map must not find the disk full.
                io.pwrite(self.lock_fd, bytes(PAGE_BYTES - size), size)
            # The map keeps a descriptor of its own. It must not be a duplicate of the lock's: in a
            # forked child it would keep the lock alive after the parent died.
            map_fd = os.open(path, flags)
            try:
                mapped = mmap.mmap(map_fd, PAGE_BYTES)
            finally:
                os.close(map_fd)
        except BaseException:
            io.close(self.lock_fd)
            raise
        self.words = memoryview(mapped).cast("Q")
        status = os.fstat(self.lock_fd)
        self._identity = _identity(status.st_dev, status.st_ino)

    def tail(self) -> tuple[int, int]:
        """Segment and offset up to which frames are published, or less while a writer changes segments."""
        words = self.words
        while True:
            segment = words[SEGMENT]
            offset = words[OFFSET]
            if words[SEGMENT] == segment:
                return segment, offset

    def is_sound(self) -> bool:
        """Tell whether the words can be believed; the caller holds the lock."""
        words = self.words
        return (
            words[MAGIC] == MAGIC_VALUE
            and words[FORMAT] == FORMAT_VERSION
            and words[IDENTITY] == self._identity
            and words[CHECK] == self.check_rest() ^ words[OFFSET] ^ words[HEAD]
        )

    def check_rest(self) -> int:
        """Return the part of CHECK that an append leaves alone."""
        words = self.words
        rest: int = words[SEGMENT] ^ words[BASE] ^ words[FINISHED_BYTES] ^ MAGIC_VALUE
        return rest

    def write(self, *, segment: int, offset: int, head: int, base: int, finished_bytes: int) -> None:
        """Publish a new state of the journal and end the writer's activity; the caller holds the lock."""
        words = self.words
        words[OFFSET] = 0
        words[SEGMENT] = segment
        words[OFFSET] = offset
        words[HEAD] = head
        words[BASE] = base
        words[FINISHED_BYTES] = finished_bytes
        words[CHECK] = self.check_rest() ^ offset ^ head
        words[MAGIC] = MAGIC_VALUE
        words[FORMAT] = FORMAT_VERSION
        words[IDENTITY] = self._identity
        words[SEQUENCE] = (words[SEQUENCE] + 1) % SEQUENCE_LIMIT
        words[ACTIVE] = 0


def _identity(device: int, inode: int) -> int:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read()
    except OSError:
        # Without a name for this system start the page is rebuilt at every open: slower, never wrong.
        boot = str(os.getpid())
    digest = hashlib.blake2b(f"{boot} {device} {inode}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
