"""
Following the journal: one handle's level view of the database.

Locks, in this order: the journal's write lock (between processes and threads, held for one commit),
then `reading` (between threads of this process, held while the state changes or a range is read).
Point reads take neither: they check that the journal has not moved, then look into dictionaries.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.journal.port import Journal, JournalTruncated
from strata_mcp.model import Commit, Family
from strata_mcp.store.catalog import Catalog
from strata_mcp.store.lineage import Node
from strata_mcp.store.state import State

if TYPE_CHECKING:
    from strata_mcp.tables.tableset import TableSet

SLOW: Final = -1
"""Level and epoch no reader ever matches: every read takes the slow path."""


class Follower:
    """
    A state kept level with a journal.

    Attributes:
        state: rows and timelines as of `level`.
        catalog: live branches of that state.
        words: the journal's control words; `words[0] == level` means level.
        epoch: changes when branches, spaces, tables or transactions make bound readers and writers wrong.
        damage: why the journal cannot be read further, once met; writes are refused with it.
    """

    state: State
    catalog: Catalog

    def __init__(self, journal: Journal, open_tables: Callable[[], TableSet] | None, tables: TableSet | None) -> None:
        """
        Take over a journal positioned behind `tables`.

        `open_tables` reads the newest checkpoint again when the journal moved past this handle; it is
        None for databases without tables (cache handles).
        """
        self.journal = journal
        self.reading = threading.RLock()
        self.damage: StrataError | None = None
        self._open_tables = open_tables
        self._nodes: dict[int, Node] = {}
        self._open_transactions = 0
        self._closed_code = ""
        self._registered: set[tuple[int, str]] = set()
        self._last_us = 0
        self._bindings = 0
        self.words = journal.control_words
        self.level = SLOW
        self.epoch = 0
        self._start(tables)
        _after_fork.add(self)

    # ---- keeping level ----

    def catch_up(self) -> None:
        """Apply what other processes committed; returns at once when there is nothing."""
        with self.reading:
            self._check_open()
            if self.words[0] == self.level:
                return
            try:
                commits = self.journal.read()
            except JournalTruncated:
                self._reload()
                return
            except StrataError as error:
                self._mark_damaged(error)
                return
            for commit in commits:
                self._apply(commit)
            self.level = self.journal.seen

    def reload(self) -> None:
        """Drop the memory of what has been checkpointed; it is read from the tables when needed."""
        with self.reading:
            self._check_open()
            self._reload()

    def _reload(self) -> None:
        if self._open_tables is None:
            return
        while True:
            tables = self._open_tables()
            self.journal.seek(tables.head)
            try:
                self._start(tables)
            except JournalTruncated:
                continue
            return

    def _start(self, tables: TableSet | None) -> None:
        state = State(tables)
        self.state = state
        self.catalog = Catalog(state, self._nodes)
        self._registered.clear()
        self.bump()
        if tables is not None:
            self._last_us = max(self._last_us, tables.committed_at_us)
        try:
            for commit in self.journal.read():
                self._apply(commit)
        except StrataError as error:
            self._mark_damaged(error)
        self.level = self.journal.seen

    def _apply(self, commit: Commit) -> None:
        if self.state.apply(commit):
            self.catalog.note(commit)
            for family, _, key, value, _ in commit.records:
                if family == Family.SPACE and value is None:
                    self._registered.discard((commit.branch, key.decode()))
                    self.bump()
                elif family == Family.BRANCH:
                    self.bump()
        if commit.committed_at_us > self._last_us:
            self._last_us = commit.committed_at_us

    def _mark_damaged(self, error: StrataError) -> None:
        self.damage = error
        self.level = self.words[0]

    def bump(self) -> None:
        """Make every bound reader and writer bind again (branches, spaces or tables changed)."""
        self._bindings += 1
        self.epoch = SLOW if self._open_transactions else self._bindings

    def close(self, code: str = "failed_precondition.sdk.handle_closed") -> None:
        """Refuse every later call with the given code; the journal is closed by its owner."""
        self._closed_code = code
        self.level = SLOW

    def _check_open(self) -> None:
        if self._closed_code:
            raise fail(self._closed_code)

    def forget_after_fork(self) -> None:
        """In a forked child: the handle belongs to the parent."""
        self.close("failed_precondition.sdk.fork_not_supported")
        self.reading = threading.RLock()


_after_fork: weakref.WeakSet[Follower] = weakref.WeakSet()


def _disown_in_child() -> None:
    for follower in list(_after_fork):
        follower.forget_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_in_child)
