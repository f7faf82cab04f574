"""Rows of one family as of the last checkpoint, sorted, read by key."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from strata_mcp.model import Row
from strata_mcp.tables.buffers import NO_STRINGS, branch_ranges, to_view
from strata_mcp.tables.load import NO_ROWS
from strata_mcp.tables.values import ResidentValues

if TYPE_CHECKING:
    from strata_mcp.tables.load import SortedColumns
    from strata_mcp.tables.values import Values

SAMPLES_MAX: Final = 1 << 15
"""So many keys of a table are kept as objects: a search among them costs no Python step."""
SCAN_KEYS_FIRST: Final = 32
SCAN_KEYS_MAX: Final = 4096

_NOWHERE: Final = (0, 0)


class BaseTable:
    """
    All checkpointed rows of one family, in the order (space, key, branch uid, timestamp).

    Immutable; every method may be called from any thread. Row numbers count in that order.
    """

    def __init__(self, columns: SortedColumns, values: Values) -> None:
        """Take over sorted columns; `values` answers by the same row numbers."""
        self._columns = columns
        self._values = values
        self.rows = columns.rows
        self.value = values.at
        self._keys = columns.keys
        self._starts = columns.starts
        self._uids = columns.uids
        self._timestamps = columns.timestamps
        self._deleted = columns.deleted
        self._extras = columns.extras
        self._spaces = columns.spaces
        self._stride = max(1, -(-(len(columns.starts) - 1) // SAMPLES_MAX))
        self._samples: dict[str, list[bytes]] = {}
        self._sample_bytes = 0
        self._space_names = list(columns.spaces)
        self._space_stops = [stop for _, stop in columns.spaces.values()]
        self._writes: tuple[memoryview, dict[int, tuple[int, int]]] | None = None
        self._lock = threading.Lock()
        # The last key looked up and its rows: callers ask for writers and then for a version.
        self._last: tuple[str, bytes, tuple[int, int]] = ("", b"", self._find("", b""))

    @property
    def nbytes(self) -> int:
        """Memory taken for good."""
        writes = self._writes[0].nbytes if self._writes is not None else 0
        return self._columns.nbytes + self._values.nbytes + self._sample_bytes + writes

    # ---- one key ----

    def newest(self, space: str, key: bytes, branch_uid: int, upto: int) -> Row | None:
        """Newest version of a key written on exactly that branch up to a commit, deletions included."""
        first, stop = self._range(space, key)
        if stop - first != 1:
            first, stop = self._own(first, stop, branch_uid)
            row = bisect_right(self._timestamps, upto, first, stop) - 1
            return self.row(row) if row >= first else None
        if self._uids[first] != branch_uid or self._timestamps[first] > upto:
            return None
        return self.row(first)

    def writers(self, space: str, key: bytes) -> list[int]:
        """Uids of the branches that wrote the key, ascending."""
        first, stop = self._range(space, key)
        uids = self._uids
        found = []
        while first < stop:
            uid = uids[first]
            found.append(uid)
            first = first + 1 if stop - first == 1 else bisect_right(uids, uid, first, stop)
        return found

    def history(self, space: str, key: bytes, branch_uid: int, upto: int) -> list[Row]:
        """Every version of a key written on exactly that branch up to a commit, newest first."""
        first, stop = self._own(*self._range(space, key), branch_uid)
        stop = bisect_right(self._timestamps, upto, first, stop)
        return [self.row(row) for row in range(stop - 1, first - 1, -1)]

    def _range(self, space: str, key: bytes) -> tuple[int, int]:
        """Numbers of the rows of a key, as a half-open range."""
        last = self._last
        if last[1] == key and last[0] == space:
            return last[2]
        found = self._find(space, key)
        self._last = (space, key, found)
        return found

    def _find(self, space: str, key: bytes) -> tuple[int, int]:
        index = self._lower(space, key)
        if index < self._spaces.get(space, _NOWHERE)[1] and self._keys.at(index) == key:
            return self._starts[index], self._starts[index + 1]
        return _NOWHERE

    def _own(self, first: int, stop: int, branch_uid: int) -> tuple[int, int]:
        """The part of a key's rows that a branch wrote."""
        first = bisect_left(self._uids, branch_uid, first, stop)
        return first, bisect_right(self._uids, branch_uid, first, stop)

    def _lower(self, space: str, key: bytes) -> int:
        """Number of the first key of a space that is not below `key`."""
        first, stop = self._spaces.get(space, _NOWHERE)
        if first == stop:
            return first
        samples = self._samples.get(space)
        if samples is None:
            samples = self._sample(space, first, stop)
        stride = self._stride
        block = bisect_left(samples, key)
        if stride == 1 or block == 0:
            return first + block
        stop = min(stop, first + block * stride)
        return bisect_left(range(stop), key, first + (block - 1) * stride + 1, stop, key=self._keys.at)

    def _sample(self, space: str, first: int, stop: int) -> list[bytes]:
        keys = self._keys
        stride = self._stride
        found = keys.run(first, stop) if stride == 1 else [keys.at(index) for index in range(first, stop, stride)]
        with self._lock:
            if space not in self._samples:
                self._samples[space] = found
                self._sample_bytes += sum(map(len, found)) + 41 * len(found)
        return found

    # ---- one row ----

    def row(self, row: int) -> Row:
        """The row of that number."""
        value = None if self._deleted[row] else self.value(row)
        return self._timestamps[row], value, self._extras[row] if self._extras is not None else 0

    def deleted(self, row: int) -> bool:
        """Whether the row of that number is a deletion."""
        return bool(self._deleted[row])

    # ---- many keys ----

    def scan(self, space: str, start: bytes) -> Iterator[tuple[bytes, list[tuple[int, int, int]]]]:
        """
        Keys of a space from `start` on, in byte order.

        Yields:
            The key and its versions as (branch uid, timestamp, row number), by branch and then oldest first.
        """
        index, stop = self._lower(space, start), self._spaces.get(space, _NOWHERE)[1]
        size = SCAN_KEYS_FIRST
        while index < stop:
            end = min(index + size, stop)
            yield from self._scan_chunk(space, index, end)
            index = end
            size = min(size * 2, SCAN_KEYS_MAX)

    def _scan_chunk(self, space: str, index: int, end: int) -> Iterator[tuple[bytes, list[tuple[int, int, int]]]]:
        starts = self._starts[index : end + 1].tolist()
        first = starts[0]
        keys = self._keys.run(index, end)
        uids = self._uids[first : starts[-1]].tolist()
        timestamps = self._timestamps[first : starts[-1]].tolist()
        versions = list(zip(uids, timestamps, range(first, starts[-1]), strict=True))
        low = first
        for key, high in zip(keys, starts[1:], strict=True):
            self._last = (space, key, (low, high))
            yield key, versions[low - first : high - first]
            low = high

    # ---- by branch ----

    def touched(self, branch_uid: int, after: int, upto: int) -> list[tuple[str, bytes]]:
        """(space, key) of every row a branch wrote in (after, upto], each once, in order."""
        writes = self._writes
        if writes is None:
            writes = self._writes = self._index_writes()
        order, ranges = writes
        first, stop = ranges.get(branch_uid, _NOWHERE)
        timestamps = self._timestamps
        low = bisect_right(order, after, first, stop, key=timestamps.__getitem__)
        high = bisect_right(order, upto, low, stop, key=timestamps.__getitem__)
        indexes = {bisect_right(self._starts, row) - 1 for row in order[low:high].tolist()}
        names, stops = self._space_names, self._space_stops
        return [(names[bisect_right(stops, index)], self._keys.at(index)) for index in sorted(indexes)]

    def _index_writes(self) -> tuple[memoryview, dict[int, tuple[int, int]]]:
        """Row numbers by (branch uid, timestamp), and the part of them that is each branch's."""
        import numpy as np

        uids = np.asarray(self._uids)
        timestamps = np.asarray(self._timestamps)
        if len(uids) and bool((uids == uids[0]).all()):
            order = np.argsort(timestamps, kind="stable")
        else:
            order = np.lexsort((timestamps, uids))
        return to_view(order), branch_ranges(uids[order])


class EmptyBase(BaseTable):
    """The table of a family nothing was ever checkpointed of."""

    def __init__(self) -> None:
        """Start without a row and without loading anything."""
        super().__init__(NO_ROWS, ResidentValues(NO_STRINGS))

    def touched(self, branch_uid: int, after: int, upto: int) -> list[tuple[str, bytes]]:
        """Nothing, and without numpy."""
        return []
