"""
Following the journal: one position that walks through the segments, without a lock.

Frames are the truth and the control page is a hint. The reader decodes whole frames from where it
stands; the page only tells whether bytes that are no frame are still being written or are damaged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.journal.control import BASE, SEQUENCE, ControlPage
from strata_mcp.journal.frame import Stop, decode_frames
from strata_mcp.journal.port import JournalTruncated
from strata_mcp.model import FRESH_HEAD

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo
    from strata_mcp.journal.segment import Segments
    from strata_mcp.model import Commit

NO_FD: Final = -1
UNLEVEL: Final = -1
"""A level no sequence ever has."""

_READ_AHEAD_BYTES: Final = 4096
_NOWHERE: Final = -1


class LogReader:
    """A position in the journal. `FileJournal` adds the writing."""

    def __init__(self, control: ControlPage, segments: Segments, io: OsIo, start_after: int) -> None:
        """Stand behind the commits up to `start_after`; the first `read` opens the segment."""
        self.damage: StrataError | None = None
        self.segments = segments
        self.control_words = control.words
        self._control = control
        self._io = io
        self._fd = NO_FD
        self._segment = 0
        self._offset = 0
        self._scan_head = 0
        self._truncated_at = _NOWHERE
        self.seek(start_after)

    @property
    def base(self) -> int:
        """Every commit with a timestamp up to here has been checkpointed and dropped."""
        base: int = self.control_words[BASE]
        return base

    def stale(self) -> bool:
        """Tell whether others committed or truncated since `seen`; `control_words[0] != seen` is the same."""
        return self.control_words[0] != self.seen

    def seek(self, after: int) -> None:
        """Make the next `read` start with the first commit whose timestamp is above `after`."""
        self._leave()
        self._after = self.head = max(after, FRESH_HEAD)
        self.damage = None
        self.seen = UNLEVEL

    def read(self) -> list[Commit]:
        """
        Return the commits after the last one this handle has read or appended, in order.

        Commits before a damaged place are returned and `seen` stays unlevel; the next call raises.

        Raises:
            JournalTruncated: commits between the position and the log's start were dropped.
            StrataError: `data_loss.engine.journal` with the segment and offset that cannot be read.
        """
        sequence = self.control_words[SEQUENCE]
        if self.damage is not None:
            self.seen = sequence
            raise self.damage.with_traceback(None)
        commits: list[Commit] = []
        try:
            if self._fd == NO_FD:
                self._enter_first()
            elif self.base > self.head:
                raise self._truncated()
            while self._read_segment(commits):
                pass
        except StrataError as error:
            self.damage = error
            self.seen = UNLEVEL if commits else sequence
            if commits:
                return commits
            raise
        self.seen = sequence
        return commits

    # ---- frames ----

    def _read_segment(self, commits: list[Commit]) -> bool:
        """Take what the segment holds from here on; True when the position is now in the next segment."""
        tail_segment, tail_offset = self._control.tail()
        size = os.fstat(self._fd).st_size
        is_finished = tail_segment > self._segment
        published = 0
        if is_finished:
            published = size
        elif tail_segment == self._segment:
            published = tail_offset
        self._take_frames(commits, published, size)
        if is_finished:
            if self._offset < size and self._pread(size - self._offset).strip(b"\0"):
                raise self._damaged("a frame fails its check")
            self._enter_next()
            return True
        if self._offset < published:
            raise self._damaged("a frame fails its check")
        return False

    def _take_frames(self, commits: list[Commit], published: int, size: int) -> None:
        wanted = max(published - self._offset, _READ_AHEAD_BYTES)
        while True:
            data = self._pread(wanted)
            frames = decode_frames(data, self._scan_head)
            if frames.commits:
                after = self._after
                if self._scan_head < after:
                    commits.extend(commit for commit in frames.commits if commit.timestamp > after)
                else:
                    commits.extend(frames.commits)
                self._scan_head = frames.head
                self._offset += frames.size_bytes
                if frames.head > self.head:
                    self.head = frames.head
            if frames.stop is not Stop.SHORT or len(data) < wanted or self._offset + frames.needed_bytes > size:
                return
            wanted = max(frames.needed_bytes, published - self._offset, _READ_AHEAD_BYTES)

    def _pread(self, size_bytes: int) -> bytes:
        try:
            return self._io.pread(self._fd, size_bytes, self._offset)
        except OSError as error:
            raise self._damaged(error.strerror or "the disk cannot read it") from error

    # ---- segments ----

    def _enter_first(self) -> None:
        while True:
            firsts = self.segments.firsts()
            start = max((first for first in firsts if first <= self._after + 1), default=None)
            if start is None:
                oldest = firsts[0] if firsts else 0
                if firsts and self.base >= oldest - 1:
                    raise self._truncated()
                raise self._missing(self._after + 1)
            if self._enter(start):
                return

    def _enter_next(self) -> None:
        expected = (self._scan_head + 1, self.head + 1)
        while True:
            firsts = self.segments.firsts()
            following = next((first for first in firsts if first > self._segment), None)
            if following is None:
                raise self._missing(self.head + 1)
            if following not in expected:
                if self.base >= following - 1:
                    raise self._truncated()
                raise self._missing(self.head + 1)
            if self._enter(following):
                return

    def _enter(self, first: int) -> bool:
        """Move to the start of a segment; False when it was dropped in this moment."""
        try:
            fd = self.segments.open(first)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise fail(
                "data_loss.engine.journal",
                f"a journal segment cannot be opened: {error.strerror}",
                segment=self.segments.name(first),
                offset=0,
            ) from error
        self._leave()
        self._fd = fd
        self._segment = first
        self._offset = 0
        self._scan_head = first - 1
        if first - 1 > self.head:
            self.head = first - 1
        return True

    def _leave(self) -> None:
        """Let go of the segment the position is in."""
        if self._fd != NO_FD:
            fd, self._fd = self._fd, NO_FD
            self._io.close(fd)

    # ---- what can be wrong ----

    def _truncated(self) -> Exception:
        """Ask for the checkpoint that covers the gap; when it was asked for already, there is none."""
        if self.head <= self._truncated_at:
            return self._missing(self.head + 1)
        self._truncated_at = self.head
        return JournalTruncated(f"commits up to {self.base} were dropped, this handle stands at {self.head}")

    def _missing(self, first: int) -> StrataError:
        return fail(
            "data_loss.engine.journal",
            f"the journal segment that starts with commit {first} is missing; the commits before it are intact",
            segment=self.segments.name(first),
            offset=0,
        )

    def _damaged(self, reason: str) -> StrataError:
        return fail(
            "data_loss.engine.journal", segment=self.segments.name(self._segment), offset=self._offset, reason=reason
        )
