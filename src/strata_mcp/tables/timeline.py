"""Commits as of the last checkpoint: by number, by branch and by instant."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, TypeAlias

from strata_mcp.tables.buffers import ByteColumn, branch_ranges, byte_column, bytes_array, to_numpy, to_view

Entry: TypeAlias = tuple[int, int, int]
"""(timestamp, last number occupied, committed_at_us)."""

Info: TypeAlias = tuple[int, int, int, int, str, str]
"""(timestamp, last number occupied, committed_at_us, branch uid, author, message)."""

COLUMNS = ["ts", "last", "committed_at", "branch_uid", "author", "message"]


@dataclass(frozen=True, slots=True)
class CommitColumns:
    """Commits by number; `order` has their indexes by (branch uid, timestamp), `ranges` each branch's part of it."""

    timestamps: memoryview
    last: memoryview
    committed_at_us: memoryview
    uids: memoryview
    authors: ByteColumn | None
    messages: ByteColumn | None
    order: memoryview
    ranges: dict[int, tuple[int, int]]


class Timeline:
    """
    All checkpointed commits.

    Immutable; every method may be called from any thread. Instants never go backwards as numbers grow,
    so both can be searched.
    """

    def __init__(self, columns: CommitColumns) -> None:
        """Take over columns made by `commit_columns`."""
        self._columns = columns
        self._timestamps = columns.timestamps
        self._order = columns.order

    @property
    def rows(self) -> int:
        """Number of commits."""
        return len(self._timestamps)

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        columns = self._columns
        numbers = (columns.timestamps, columns.last, columns.committed_at_us, columns.uids, columns.order)
        texts = (columns.authors, columns.messages)
        return sum(part.nbytes for part in (*numbers, *texts) if part is not None)

    def newest(self, branch_uid: int, upto: int) -> Entry | None:
        """Newest commit on exactly that branch with a number up to `upto`."""
        first, stop = self._columns.ranges.get(branch_uid, (0, 0))
        position = bisect_right(self._order, upto, first, stop, key=self._timestamps.__getitem__)
        return self._entry(self._order[position - 1]) if position > first else None

    def at_time(self, branch_uid: int, at_us: int, upto: int) -> Entry | None:
        """Newest commit on exactly that branch at or before an instant and with a number up to `upto`."""
        index = bisect_right(self._columns.committed_at_us, at_us)
        if index == 0:
            return None
        return self.newest(branch_uid, min(upto, self._timestamps[index - 1]))

    def first(self, branch_uid: int) -> Entry | None:
        """Oldest commit on exactly that branch."""
        first, stop = self._columns.ranges.get(branch_uid, (0, 0))
        return self._entry(self._order[first]) if first < stop else None

    def info(self, timestamp: int) -> Info | None:
        """The commit with exactly that number."""
        index = self._index(timestamp)
        return self._info(index) if index is not None else None

    def committed_at_us(self, timestamp: int) -> int | None:
        """Instant of the commit with exactly that number."""
        index = self._index(timestamp)
        return None if index is None else int(self._columns.committed_at_us[index])

    def log(self, branch_uid: int, before: int | None, lower: int, limit: int) -> list[Info]:
        """
        Commits on exactly that branch, newest first.

        Args:
            branch_uid: the branch.
            before: only numbers below this one; None for all.
            lower: only numbers from this one on.
            limit: so many at most.
        """
        first, stop = self._columns.ranges.get(branch_uid, (0, 0))
        order, key = self._order, self._timestamps.__getitem__
        high = stop if before is None else bisect_left(order, before, first, stop, key=key)
        low = max(bisect_left(order, lower, first, high, key=key), high - max(limit, 0))
        return [self._info(order[position]) for position in range(high - 1, low - 1, -1)]

    def _index(self, timestamp: int) -> int | None:
        index = bisect_left(self._timestamps, timestamp)
        return index if index < len(self._timestamps) and self._timestamps[index] == timestamp else None

    def _entry(self, index: int) -> Entry:
        columns = self._columns
        return columns.timestamps[index], columns.last[index], columns.committed_at_us[index]

    def _info(self, index: int) -> Info:
        columns = self._columns
        author = columns.authors.at(index).decode() if columns.authors is not None else ""
        message = columns.messages.at(index).decode() if columns.messages is not None else ""
        return *self._entry(index), columns.uids[index], author, message


def empty_timeline() -> Timeline:
    """The timeline of a database without a checkpoint."""
    nothing = memoryview(b"").cast("q")
    return Timeline(CommitColumns(nothing, nothing, nothing, nothing, None, None, nothing, {}))


def commit_columns(table: Any, upto: int) -> CommitColumns:
    """Put the commits up to a number in order, each once; `table` has the columns of `COLUMNS`."""
    import numpy as np
    import pyarrow as pa

    timestamps = to_numpy(table["ts"])
    # `unique` sorts, and gives the first of those that a repeated checkpoint wrote again.
    found, index = np.unique(timestamps, return_index=True)
    index = index[found <= upto]
    if not np.array_equal(index, np.arange(len(timestamps))):
        table = table.take(pa.array(index))
    timestamps, uids = to_numpy(table["ts"]), to_numpy(table["branch_uid"])
    order = np.lexsort((timestamps, uids))
    return CommitColumns(
        timestamps=to_view(timestamps),
        last=to_view(to_numpy(table["last"])),
        committed_at_us=to_view(to_numpy(table["committed_at"].cast(pa.int64()))),
        uids=to_view(uids),
        authors=_text(table["author"]),
        messages=_text(table["message"]),
        order=to_view(order),
        ranges=branch_ranges(uids[order]),
    )


def _text(column: Any) -> ByteColumn | None:
    text = byte_column(bytes_array(column))
    return text if text.data else None
