"""The journal of a cache handle: it orders commits and forgets them at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from strata_mcp.errors import fail
from strata_mcp.journal.port import JournalTruncated
from strata_mcp.model import FRESH_HEAD, Durability

if TYPE_CHECKING:
    from strata_mcp.errors import StrataError
    from strata_mcp.model import Commit


class MemoryJournal:
    """
    A log nobody else can open and nothing outlives.

    The store that appends a commit is the only one that will ever want it, so each commit counts as
    dropped the moment it is appended: `base` is always `head`.
    """

    durability = Durability.NOT_DURABLE
    damage: StrataError | None = None
    read_only = False
    recovered_bytes = 0

    def __init__(self) -> None:
        self.head: int = FRESH_HEAD
        self.seen = 0
        self.control_words = memoryview(bytearray(8)).cast("Q")
        self._lock = threading.Lock()
        self._position: int = FRESH_HEAD
        self._is_closed = False

    @property
    def base(self) -> int:
        """Every commit is dropped as soon as it is appended."""
        return self.head

    def stale(self) -> bool:
        """Nobody else can append; only `seek` and `close` leave the handle unlevel."""
        return self.control_words[0] != self.seen

    def acquire(self) -> None:
        """Take the lock between threads."""
        self._lock.acquire()
        if self._is_closed:
            self._lock.release()
            raise fail("failed_precondition.sdk.handle_closed")

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def read(self) -> list[Commit]:
        """
        Return nothing: this handle made every commit there is.

        Raises:
            JournalTruncated: after a `seek` to before the head.
        """
        if self._is_closed:
            raise fail("failed_precondition.sdk.handle_closed")
        if self._position < self.head:
            raise JournalTruncated
        self.seen = self.control_words[0]
        return []

    def seek(self, after: int) -> None:
        """Move the reading position; only the head has anything behind it."""
        self._position = max(after, FRESH_HEAD)
        self.head = max(self.head, after)
        self.seen = -1

    def append(self, commit: Commit) -> None:
        """Count the commit."""
        words = self.control_words
        if words[0] != self.seen or commit.timestamp <= self.head:
            raise self._refusal(commit)
        self.head = self._position = commit.last
        self.seen = words[0] = self.seen + 1

    def _refusal(self, commit: Commit) -> StrataError:
        if self._is_closed:
            return fail("failed_precondition.sdk.handle_closed")
        return fail(
            "internal.engine.persistence",
            "a commit was appended out of order",
            timestamp=commit.timestamp,
            head=self.head,
        )

    def sync(self) -> None:
        """Promise nothing, so wait for nothing."""

    def truncate(self, upto: int) -> None:
        """Keep nothing, so drop nothing."""

    def size_bytes(self) -> int:
        """Keep no bytes."""
        return 0

    def close(self) -> None:
        """Refuse everything from now on."""
        self._is_closed = True
        self.seen = -1
