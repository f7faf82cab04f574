"""
Appending to the journal: one frame per commit, written at the position a level reader stands at.

The caller holds the write lock. ACTIVE is on in the control page while the files and the page may
disagree; whoever finds it on after taking the lock knows that the last writer did not finish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from strata_mcp.errors import StrataError, fail
from strata_mcp.journal.control import ACTIVE, BASE, CHECK, FINISHED_BYTES, HEAD, OFFSET, SEQUENCE, ControlPage
from strata_mcp.journal.frame import HEADER, HEADER_BYTES, MASK, SETTLED_UNKNOWN, encode_commit
from strata_mcp.journal.group import GroupSync
from strata_mcp.journal.reader import NO_FD, UNLEVEL, LogReader
from strata_mcp.model import Durability

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo
    from strata_mcp.journal.segment import Segments
    from strata_mcp.model import Commit

_pack = HEADER.pack


class LogWriter(LogReader):
    """A position that can be written at. `FileJournal` adds the lock around it."""

    def __init__(
        self,
        control: ControlPage,
        segments: Segments,
        io: OsIo,
        start_after: int,
        *,
        durability: Durability,
        segment_bytes: int,
    ) -> None:
        """Stand behind the commits up to `start_after`, not level yet."""
        self.durability = durability
        self.read_only = False
        self._closed_code = ""
        self._must_sync = durability is Durability.ALWAYS
        self._segment_bytes = segment_bytes
        self._group = GroupSync()
        self._settled = 0 if self._must_sync else SETTLED_UNKNOWN
        self._capacity = 0
        self._check_rest = 0
        self._append_level = UNLEVEL
        self._pwrite = io.pwrite
        super().__init__(control, segments, io, start_after)

    def read(self) -> list[Commit]:
        """
        Return the commits after the last one this handle has read or appended, in order.

        Commits before a damaged place are returned and `seen` stays unlevel; the next call raises.

        Raises:
            JournalTruncated: commits between the position and the log's start were dropped.
            StrataError: `data_loss.engine.journal` with the segment and offset that cannot be read.
        """
        if self._closed_code:
            raise fail(self._closed_code)
        self._append_level = UNLEVEL
        commits = super().read()
        if self.damage is None:
            self._check_rest = self._control.check_rest()
            self._append_level = self.seen
        return commits

    def append(self, commit: Commit) -> None:
        """
        Write one commit; the caller holds the lock and is level.

        Raises:
            StrataError: `io.engine.journal_write` when the bytes could not be written; nothing of the
                commit remains and the handle is read-only.
        """
        words = self.control_words
        level = words[SEQUENCE]
        if level != self._append_level or commit.timestamp <= self.head or self.read_only:
            raise self._refusal(commit)
        payload = encode_commit(commit)
        length = len(payload)
        offset = self._offset
        end = offset + HEADER_BYTES + length
        if end > self._capacity:
            self._make_room(HEADER_BYTES + length)
            level = words[SEQUENCE]
            offset = self._offset
            end = offset + HEADER_BYTES + length
        settled = self._settled
        frame = _pack(length, crc32(payload, (length + settled) & MASK), settled) + payload
        words[ACTIVE] = 1
        try:
            written = self._pwrite(self._fd, frame, offset)
            if offset + written != end:
                self._write_rest(frame, offset, written)
        except OSError as error:
            raise self._write_failed(error, offset) from error
        head = commit.last
        words[OFFSET] = end
        words[HEAD] = head
        words[CHECK] = self._check_rest ^ end ^ head
        words[SEQUENCE] = level = level + 1
        self._offset = end
        self.head = head
        self.seen = self._append_level = level
        words[ACTIVE] = 0

    def _write_rest(self, frame: bytes, offset: int, written: int) -> None:
        """Finish a write the system cut short; the second attempt says why."""
        while written < len(frame):
            step = self._pwrite(self._fd, memoryview(frame)[written:], offset + written)
            if step == 0:
                raise OSError(f"the system wrote {written} of {len(frame)} bytes")
            written += step

    def _write_failed(self, error: OSError, offset: int) -> StrataError:
        self._stop_writing()
        try:
            self._io.ftruncate(self._fd, offset)
        except OSError:
            pass  # ACTIVE stays on: whoever takes the lock next cuts the frame
        else:
            self.control_words[ACTIVE] = 0
        return self._cannot("the journal could not be written", error)

    def _stop_writing(self) -> None:
        self.read_only = True
        self._append_level = UNLEVEL

    def _refusal(self, commit: Commit) -> StrataError:
        if self._closed_code:
            return fail(self._closed_code)
        if self.damage is not None:
            return self.damage.with_traceback(None)
        if self.read_only:
            return fail("failed_precondition.engine.read_only_after_error")
        return fail(
            "internal.engine.persistence",
            "a commit was appended by a handle that is not level with the journal, or out of order",
            timestamp=commit.timestamp,
            head=self.head,
        )

    # ---- segments ----

    def _make_room(self, frame_bytes: int) -> None:
        """Have space reserved for a frame, in this segment or in a new one."""
        reserve_bytes = max(self._segment_bytes, frame_bytes)
        try:
            if self._offset + frame_bytes > reserve_bytes:
                self._roll()
            self._io.fallocate(self._fd, reserve_bytes)
            if self._must_sync:
                self._io.fsync(self._fd)
                self._io.fsync_dir(self.segments.folder)
        except OSError as error:
            self._stop_writing()
            raise self._cannot("no space could be reserved for the journal", error) from error
        self._capacity = reserve_bytes

    def _roll(self) -> None:
        """Finish the segment and move to a fresh one; dying in between leaves an empty one behind."""
        words = self.control_words
        first = self.head + 1
        self._settle()
        if self._group.failure is not None:
            raise self._group.failure
        words[ACTIVE] = 1
        self._io.ftruncate(self._fd, self._offset)
        fd, finished_fd = self.segments.open(first, create=True), self._fd
        finished_bytes = words[FINISHED_BYTES] + self._offset
        self._fd = fd
        self._segment = first
        self._offset = 0
        self._scan_head = self.head
        self._publish_segment(first, finished_bytes, words[BASE])
        self._check_rest = self._control.check_rest()
        self._append_level = self.seen = words[SEQUENCE]
        self._io.close(finished_fd)

    def _publish_segment(self, first: int, finished_bytes: int, base: int) -> None:
        self._control.write(segment=first, offset=0, head=first - 1, base=base, finished_bytes=finished_bytes)

    def _leave(self) -> None:
        """Let go of the segment the position is in, on disk first where that was promised."""
        self._settle()
        self._capacity = 0
        self._append_level = UNLEVEL
        super()._leave()

    def _settle(self) -> None:
        if self._fd != NO_FD and self._must_sync:
            self._group.settle(self._flush)
            self._settled = 0

    # ---- durability ----

    def sync(self) -> None:
        """
        Return once everything appended through this handle is on disk; nothing to do unless `always`.

        Raises:
            StrataError: `io.engine.journal_sync`: the commit may or may not survive a power cut.
        """
        if not self._must_sync:
            return
        if self._closed_code:
            raise fail(self._closed_code)
        try:
            self._group.wait(self.head, self._flush)
        except StrataError:
            self._stop_writing()
            raise

    def _flush(self) -> int:
        head, offset = self.head, self._offset
        if self._fd != NO_FD:  # after a seek there is nothing left: leaving the segment put it on disk
            self._io.fdatasync(self._fd)
            self._settled = offset
        return head

    def _cannot(self, what: str, error: Exception) -> StrataError:
        if self._closed_code:
            return fail(self._closed_code)
        return _write_error(what, error)


def _write_error(what: str, error: Exception) -> StrataError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return fail("io.engine.journal_write", f"{what}: {reason}; nothing was committed", reason=reason)
