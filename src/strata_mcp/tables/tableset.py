"""
The checkpointed tables of a database as one handle sees them.

A set stands still: it shows what was checkpointed when it was opened, whatever is checkpointed or
compacted later. Opening reads one small file; a table is read the first time a row of it is wanted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from strata_mcp.errors import StrataError
from strata_mcp.tables.base import BaseTable, EmptyBase
from strata_mcp.tables.dataset import TableMoved, open_version, reading
from strata_mcp.tables.files import check_digests, check_sizes, table_damage
from strata_mcp.tables.load import SortedColumns, columns_to_read, families_of, sort_columns
from strata_mcp.tables.schema import COMMITS, SPEC_OF_FAMILY, TableSpec
from strata_mcp.tables.state import CheckpointState, TableState, read_state
from strata_mcp.tables.timeline import COLUMNS, Timeline, commit_columns, empty_timeline
from strata_mcp.tables.values import PageCache, PagedValues, ResidentValues, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY_BUDGET_BYTES_MIN: Final = 1024 * 1024
PAGE_CACHE_BYTES_MIN: Final = 256 * 1024
INDEX_BYTES_PER_ROW: Final = 40
"""What a row takes besides its value, about; decides whether the values fit beside it."""
DIGESTED_BYTES_MAX: Final = 512 * 1024 * 1024
"""A table up to this size is checked in full whenever it is loaded; larger ones by length, and by `verify`."""

Loaded = TypeVar("Loaded")


class TableSet:
    """
    Everything checkpointed, read lazily. Every method may be called from any thread.

    Attributes:
        checkpoint_ts: timestamp of the last commit in the tables, 0 when there is none.
        head: highest number that commit occupies.
        committed_at_us: its instant, UTC microseconds.
    """

    def __init__(self, db_path: Path, state: CheckpointState, memory_budget_bytes: int) -> None:
        """Use `open`."""
        self.checkpoint_ts = state.checkpoint_ts
        self.head = state.head
        self.committed_at_us = state.committed_at_us
        self._db_path = db_path
        self._state = state
        self._budget_bytes = max(memory_budget_bytes, MEMORY_BUDGET_BYTES_MIN)
        self._bases: dict[int, BaseTable] = {}
        self._timeline: Timeline | None = None
        self._pages = PageCache(self._page_room_bytes)
        self._lock = threading.RLock()

    @classmethod
    def open(cls, db_path: Path, memory_budget_bytes: int) -> TableSet:
        """
        Read what has been checkpointed last.

        Values are kept in memory while everything loaded stays within the budget; beyond it they are
        read when asked for.

        Raises:
            StrataError: `data_loss.engine.table` when the record of checkpoints is damaged. A damaged
                table is reported by `damage` and raised by what needs it.
        """
        return cls(db_path, read_state(db_path), memory_budget_bytes)

    def damage(self) -> list[StrataError]:
        """Tables whose files are not there or have another length; cheap."""
        found: list[StrataError] = []
        for name in list(self._state.tables):
            try:
                self._settled(name, partial(check_sizes, self._db_path, name))
            except StrataError as error:
                found.append(error)
        return found

    def base(self, family: int) -> BaseTable:
        """The checkpointed rows of a family; `rows` is 0 when there are none."""
        found = self._bases.get(family)
        if found is None:
            with self._lock:
                found = self._bases.get(family)
                if found is None:
                    self._load_family(family)
                    found = self._bases[family]
        return found

    def timeline(self) -> Timeline:
        """The checkpointed commits."""
        found = self._timeline
        if found is None:
            with self._lock:
                found = self._timeline
                if found is None:
                    found = self._timeline = self._load_timeline()
        return found

    @property
    def resident_bytes(self) -> int:
        """Memory taken by what has been loaded, pages included."""
        return self._fixed_bytes() + self._pages.size_bytes

    def _fixed_bytes(self) -> int:
        timeline = self._timeline
        loaded = sum(base.nbytes for base in list(self._bases.values()))
        return loaded + (timeline.nbytes if timeline is not None else 0)

    # ---- loading ----

    def _load_family(self, family: int) -> None:
        spec = SPEC_OF_FAMILY.get(family)
        if spec is None or spec.name not in self._state.tables:
            self._bases[family] = EmptyBase()
            return
        table = self._state.tables[spec.name]
        room = self._budget_bytes - self.resident_bytes - table.rows * INDEX_BYTES_PER_ROW
        is_resident = spec.has_family or table.value_bytes <= room
        for each, columns, dataset in self._settled(spec.name, partial(self._read_rows, spec, is_resident)):
            self._bases[each] = BaseTable(columns, self._values(spec, each, columns, dataset))

    def _values(self, spec: TableSpec, family: int, columns: SortedColumns, dataset: Any) -> Values:
        if columns.values is not None:
            return ResidentValues(columns.values)
        return PagedValues(
            db_path=self._db_path,
            spec=spec,
            dataset=dataset,
            positions=columns.positions,
            rows=columns.rows,
            value_bytes=self._state.tables[spec.name].value_bytes,
            cache=self._pages,
            relocate=partial(self._relocate, spec, family, columns.rows),
        )

    def _read_rows(self, spec: TableSpec, is_resident: bool, table: TableState) -> list[tuple[int, SortedColumns, Any]]:
        dataset, rows = self._read(spec.name, table, columns_to_read(spec, with_values=is_resident))
        with reading(self._db_path, spec.name):
            return [
                (family, sort_columns(spec, rows, chosen, self.checkpoint_ts), dataset)
                for family, chosen in families_of(spec, rows)
            ]

    def _load_timeline(self) -> Timeline:
        if COMMITS not in self._state.tables:
            return empty_timeline()
        return self._settled(COMMITS, self._read_timeline)

    def _read_timeline(self, table: TableState) -> Timeline:
        _, rows = self._read(COMMITS, table, COLUMNS)
        with reading(self._db_path, COMMITS):
            return Timeline(commit_columns(rows, self.checkpoint_ts))

    def _read(self, name: str, table: TableState, columns: list[str]) -> tuple[Any, Any]:
        """Columns of one version of a table, behind all checks."""
        check_sizes(self._db_path, name, table)
        if sum(file.size_bytes for file in table.files) <= DIGESTED_BYTES_MAX:
            check_digests(self._db_path, name, table)
        with reading(self._db_path, name):
            dataset = open_version(self._db_path, name, table.version)
            rows = dataset.to_table(columns=columns)
        if rows.num_rows != table.rows:
            raise table_damage(name, f"{name}.lance", f"has {rows.num_rows} rows instead of {table.rows}")
        return dataset, rows

    def _settled(self, name: str, read: Callable[[TableState], Loaded]) -> Loaded:
        """
        Read a table; where it was rewritten meanwhile, read what it is now.

        A newer version holds the same rows and later ones, which `checkpoint_ts` keeps out.
        """
        while True:
            table = self._state.tables[name]
            try:
                return read(table)
            except (FileNotFoundError, TableMoved) as error:
                with self._lock:
                    newest = read_state(self._db_path)
                    moved = newest.tables.get(name)
                    if moved is None or moved == table:
                        missing = getattr(error, "filename", None) or str(error)
                        raise table_damage(name, self._relative(missing), "is missing") from error
                    self._state = newest

    def _relative(self, path: str) -> str:
        return path.partition("/tables/")[2] or path

    def _relocate(self, spec: TableSpec, family: int, rows: int) -> tuple[Any, NDArray[Any] | None]:
        """Open the table as it is now and find the same rows, in the same order, in it."""
        for each, columns, dataset in self._settled(spec.name, partial(self._read_rows, spec, False)):
            if each == family and columns.rows == rows:
                return dataset, columns.positions
        raise table_damage(spec.name, f"{spec.name}.lance", "no longer holds the rows it held")

    def _page_room_bytes(self) -> int:
        """What everything else leaves of the budget, or a little where it leaves nothing."""
        return max(PAGE_CACHE_BYTES_MIN, self._budget_bytes - self._fixed_bytes())
