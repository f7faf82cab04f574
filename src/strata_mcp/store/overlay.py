"""
Recent rows in memory: what was committed since the tables were last loaded.

A `Layer` holds the rows one branch wrote in one space of one family; an `OverlayTable` holds the
layers of all branches for that space, over the checkpointed rows beneath them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sortedcontainers import SortedList

from strata_mcp.model import Family, Row

if TYPE_CHECKING:
    from strata_mcp.tables.base import BaseTable

_KV = int(Family.KV)
ROW_OVERHEAD_BYTES = 250
"""Estimated memory of one row beside its key and value: dict slot, tuple, object headers, log entry."""


class Layer:
    """Rows of one (family, space, branch): the newest per key, older ones apart, and the order of writes."""

    __slots__ = ("_fresh", "_order", "expiring", "is_ordered", "live", "log_keys", "log_ts", "older", "rows")

    def __init__(self) -> None:
        """Start empty."""
        self.rows: dict[bytes, Row] = {}
        self.older: dict[bytes, list[Row]] = {}
        self.log_ts = array("q")
        self.log_keys: list[bytes] = []
        self.live = 0
        self.expiring = False
        self.is_ordered = False
        self._order: SortedList[bytes] | None = None
        self._fresh: list[bytes] = []

    def write(self, key: bytes, row: Row) -> None:
        """Add the newest version of a key; timestamps only grow."""
        rows = self.rows
        previous = rows.get(key)
        if previous is None:
            if self._order is not None:
                self._fresh.append(key)
            if row[1] is not None:
                self.live += 1
        else:
            if previous[0] == row[0]:  # a replayed commit: the same row again
                rows[key] = row
                return
            older = self.older.get(key)
            if older is None:
                self.older[key] = [previous]
            else:
                older.append(previous)
            self.live += (row[1] is not None) - (previous[1] is not None)
        rows[key] = row
        self.log_ts.append(row[0])
        self.log_keys.append(key)

    def at(self, key: bytes, limit: int) -> Row | None:
        """Newest version of a key at or before `limit`, tombstones included."""
        row = self.rows.get(key)
        if row is None or row[0] <= limit:
            return row
        older = self.older.get(key)
        if older is None:
            return None
        position = bisect_right(older, limit, key=_timestamp)
        return older[position - 1] if position else None

    def versions(self, key: bytes, limit: int) -> list[Row]:
        """All versions of a key at or before `limit`, newest first."""
        row = self.rows.get(key)
        if row is None:
            return []
        found = [*self.older.get(key, ()), row]
        return [version for version in reversed(found) if version[0] <= limit]

    def ordered(self) -> SortedList[bytes]:
        """Keys in byte order; built on first use, then kept up with what came since."""
        order = self._order
        if order is None:
            order = self._order = SortedList(self.rows)
            self.is_ordered = True
        elif self._fresh:
            order.update(self._fresh)
            self._fresh.clear()
        return order

    def touched(self, after: int, upto: int) -> Iterator[bytes]:
        """Keys written in (after, upto], in order of writing; a key may come more than once."""
        start = bisect_right(self.log_ts, after)
        stop = bisect_right(self.log_ts, upto) if upto < self._newest() else len(self.log_ts)
        return iter(self.log_keys[start:stop])

    def _newest(self) -> int:
        return self.log_ts[-1] if self.log_ts else 0


class OverlayTable:
    """All branches' rows of one space of one family, recent ones over checkpointed ones."""

    __slots__ = ("base", "family", "layers", "space", "writers")

    def __init__(self, family: int, space: str, base: BaseTable | None) -> None:
        """`base` is None when no checkpointed row of the family exists."""
        self.family = family
        self.space = space
        self.base = base
        self.layers: dict[int, Layer] = {}
        self.writers: dict[bytes, list[int]] | None = None

    def note_writer(self, key: bytes, uid: int) -> None:
        """Follow the first version of a key on a branch, once the index of writers exists."""
        if self.writers is not None:
            self.writers.setdefault(key, []).append(uid)

    def writers_of(self, key: bytes) -> list[int]:
        """Branches with a recent version of the key; the index is built when first asked for."""
        if self.writers is None:
            writers: dict[bytes, list[int]] = {}
            for uid, layer in self.layers.items():
                for written in layer.rows:
                    writers.setdefault(written, []).append(uid)
            self.writers = writers
        return self.writers.get(key, [])


def is_expired(family: int, row: Row, now_us: int) -> bool:
    """Whether a pair's life time has passed; only the key-value family keeps an instant in `extra`."""
    return family == _KV and 0 < row[2] <= now_us


def _timestamp(row: Row) -> int:
    return row[0]


def prefix_end(prefix: bytes) -> bytes | None:
    """Smallest key greater than every key with the prefix; None when there is none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else None


def keys_between(order: SortedList[bytes], start: bytes, end: bytes | None, after: bytes | None) -> Iterator[bytes]:
    """Keys of a layer in [start, end), or in (after, end) when `after` is given and larger; lazy."""
    if after is not None and after >= start:
        low = order.bisect_right(after)
    else:
        low = order.bisect_left(start) if start else 0
    high = order.bisect_left(end) if end is not None else len(order)
    keys: Iterator[bytes] = order.islice(low, high)
    return keys
