"""Group commit: threads that wait for the disk at the same time share one flush."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from strata_mcp.errors import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from strata_mcp.errors import StrataError


class GroupSync:
    """Counts up to which commit number the journal is on disk."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_flushing = False
        self._synced_head = 0
        self._failure: OSError | None = None

    def wait(self, head: int, flush: Callable[[], int]) -> None:
        """
        Return once everything up to `head` is on disk.

        Args:
            head: commit number to wait for.
            flush: makes everything written so far durable and returns the last commit it covers.

        Raises:
            StrataError: `io.engine.journal_sync`, now and ever after, once a flush has failed.
        """
        leads = False
        try:
            with self._condition:
                while self._synced_head < head:
                    if self._failure is not None:
                        raise self.error()
                    if not self._is_flushing:
                        # In this order an interrupt between the two leaves a flag nobody set, not one nobody clears.
                        leads = self._is_flushing = True
                        break
                    self._condition.wait()
            if leads:
                self._flush(flush)
        finally:
            if leads:
                self._step_down()
        if leads and self._failure is not None:
            raise self.error()

    def settle(self, flush: Callable[[], int]) -> None:
        """Flush before the segment changes; nobody is flushing the old one afterwards."""
        leads = False
        try:
            with self._condition:
                while self._is_flushing:
                    self._condition.wait()
                leads = self._is_flushing = True
            self._flush(flush)
        finally:
            if leads:
                self._step_down()

    def _flush(self, flush: Callable[[], int]) -> None:
        # After a failure a second flush would report success for pages the kernel has already given up.
        if self._failure is not None:
            return
        try:
            head = flush()
        except OSError as error:
            self._failure = error
        else:
            self._synced_head = max(self._synced_head, head)

    def _step_down(self) -> None:
        with self._condition:
            self._is_flushing = False
            self._condition.notify_all()

    @property
    def failure(self) -> OSError | None:
        """Why a flush failed; no later one is tried."""
        return self._failure

    def error(self) -> StrataError:
        """Build the error of a failed flush, fresh for each thread that raises it."""
        reason = self._failure.strerror if self._failure is not None else ""
        return fail("io.engine.journal_sync", reason=reason or "unknown")
