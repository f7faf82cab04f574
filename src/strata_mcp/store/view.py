"""Reading one branch at one moment: the head, or a position in its past."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_mcp.errors import StrataError, fail
from strata_mcp.model import Family, Row
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.overlay import OverlayTable, is_expired
from strata_mcp.store.scan import Range, live_rows, take

if TYPE_CHECKING:
    from strata_mcp.store.state import State, TimelineEntry
    from strata_mcp.store.store import Store
    from strata_mcp.store.writer import Staged


class View:
    """
    The rows one branch shows up to one position.

    At the head, keys that have expired are gone; in the past they are shown as they were committed.
    Inside a transaction of the calling thread the head is the transaction's snapshot plus its own writes.
    """

    __slots__ = ("_state", "_store", "limit", "node", "staged")

    def __init__(self, store: Store, state: State, node: Node, limit: int, staged: Staged | None = None) -> None:
        """Made by `Store.view`."""
        self._store = store
        self._state = state
        self.node = node
        self.limit = limit
        self.staged = staged

    @property
    def at_head(self) -> bool:
        """Whether the view shows the present."""
        return self.limit >= NO_LIMIT or self.staged is not None

    def get(self, family: int, space: str, key: bytes) -> Row | None:
        """The live row of a key, or None."""
        if self.staged is not None:
            return self.staged.get(family, space, key)
        row = self._state.row(self.node, self._state.table(family, space), key, self.limit)
        return None if row is None or row[1] is None or self._is_expired(family, row) else row

    def raw(self, family: int, space: str, key: bytes) -> Row | None:
        """The newest committed version of a key, tombstones and expired rows included."""
        return self._state.row(self.node, self._state.table(family, space), key, self.limit)

    def history(self, family: int, space: str, key: bytes) -> list[Row]:
        """All versions of a key, newest first, tombstones included."""
        with self._store.reading:
            return list(self._state.versions(self.node, self._state.table(family, space), key, self.limit))

    def rows(
        self,
        family: int,
        space: str,
        *,
        start: bytes = b"",
        after: bytes | None = None,
        prefix: bytes = b"",
        limit: int | None = None,
    ) -> list[tuple[bytes, Row]]:
        """Live (key, row) pairs in byte order of the key."""
        found = self._rows(family, space, Range(start, after, prefix), limit)
        if self.staged is not None:
            self.staged.note_reads(family, space, found)
        return found

    def keys(
        self,
        family: int,
        space: str,
        *,
        start: bytes = b"",
        after: bytes | None = None,
        prefix: bytes = b"",
        limit: int | None = None,
    ) -> list[bytes]:
        """Live keys in byte order."""
        return [key for key, _ in self._rows(family, space, Range(start, after, prefix), limit)]

    def count(self, family: int, space: str, prefix: bytes = b"") -> int:
        """Number of live keys."""
        with self._store.reading:
            table = self._state.table(family, space)
            if not prefix and self.staged is None and self._is_single(table):
                layer = table.layers.get(self.node.uid)
                if layer is None:
                    return 0
                if self.limit >= NO_LIMIT and not layer.expiring:
                    return layer.live
            return sum(1 for _ in self._live(family, space, Range(prefix=prefix)))

    def _rows(self, family: int, space: str, span: Range, limit: int | None) -> list[tuple[bytes, Row]]:
        with self._store.reading:
            return take(self._live(family, space, span), limit)

    def _is_single(self, table: OverlayTable) -> bool:
        return table.base is None and self.node.parent is None

    def _live(self, family: int, space: str, span: Range) -> Iterator[tuple[bytes, Row]]:
        table = self._state.table(family, space)
        now_us = self._store.clock.now_us() if self.at_head and family == Family.KV else 0
        committed = live_rows(self._state, self.node, table, self.limit, span, now_us)
        return committed if self.staged is None else self.staged.overlaid(family, space, span, committed)

    def _is_expired(self, family: int, row: Row) -> bool:
        return row[2] != 0 and self.at_head and is_expired(family, row, self._store.clock.now_us())


def position(state: State, node: Node, as_of: int | None, as_of_time: int | None) -> int:
    """
    Limit for reading a branch at a counter position, at an instant (UTC microseconds), or at the head.

    Raises:
        StrataError: both clocks given, or a moment outside the branch's history.
    """
    if as_of is None and as_of_time is None:
        return NO_LIMIT
    if as_of is not None and as_of_time is not None:
        raise fail("invalid_argument.executor.as_of_conflict")
    if as_of is not None:
        first, newest = node.record.first, newest_position(state, node)
        if not first <= as_of <= newest:
            raise _outside(node, f"position {as_of} is outside {first}..{newest}", as_of)
        return as_of
    newest_us = newest_entry(state, node)
    if as_of_time is None or newest_us is None or as_of_time > newest_us.committed_at_us:
        raise _outside(node, "the instant is later than the newest commit", as_of_time)
    for step, bound in node.path(NO_LIMIT):
        entry = state.commit_at_time(step.uid, as_of_time, bound)
        if entry is not None:
            return entry.timestamp
    raise _outside(node, "the instant is earlier than the first commit", as_of_time)


def newest_position(state: State, node: Node) -> int:
    """Last position the branch can be read at."""
    entry = state.newest_commit(node.uid, NO_LIMIT)
    return max(node.record.newest, entry.timestamp if entry is not None else 0)


def newest_entry(state: State, node: Node) -> TimelineEntry | None:
    """Newest commit in the branch's timeline, its own or inherited."""
    for step, bound in node.path(NO_LIMIT):
        entry = state.newest_commit(step.uid, bound)
        if entry is not None:
            return entry
    return None


def _outside(node: Node, reason: str, moment: object) -> StrataError:
    return fail("history_unavailable.engine.persistence_history", reason=reason, branch=node.name, moment=moment)
