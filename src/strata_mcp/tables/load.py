"""
From a stored table to sorted columns in memory.

Tables are appended to, so their rows come in runs. Here they are put into one order, (space, key, branch
uid, timestamp), and rows that a repeated checkpoint wrote twice are dropped. What leaves this module are
plain buffers: reading a row needs neither Arrow nor numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.tables.buffers import NARROW_MAX, NO_STRINGS, ByteColumn, byte_column, bytes_array, to_numpy, to_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strata_mcp.tables.schema import TableSpec


@dataclass(frozen=True, slots=True)
class SortedColumns:
    """
    Rows of one family in order.

    Attributes:
        spaces: per space, in byte order, the range of its keys.
        keys: the distinct keys of each space, in byte order.
        starts: per key the number of its first row; one more entry closes the last.
        uids: branch uid per row.
        timestamps: commit number per row.
        deleted: whether the row is a deletion.
        extras: the row's own integer; None when all are 0.
        positions: where each row stands in the stored table; None when it stands at its own number.
        values: value per row, unless they were left on disk.
    """

    spaces: dict[str, tuple[int, int]]
    keys: ByteColumn
    starts: memoryview
    uids: memoryview
    timestamps: memoryview
    deleted: memoryview
    extras: memoryview | None
    positions: NDArray[Any] | None
    values: ByteColumn | None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.timestamps)

    @property
    def nbytes(self) -> int:
        """Memory taken, values left aside."""
        views = [self.starts, self.uids, self.timestamps, self.deleted, self.extras, self.positions]
        return self.keys.nbytes + sum(int(view.nbytes) for view in views if view is not None)


_NOTHING: Final = memoryview(b"")
NO_ROWS: Final = SortedColumns(
    spaces={},
    keys=NO_STRINGS,
    starts=NO_STRINGS.offsets,
    uids=_NOTHING,
    timestamps=_NOTHING,
    deleted=_NOTHING,
    extras=None,
    positions=None,
    values=NO_STRINGS,
)


def columns_to_read(spec: TableSpec, *, with_values: bool) -> list[str]:
    """Columns of the stored table that `sort_columns` needs."""
    names = ["space", "key", "branch_uid", "ts", "deleted", spec.extra]
    if spec.has_family:
        names.append("family")
    if with_values:
        names.append(spec.value)
    return names


def families_of(spec: TableSpec, table: Any) -> Iterator[tuple[int, NDArray[Any] | None]]:
    """For each family of a table: where its rows stand (None: everywhere)."""
    import numpy as np
    import pyarrow.compute as pc

    from strata_mcp.tables.schema import family_name

    if not spec.has_family:
        yield int(spec.families[0]), None
        return
    column = table["family"]
    for family in spec.families:
        mask = to_numpy(pc.equal(column, family_name(family)))
        yield int(family), np.flatnonzero(mask)


def sort_columns(spec: TableSpec, table: Any, chosen: NDArray[Any] | None, upto: int) -> SortedColumns:
    """
    Put the chosen rows with a timestamp up to `upto` in order.

    Args:
        spec: what the table looks like.
        table: its Arrow columns, as `columns_to_read` names them.
        chosen: numbers of the rows to take, None for all.
        upto: commits after this one are left out.
    """
    import numpy as np
    import pyarrow as pa

    timestamps = to_numpy(table["ts"])
    if len(timestamps) and int(timestamps.max()) > upto:
        within = timestamps <= upto
        chosen = np.flatnonzero(within) if chosen is None else chosen[within[chosen]]
    if chosen is not None:
        table = table.take(pa.array(chosen))
        timestamps = to_numpy(table["ts"])
    uids = to_numpy(table["branch_uid"])
    names, ranks = _rank_spaces(table["space"])
    keys = bytes_array(table["key"])
    order = _order(ranks, keys, uids, timestamps)
    if order is not None:
        ranks, uids, timestamps = ranks[order], uids[order], timestamps[order]
        keys = keys.take(pa.array(order))
    is_first, is_new = _boundaries(ranks, keys, uids, timestamps)
    if not bool(is_new.all()):
        kept = np.flatnonzero(is_new)
        order = kept if order is None else order[kept]
        ranks, uids, timestamps, is_first = ranks[kept], uids[kept], timestamps[kept], is_first[kept]
        keys = keys.take(pa.array(kept))
    rest = table if order is None else table.select(_payload(spec, table)).take(pa.array(order))
    firsts = np.flatnonzero(is_first)
    return SortedColumns(
        spaces=_space_ranges(names, ranks[firsts]),
        keys=byte_column(keys if len(firsts) == len(keys) else keys.take(pa.array(firsts))),
        starts=to_view(np.append(firsts, len(keys))),
        uids=to_view(uids),
        timestamps=to_view(timestamps),
        deleted=to_view(to_numpy(rest["deleted"])),
        extras=_extras(rest[spec.extra]),
        positions=_positions(chosen, order),
        values=byte_column(bytes_array(rest[spec.value])) if spec.value in rest.column_names else None,
    )


def _payload(spec: TableSpec, table: Any) -> list[str]:
    return [name for name in ("deleted", spec.extra, spec.value) if name in table.column_names]


def _rank_spaces(column: Any) -> tuple[list[str], NDArray[Any]]:
    """Names of the spaces in byte order, and for each row the number of its space."""
    import numpy as np
    import pyarrow as pa

    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    names: list[str] = encoded.dictionary.to_pylist()
    by_name = sorted(range(len(names)), key=names.__getitem__)
    rank_of = np.empty(len(names), np.int32)
    rank_of[by_name] = np.arange(len(names), dtype=np.int32)
    return [names[number] for number in by_name], rank_of[to_numpy(encoded.indices)]


def _order(ranks: NDArray[Any], keys: Any, uids: NDArray[Any], timestamps: NDArray[Any]) -> NDArray[Any] | None:
    """Numbers of the rows in order; None when they are in order already."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(timestamps) < 2:
        return None
    earlier, later = keys[:-1], keys[1:]
    is_less = timestamps[:-1] <= timestamps[1:]
    for lower, equal in (
        (uids[:-1] < uids[1:], uids[:-1] == uids[1:]),
        (to_numpy(pc.less(earlier, later)), to_numpy(pc.equal(earlier, later))),
        (ranks[:-1] < ranks[1:], ranks[:-1] == ranks[1:]),
    ):
        is_less = lower | (equal & is_less)
    if bool(is_less.all()):
        return None
    columns = {"space": ranks, "key": keys, "uid": uids, "ts": timestamps}
    varying = [name for name, column in columns.items() if name == "key" or bool((column != column[0]).any())]
    table = pa.table({name: columns[name] for name in varying})
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in varying])
    return np.asarray(to_numpy(order), dtype=np.int64)


def _boundaries(
    ranks: NDArray[Any], keys: Any, uids: NDArray[Any], timestamps: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Per row, in order: is it the first of its key, and is it another version than the row before."""
    import numpy as np
    import pyarrow.compute as pc

    is_first = np.ones(len(timestamps), np.bool_)
    is_new = np.ones(len(timestamps), np.bool_)
    if len(timestamps) > 1:
        is_first[1:] = to_numpy(pc.not_equal(keys[:-1], keys[1:])) | (ranks[:-1] != ranks[1:])
        is_new[1:] = is_first[1:] | (uids[:-1] != uids[1:]) | (timestamps[:-1] != timestamps[1:])
    return is_first, is_new


def _space_ranges(names: list[str], ranks: NDArray[Any]) -> dict[str, tuple[int, int]]:
    import numpy as np

    bounds = np.searchsorted(ranks, np.arange(len(names) + 1))
    ranges = zip(names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    return {name: (first, stop) for name, first, stop in ranges if first < stop}


def _extras(column: Any) -> memoryview | None:
    import pyarrow as pa

    whole = column.cast(pa.int64()).fill_null(0)
    array = to_numpy(whole)
    return to_view(array) if bool(array.any()) else None


def _positions(chosen: NDArray[Any] | None, order: NDArray[Any] | None) -> NDArray[Any] | None:
    import numpy as np

    found = chosen
    if order is not None:
        found = order if chosen is None else chosen[order]
    if found is None or (len(found) and int(found.max()) > NARROW_MAX):
        return found
    return found.astype(np.int32)
