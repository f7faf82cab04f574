"""
Everything a handle knows at one moment: overlay tables, checkpointed tables, branch timelines.

A state is filled by `apply` from commits in order. When the tables move on (a checkpoint dropped
journal this handle had not read, or memory is short) the store builds a fresh state instead.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from strata_mcp.model import GLOBAL_FAMILIES, GLOBAL_UID, SYSTEM_FAMILIES_FROM, Commit, Family, Row
from strata_mcp.store.lineage import Node
from strata_mcp.store.overlay import ROW_OVERHEAD_BYTES, Layer, OverlayTable

if TYPE_CHECKING:
    from strata_mcp.tables.tableset import TableSet

_KV = int(Family.KV)
DEEP_LINEAGE = 16
"""Above this depth a key's writers are looked up instead of walking every ancestor."""


class TimelineEntry(NamedTuple):
    """One commit of a branch. `committed_at_us` is UTC microseconds."""

    timestamp: int
    committed_at_us: int


class State:
    """Rows and timelines visible to a handle."""

    def __init__(self, tables: TableSet | None) -> None:
        """Start from checkpointed tables, or from nothing."""
        self.tables = tables
        self.overlay: dict[tuple[int, str], OverlayTable] = {}
        self.by_branch: dict[int, list[OverlayTable]] = {}
        self.nodes: dict[int, Node] = {}
        self.timelines: dict[int, array[int]] = {}
        self.notes: dict[int, tuple[str, str]] = {}
        self._timestamps = array("q")
        self._committed_at_us = array("q")
        self.overlay_bytes = 0
        self.floor = tables.checkpoint_ts if tables is not None else 0
        self.newest = self.floor

    # ---- tables ----

    def table(self, family: int, space: str) -> OverlayTable:
        """The table of one space of one family, made on first use."""
        found = self.overlay.get((family, space))
        if found is None:
            base = None
            if self.tables is not None:
                checkpointed = self.tables.base(family)
                base = checkpointed if checkpointed.rows else None
            found = self.overlay[family, space] = OverlayTable(family, space, base)
        return found

    def has_rows(self, family: int, space: str) -> bool:
        """Whether any branch ever wrote in that space of that family, as far as can be told at once."""
        table = self.overlay.get((family, space))
        if table is None and self.tables is not None:
            table = self.table(family, space)
        return table is not None and (bool(table.layers) or table.base is not None)

    def apply(self, commit: Commit) -> bool:
        """Add one commit; replaying it is harmless. True when it holds records of the store's own families."""
        uid, timestamp = commit.branch, commit.timestamp
        overlay = self.overlay
        size = 64
        is_special = False
        for family, space, key, value, extra in commit.records:
            table = overlay.get((family, space))
            if table is None:
                table = self.table(family, space)
            owner = uid
            if family >= SYSTEM_FAMILIES_FROM:
                is_special = True
                if family in GLOBAL_FAMILIES:
                    owner = GLOBAL_UID
            layer = table.layers.get(owner)
            if layer is None:
                layer = self.new_layer(table, owner)
            if table.writers is not None and key not in layer.rows:
                table.note_writer(key, owner)
            layer.write(key, (timestamp, value, extra))
            if extra and family == _KV:
                layer.expiring = True
            size += len(key) + ROW_OVERHEAD_BYTES
            if value is not None:
                size += len(value)
        self.overlay_bytes += size
        if timestamp > self.newest:
            self._note_commit(uid, timestamp, commit)
        return is_special

    def apply_row(
        self, commit: Commit, table: OverlayTable, layer: Layer | None, key: bytes, row: Row, size: int
    ) -> None:
        """Add a commit of one row of a user family, of `size` bytes, to its table; the short way of `apply`."""
        uid = commit.branch
        if layer is None:
            layer = self.new_layer(table, uid)
        if table.writers is not None and key not in layer.rows:
            table.note_writer(key, uid)
        timestamp, value, extra = row
        rows = layer.rows
        if key in rows or layer.is_ordered:
            layer.write(key, row)
        else:
            rows[key] = row
            layer.live += value is not None
            layer.log_ts.append(timestamp)
            layer.log_keys.append(key)
        if extra and table.family == _KV:
            layer.expiring = True
        self.overlay_bytes += size + ROW_OVERHEAD_BYTES + 64
        timeline = self.timelines.get(uid)
        if timeline is None or commit.author or commit.message:
            self._note_commit(uid, timestamp, commit)
            return
        self.newest = timestamp
        self._timestamps.append(timestamp)
        self._committed_at_us.append(commit.committed_at_us)
        timeline.append(timestamp)

    def _note_commit(self, uid: int, timestamp: int, commit: Commit) -> None:
        self.newest = timestamp
        self._timestamps.append(timestamp)
        self._committed_at_us.append(commit.committed_at_us)
        timeline = self.timelines.get(uid)
        if timeline is None:
            timeline = self.timelines[uid] = array("q")
        timeline.append(timestamp)
        if commit.author or commit.message:
            self.notes[timestamp] = (commit.author, commit.message)

    def new_layer(self, table: OverlayTable, owner: int) -> Layer:
        """Give a branch a layer in a table."""
        layer = table.layers[owner] = Layer()
        self.by_branch.setdefault(owner, []).append(table)
        return layer

    # ---- rows ----

    def row(self, node: Node, table: OverlayTable, key: bytes, limit: int) -> Row | None:
        """Newest version of a key that `node` sees up to `limit`, tombstones included."""
        layer = table.layers.get(node.uid)
        if layer is not None:
            row = layer.at(key, limit)
            if row is not None:
                return row
        base = table.base
        if base is None and node.parent is None:
            return None
        if node.depth > DEEP_LINEAGE:
            return self._row_by_writers(node, table, key, limit)
        checkpointed = base.writers(table.space, key) if base is not None else ()
        step: Node | None = node
        while step is not None:
            row = self._own_row(step.uid, table, key, limit, checkpointed)
            if row is not None:
                return row
            limit = min(limit, step.fork_version)
            step = step.parent
        return None

    def _own_row(
        self, uid: int, table: OverlayTable, key: bytes, limit: int, checkpointed: list[int] | tuple[()]
    ) -> Row | None:
        layer = table.layers.get(uid)
        if layer is not None:
            row = layer.at(key, limit)
            if row is not None:
                return row
        if uid in checkpointed and table.base is not None:
            return table.base.newest(table.space, key, uid, limit)
        return None

    def _row_by_writers(self, node: Node, table: OverlayTable, key: bytes, limit: int) -> Row | None:
        checkpointed = table.base.writers(table.space, key) if table.base is not None else ()
        writers = {*table.writers_of(key), *checkpointed}
        if len(writers) > node.depth:
            steps = [(step, bound) for step, bound in node.path(limit) if step.uid in writers]
        else:
            steps = self._ancestors_among(writers, node, limit)
        for step, bound in steps:
            row = self._own_row(step.uid, table, key, bound, checkpointed)
            if row is not None:
                return row
        return None

    def _ancestors_among(self, writers: set[int], node: Node, limit: int) -> list[tuple[Node, int]]:
        steps = []
        for uid in writers:
            step = self.nodes.get(uid)
            bound = node.limit_of(step, limit) if step is not None else None
            if step is not None and bound is not None:
                steps.append((step, bound))
        steps.sort(key=lambda found: -found[0].depth)
        return steps

    def versions(self, node: Node, table: OverlayTable, key: bytes, limit: int) -> Iterator[Row]:
        """All versions of a key `node` sees up to `limit`, newest first, tombstones included."""
        for step, bound in node.path(limit):
            layer = table.layers.get(step.uid)
            if layer is not None:
                yield from layer.versions(key, bound)
            if table.base is not None:
                yield from table.base.history(table.space, key, step.uid, bound)

    def touched(self, uid: int, families: tuple[int, ...], after: int, upto: int) -> set[tuple[int, str, bytes]]:
        """(family, space, key) of every row a branch wrote in (after, upto]."""
        found = {
            (table.family, table.space, key)
            for table in self.by_branch.get(uid, ())
            if table.family in families
            for key in table.layers[uid].touched(after, upto)
        }
        if self.tables is not None and after < self.floor:
            for family in families:
                base = self.tables.base(family)
                if base.rows:
                    found.update((family, space, key) for space, key in base.touched(uid, after, upto))
        return found

    # ---- timelines ----

    def newest_commit(self, uid: int, upto: int) -> TimelineEntry | None:
        """Newest commit made on exactly that branch at or before position `upto`."""
        timeline = self.timelines.get(uid)
        if timeline is not None:
            position = bisect_right(timeline, upto)
            if position:
                return self._recent(timeline[position - 1])
        if self.tables is None:
            return None
        found = self.tables.timeline().newest(uid, upto)
        return TimelineEntry(found[0], found[2]) if found is not None else None

    def commit_at_time(self, uid: int, at_us: int, upto: int) -> TimelineEntry | None:
        """Newest commit made on exactly that branch at or before an instant and a position."""
        position = bisect_right(self._committed_at_us, at_us)
        timeline = self.timelines.get(uid)
        if position and timeline is not None:
            own = bisect_right(timeline, min(upto, self._timestamps[position - 1]))
            if own:
                return self._recent(timeline[own - 1])
        if self.tables is None:
            return None
        found = self.tables.timeline().at_time(uid, at_us, upto)
        return TimelineEntry(found[0], found[2]) if found is not None else None

    def commits(self, uid: int, upto: int, limit: int) -> list[TimelineEntry]:
        """Up to `limit` commits made on exactly that branch at or before `upto`, newest first."""
        timeline = self.timelines.get(uid)
        found: list[TimelineEntry] = []
        if timeline is not None:
            stop = bisect_right(timeline, upto)
            found = [self._recent(timestamp) for timestamp in reversed(timeline[max(0, stop - limit) : stop])]
        if self.tables is not None and len(found) < limit:
            older = self.tables.timeline().log(uid, min(upto, self.floor) + 1, 0, limit - len(found))
            found += [TimelineEntry(entry[0], entry[2]) for entry in older]
        return found

    def commit(self, uid: int, timestamp: int) -> TimelineEntry | None:
        """The commit with exactly that number on exactly that branch."""
        entry = self.newest_commit(uid, timestamp)
        return entry if entry is not None and entry.timestamp == timestamp else None

    def committed_at_us(self, timestamp: int) -> int | None:
        """UTC microseconds of the commit with exactly that number; None when there is none."""
        position = bisect_right(self._timestamps, timestamp)
        if position and self._timestamps[position - 1] == timestamp:
            return self._committed_at_us[position - 1]
        return self.tables.timeline().committed_at_us(timestamp) if self.tables is not None else None

    def note(self, timestamp: int) -> tuple[str, str]:
        """(author, message) of a commit; empty when none were given."""
        note = self.notes.get(timestamp)
        if note is not None:
            return note
        if self.tables is not None and timestamp <= self.floor:
            info = self.tables.timeline().info(timestamp)
            if info is not None:
                return info[4], info[5]
        return "", ""

    def _recent(self, timestamp: int) -> TimelineEntry:
        position = bisect_right(self._timestamps, timestamp) - 1
        return TimelineEntry(timestamp, self._committed_at_us[position])
