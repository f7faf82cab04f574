"""Values of a table's rows: all in memory, or paged in from Lance within a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from strata_mcp.tables.dataset import TableMoved, reading

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strata_mcp.tables.buffers import ByteColumn
    from strata_mcp.tables.schema import TableSpec

PAGE_BYTES: Final = 64 * 1024
"""What a page of average values comes to."""
PAGE_ROWS_MAX: Final = 1024
RELOCATIONS_MAX: Final = 10
"""A table cannot well be rewritten more often while one page is read."""
VALUE_OVERHEAD_BYTES: Final = 50
"""Of one bytes object in a page: header and list slot."""


class Values(Protocol):
    """Values by row number, in the order of the sorted rows."""

    @property
    def nbytes(self) -> int:
        """Memory taken for good."""

    def at(self, row: int) -> bytes:
        """The value of a row that is no deletion."""


class ResidentValues:
    """All values in one buffer."""

    __slots__ = ("_column", "at")

    def __init__(self, column: ByteColumn) -> None:
        """Take over a column in the order of the rows."""
        self._column = column
        self.at = column.at

    @property
    def nbytes(self) -> int:
        """Memory taken for good."""
        return self._column.nbytes


class PageCache:
    """Least recently used pages of all tables of a handle, up to a number of bytes that may vary."""

    def __init__(self, room_bytes: Callable[[], int]) -> None:
        """Start empty; `room_bytes` tells how much there may be at the moment."""
        self.size_bytes = 0
        self._room_bytes = room_bytes
        self._pages: OrderedDict[tuple[int, int], tuple[list[bytes | None], int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, owner: int, page: int) -> list[bytes | None] | None:
        """A page that is still there."""
        with self._lock:
            found = self._pages.get((owner, page))
            if found is None:
                return None
            self._pages.move_to_end((owner, page))
            return found[0]

    def put(self, owner: int, page: int, values: list[bytes | None]) -> None:
        """Keep a page, at the expense of those unused for longest; one that alone is too large is not kept."""
        size = sum(len(value or b"") for value in values) + VALUE_OVERHEAD_BYTES * len(values)
        room_bytes = self._room_bytes()
        with self._lock:
            if size > room_bytes or (owner, page) in self._pages:
                return
            self._pages[owner, page] = values, size
            self.size_bytes += size
            while self.size_bytes > room_bytes:
                _, (_, dropped) = self._pages.popitem(last=False)
                self.size_bytes -= dropped


class PagedValues:
    """
    Values left on disk and read a page of neighbouring rows at a time.

    When another process has rewritten the table, `relocate` opens what it is now and says where
    the same rows stand there; the rows themselves never change.
    """

    def __init__(
        self,
        *,
        db_path: Path,
        spec: TableSpec,
        dataset: Any,
        positions: NDArray[Any] | None,
        rows: int,
        value_bytes: int,
        cache: PageCache,
        relocate: Callable[[], tuple[Any, NDArray[Any] | None]],
    ) -> None:
        """Made by `TableSet`."""
        self._db_path = db_path
        self._spec = spec
        self._source = dataset, positions
        self._rows = rows
        self._cache = cache
        self._relocate = relocate
        average = value_bytes // max(rows, 1) + VALUE_OVERHEAD_BYTES
        self._page_rows = max(1, min(PAGE_ROWS_MAX, PAGE_BYTES // average))

    nbytes = 0

    def at(self, row: int) -> bytes:
        """The value of a row that is no deletion; read with its neighbours unless they are still in memory."""
        page, index = divmod(row, self._page_rows)
        values = self._cache.get(id(self), page)
        if values is None:
            values = self._read(page)
            self._cache.put(id(self), page, values)
        return values[index] or b""

    def _read(self, page: int) -> list[bytes | None]:
        first = page * self._page_rows
        stop = min(first + self._page_rows, self._rows)
        for _ in range(RELOCATIONS_MAX):
            try:
                return self._take(first, stop)
            except TableMoved:
                self._source = self._relocate()
        return self._take(first, stop)

    def _take(self, first: int, stop: int) -> list[bytes | None]:
        import pyarrow as pa

        dataset, positions = self._source
        wanted = list(range(first, stop)) if positions is None else positions[first:stop].tolist()
        with reading(self._db_path, self._spec.name):
            column = dataset.take(wanted, columns=[self._spec.value])[self._spec.value]
            values: list[bytes | None] = column.cast(pa.large_binary()).to_pylist()
        return values
