"""
The journal port: what a database needs from its log of commits.

A journal orders commits between threads and processes and keeps each one until the tables hold it.
Every implementation passes the contract suite in `tests/journal/test_contract.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from strata_mcp.errors import StrataError
    from strata_mcp.model import Commit, Durability


class JournalTruncated(Exception):
    """
    Commits this handle has not read yet were checkpointed and dropped.

    Read the newest checkpoint, `seek` to the position it covers, then read again.
    """


class Journal(Protocol):
    """One handle on a log of commits; a handle belongs to one store."""

    @property
    def durability(self) -> Durability:
        """What an acknowledged commit has survived already."""

    @property
    def base(self) -> int:
        """Every commit with a timestamp up to here has been checkpointed and dropped."""

    @property
    def head(self) -> int:
        """Highest number occupied by a commit this handle has seen; at least `FRESH_HEAD`."""

    @property
    def control_words(self) -> memoryview:
        """Eight-byte words shared by all handles; word 0 changes with every append and truncation."""

    @property
    def seen(self) -> int:
        """Value of `control_words[0]` this handle is level with; -1 matches no value."""

    @property
    def damage(self) -> StrataError | None:
        """Why the log cannot be read further, once `read` has met it; appends are refused with it."""

    @property
    def read_only(self) -> bool:
        """A failed write or sync ended the writing life of this handle."""

    @property
    def recovered_bytes(self) -> int:
        """Bytes of unfinished frames this handle cut off the tail; none was ever acknowledged as durable."""

    def stale(self) -> bool:
        """Tell whether others committed or truncated since `seen`."""

    def acquire(self) -> None:
        """Take the write lock, exclusive between processes and threads; not re-entrant."""

    def release(self) -> None:
        """Give the write lock back."""

    def read(self) -> list[Commit]:
        """
        Return the commits after the last one this handle has read or appended, in order.

        Where the log is damaged, what stands before the damage is returned first (`seen` stays
        unlevel and `damage` is set); the next call raises.

        Raises:
            JournalTruncated: commits between the position and the log's start were dropped.
            StrataError: `data_loss.engine.journal` with the segment and offset that cannot be read.
        """

    def seek(self, after: int) -> None:
        """Make the next `read` start with the first commit whose timestamp is above `after`."""

    def append(self, commit: Commit) -> None:
        """
        Write one commit; the caller holds the lock and is level.

        Raises:
            StrataError: `io.engine.journal_write` when the bytes could not be written (nothing of the
                commit remains), `failed_precondition.engine.read_only_after_error` ever after.
        """

    def sync(self) -> None:
        """
        Return once everything appended through this handle is as durable as `durability` promises.

        Called without the lock. Threads that wait together share one flush.

        Raises:
            StrataError: `io.engine.journal_sync`: the commit may or may not survive a power cut.
        """

    def truncate(self, upto: int) -> None:
        """Drop whole segments whose commits all lie at or below `upto`; takes the lock itself."""

    def size_bytes(self) -> int:
        """Bytes of commits not dropped yet."""

    def close(self) -> None:
        """Let go of every resource; a second call does nothing."""
