"""The embedded journal: segment files in one folder, shared by any number of processes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from strata_mcp.errors import StrataError, fail
from strata_mcp.journal import handles
from strata_mcp.journal.control import (
    ACTIVE,
    BASE,
    FINISHED_BYTES,
    HEAD,
    LOCK_EXCLUSIVE,
    LOCK_RELEASE,
    LOCK_SHARED,
    LOCK_WITHOUT_WAITING,
    OFFSET,
    SEGMENT,
    ControlPage,
    flock,
)
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.reader import NO_FD, UNLEVEL
from strata_mcp.journal.recovery import recover
from strata_mcp.journal.segment import SEGMENT_BYTES, Segments
from strata_mcp.journal.writer import LogWriter
from strata_mcp.model import Durability

_CLOSED = "failed_precondition.sdk.handle_closed"
_FORKED = "failed_precondition.sdk.fork_not_supported"


class FileJournal(LogWriter):
    """One handle on the journal in a folder."""

    def __init__(
        self,
        path: Path,
        durability: Durability,
        io: OsIo | None = None,
        *,
        start_after: int = 0,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        """
        Open the journal, making its first segment when there is none.

        Args:
            path: an existing folder that nothing but the journal writes to.
            durability: what an acknowledged commit must have survived.
            io: the operating system, or a test's stand-in for it.
            start_after: commits up to here are in the tables already and need not be read.
            segment_bytes: space reserved at a time.

        Raises:
            StrataError: `io.engine.journal_write` when the files cannot be opened or made.
        """
        io = io or OsIo()
        self.recovered_bytes = 0
        self._start_after = start_after
        self._lock = Lock()
        try:
            self._folder_fd = _share_folder(path)
            try:
                control = ControlPage(path, io)
            except BaseException:
                os.close(self._folder_fd)
                raise
        except OSError as error:
            raise _cannot_open(path, error) from error
        self._lock_fd = control.lock_fd
        super().__init__(
            control, Segments(path, io), io, start_after, durability=durability, segment_bytes=segment_bytes
        )
        try:
            if control.words[ACTIVE] or not control.is_sound():
                self._recover()
            if self._must_sync:
                self.segments.sync_all()
        except OSError as error:
            self._let_go(_CLOSED)
            raise _cannot_open(path, error) from error
        except BaseException:
            self._let_go(_CLOSED)
            raise
        flock(self._lock_fd, LOCK_RELEASE)
        handles.remember(self)

    @property
    def torn_bytes(self) -> int:
        """Same as `recovered_bytes`."""
        return self.recovered_bytes

    # ---- the lock ----

    def acquire(self) -> None:
        """Take the write lock, exclusive between processes and threads; repairs what a dead writer left."""
        self._lock.acquire()
        try:
            flock(self._lock_fd, LOCK_EXCLUSIVE)
            if self.control_words[ACTIVE]:
                self._recover()
        except (OSError, ValueError) as error:
            self._unlock()
            raise self._cannot("the journal could not be locked", error) from error
        except BaseException:
            self._unlock()
            raise

    def release(self) -> None:
        """Give the write lock back."""
        try:
            flock(self._lock_fd, LOCK_RELEASE)
        finally:
            self._lock.release()

    def _unlock(self) -> None:
        try:
            if self._lock_fd != NO_FD:
                flock(self._lock_fd, LOCK_RELEASE)
        finally:
            self._lock.release()

    def _recover(self) -> None:
        self.recovered_bytes += recover(
            self._control, self.segments, self._io, self._start_after, must_sync=self._must_sync
        )

    # ---- the rest of the port ----

    def size_bytes(self) -> int:
        """Bytes of commits not dropped yet."""
        size: int = self.control_words[FINISHED_BYTES] + self.control_words[OFFSET]
        return size

    def truncate(self, upto: int) -> None:
        """
        Drop whole segments whose commits all lie at or below `upto`; takes the lock itself.

        Raises:
            StrataError: `io.engine.journal_write` when the files could not be changed.
        """
        self.acquire()
        try:
            if self.damage is not None:
                raise self.damage.with_traceback(None)
            if self.read_only:
                raise fail("failed_precondition.engine.read_only_after_error")
            self._truncate(upto)
        except OSError as error:
            raise self._cannot("journal segments could not be dropped", error) from error
        finally:
            self.release()

    def _truncate(self, upto: int) -> None:
        words = self.control_words
        active, head = words[SEGMENT], words[HEAD]
        firsts = self.segments.firsts()
        if head <= upto and words[OFFSET] > 0:
            words[ACTIVE] = 1
            self.segments.trim(active, words[OFFSET])
            self._io.close(self.segments.open(head + 1, create=True))
            self._publish_segment(head + 1, words[FINISHED_BYTES] + words[OFFSET], words[BASE])
            firsts.append(head + 1)
        kept = max((first for first in firsts if first <= upto + 1), default=firsts[0])
        dropped = [first for first in firsts if first < kept]
        if not dropped:
            return
        words[ACTIVE] = 1
        self._control.write(
            segment=words[SEGMENT],
            offset=words[OFFSET],
            head=words[HEAD],
            base=max(words[BASE], kept - 1),
            finished_bytes=sum(self.segments.size_bytes(first) for first in firsts if kept <= first < words[SEGMENT]),
        )
        for first in dropped:
            self._io.unlink(self.segments.path(first))
        if self._must_sync:
            self._io.fsync_dir(self.segments.folder)

    # ---- the end ----

    def close(self) -> None:
        """Give the reserved space back and let go of every resource; a second call does nothing."""
        if self._closed_code:
            return
        try:
            if self.damage is None and not self.read_only:
                self._trim()
        finally:
            self._let_go(_CLOSED)

    def _trim(self) -> None:
        """Give back the space reserved behind the tail, unless someone else may still use it."""
        self.acquire()
        try:
            flock(self._folder_fd, LOCK_EXCLUSIVE | LOCK_WITHOUT_WAITING)
            self.segments.trim(self.control_words[SEGMENT], self.control_words[OFFSET])
        except OSError:
            pass  # the space stays reserved until the last handle closes
        finally:
            self.release()

    def _let_go(self, code: str) -> None:
        self._closed_code = code
        self._append_level = self.seen = UNLEVEL
        descriptors = (self._lock_fd, self._folder_fd, self._fd)
        self._lock_fd = self._folder_fd = self._fd = NO_FD
        for fd in descriptors:
            if fd != NO_FD:
                self._io.close(fd)

    def __del__(self) -> None:
        """Let go of the files of a handle nobody closed; the space it reserved waits for the next close."""
        if not getattr(self, "_closed_code", _CLOSED):
            self._let_go(_CLOSED)

    def forget_after_fork(self) -> None:
        """In a forked child: refuse everything and leave the parent's lock alone."""
        if not self._closed_code:
            self._lock = Lock()
            self._let_go(_FORKED)


def _share_folder(path: Path) -> int:
    """Show the other handles that there is one more; the last to close gives the reserved space back."""
    fd = os.open(path, os.O_RDONLY)
    try:
        flock(fd, LOCK_SHARED)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _cannot_open(path: Path, error: OSError) -> StrataError:
    return fail(
        "io.engine.journal_write",
        f"the journal in {os.fspath(path)} could not be opened: {error.strerror}; nothing was changed",
        path=os.fspath(path),
        reason=error.strerror or str(error),
    )
