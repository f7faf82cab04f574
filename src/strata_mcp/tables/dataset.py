"""
The edge to Lance: opening, reading, appending, replacing, and what its failures mean to us.

Nothing beyond this module sees an exception of Lance or Arrow, a panic of their native code included.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.tables.files import dataset_path, discard_unrecorded, manifest_name, table_damage

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo

ROWS_PER_FILE_MAX: Final = 1 << 20
_MISSING: Final = re.compile(r"[Nn]ot found: ?(\S+)")
_FAILURES: Final = (OSError, ValueError, RuntimeError, LookupError, MemoryError)


class TableMoved(Exception):
    """A file of the version in use is gone: another process rewrote the table, or it was lost."""


def _is_native_failure(error: BaseException) -> bool:
    """Tell a failure of Lance or Arrow from everything else; a panic is no `Exception`."""
    if isinstance(error, StrataError | TableMoved):
        return False
    if type(error).__name__ in {"PanicException", "RustPanic"}:
        return True
    return isinstance(error, _FAILURES) or type(error).__module__.startswith(("pyarrow", "lance"))


class _Edge:
    def __init__(self, db_path: Path, table: str) -> None:
        self.db_path = db_path
        self.table = table

    def __enter__(self) -> None:
        os.environ.setdefault("LANCE_LOG", "error")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and _is_native_failure(error):
            raise self.translated(error) from error

    def translated(self, error: BaseException) -> BaseException:
        """The exception to raise instead."""
        raise NotImplementedError

    def _damage(self, error: BaseException) -> StrataError:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        return table_damage(self.table, self._file(error), f"cannot be read: {reason}")

    def _file(self, error: BaseException) -> str:
        found = re.search(r"[\w-]+\.lance/(?:data|_versions|_transactions)/[\w-]+\.(?:lance|manifest|txn)", str(error))
        return found[0] if found is not None else f"{self.table}.lance"


class reading(_Edge):
    """Translate failures of reads: a missing file is `TableMoved`, anything else damage."""

    def translated(self, error: BaseException) -> BaseException:
        """Tell a file that is gone from one that is damaged."""
        if isinstance(error, FileNotFoundError) or _MISSING.search(str(error)) is not None:
            return TableMoved(str(error)[:200])
        return self._damage(error)


class writing(_Edge):
    """Translate failures of writes: a panic is damage, anything else a checkpoint that failed."""

    def translated(self, error: BaseException) -> BaseException:
        """Tell damage from a disk that refuses."""
        if not isinstance(error, Exception):
            return self._damage(error)
        return fail(
            "io.engine.checkpoint",
            f"table {self.table} could not be written: {type(error).__name__}: {str(error)[:200]}",
            table=self.table,
        )


def open_version(db_path: Path, table: str, version: int) -> Any:
    """Open exactly one version of a table; what else is in the folder does not matter."""
    import lance

    return lance.dataset(dataset_path(db_path, table), version=version)


def write_version(
    db_path: Path, table: str, rows: Any, version: int, io: OsIo, *, kept: list[Any] | None = None
) -> tuple[Any, list[str]]:
    """
    Write rows as the version after `version` (0: as the first).

    Args:
        db_path: folder of the database.
        table: name of the table.
        rows: an Arrow table.
        version: the version that counts now; anything newer is discarded first.
        io: where the steps around the commit are announced.
        kept: fragments that stay when the new version replaces the old one; None appends.

    Returns:
        The new version, opened, and the files it added, relative to the folder of tables.
    """
    import lance
    from lance.fragment import write_fragments

    path = dataset_path(db_path, table)
    discard_unrecorded(db_path, table, version, io)
    fragments = write_fragments(
        rows, path, schema=rows.schema, mode="append" if version else "create", max_rows_per_file=ROWS_PER_FILE_MAX
    )
    if version and kept is None:
        operation = lance.LanceOperation.Append(fragments)
    else:
        operation = lance.LanceOperation.Overwrite(rows.schema, [*(kept or ()), *fragments])
    io.step(f"lance_commit:{table}")
    lance.LanceDataset.commit(path, operation, read_version=version or None)
    io.step(f"lance_commit:{table}")
    dataset = lance.dataset(path, version=version + 1)
    names = [f"{table}.lance/data/{file.path}" for fragment in fragments for file in fragment.files]
    return dataset, [*names, f"{table}.lance/_versions/{manifest_name(version + 1)}"]


def check_written(dataset: Any, table: str, rows: Any, count: int, fragments: int) -> None:
    """Read back what was just written: the number of all rows, and the last fragments row by row."""
    found = dataset.count_rows()
    written = dataset.get_fragments()[-fragments:]
    stored = dataset.scanner(fragments=written, scan_in_order=True).to_table()
    if found != count or not stored.equals(rows):
        raise fail("io.engine.checkpoint", f"table {table} reads back other rows than were written", table=table)
