"""
Bringing the control page level with the segments after a writer died or the page was lost.

The last segment decides. Whatever follows its last whole frame is either an unfinished frame nobody was
told about, which is cut, or proof that acknowledged commits are damaged, which is left for readers to meet.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from strata_mcp.journal.control import ACTIVE, BASE, HEAD, MAGIC, OFFSET, SEGMENT
from strata_mcp.journal.frame import decode_frames, later_frame
from strata_mcp.model import FRESH_HEAD

if TYPE_CHECKING:
    from strata_mcp.journal.control import ControlPage
    from strata_mcp.journal.io import OsIo
    from strata_mcp.journal.segment import Segments

NO_SEGMENT: Final = 0


def recover(control: ControlPage, segments: Segments, io: OsIo, start_after: int, *, must_sync: bool) -> int:
    """
    Rebuild the control page; the caller holds the lock.

    Returns:
        Bytes of an unfinished frame that were cut off the tail.
    """
    words = control.words
    is_sound = control.is_sound()
    firsts = segments.firsts()
    if not firsts and not _create_first(control, segments, io, start_after, must_sync=must_sync):
        return 0
    firsts = firsts or segments.firsts()
    last = firsts[-1]
    published = words[OFFSET] if is_sound and words[SEGMENT] == last else 0
    fd = segments.open(last)
    try:
        data = io.pread(fd, os.fstat(fd).st_size, 0)
        offset, head, torn_bytes = _find_tail(data, last - 1, published)
        if published > offset:
            offset, head = published, words[HEAD]
        elif torn_bytes:
            io.ftruncate(fd, offset)
    finally:
        io.close(fd)
    control.write(
        segment=last,
        offset=offset,
        head=head,
        base=words[BASE] if is_sound else firsts[0] - 1,
        finished_bytes=sum(segments.size_bytes(first) for first in firsts[:-1]),
    )
    return torn_bytes


def _find_tail(data: bytes, head: int, published: int) -> tuple[int, int, int]:
    """Return the tail's offset, the last commit's number and how many bytes behind the tail have to go."""
    frames = decode_frames(data, head)
    size = frames.size_bytes
    used_bytes = len(data[size:].rstrip(b"\0"))
    if used_bytes == 0:
        return size, frames.head, 0
    if published == 0:
        later = later_frame(data[size:], frames.head, size)
        if later is not None:
            return size + later.end, later.head, 0
    return size, frames.head, 0 if published > size else used_bytes


def _create_first(control: ControlPage, segments: Segments, io: OsIo, start_after: int, *, must_sync: bool) -> bool:
    """Start a new journal, or, when there was one and its segments are gone, say where it should have been."""
    words = control.words
    if words[MAGIC] == 0 and start_after <= FRESH_HEAD:
        io.close(segments.open(FRESH_HEAD + 1, create=True))
        if must_sync:
            io.fsync_dir(segments.folder)
        return True
    if control.is_sound():
        words[ACTIVE] = 0
    else:
        head = max(start_after, FRESH_HEAD)
        control.write(segment=head + 1, offset=0, head=head, base=FRESH_HEAD, finished_bytes=0)
    return False
