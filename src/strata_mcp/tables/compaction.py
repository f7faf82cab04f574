"""
Compaction: rewrite many small files of a table into few sorted ones.

Rows are never changed, only put in order, and those that a repeated checkpoint wrote twice are dropped.
The old files stay until the next state is recorded: handles that read values from them go on unharmed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.tables.buffers import bytes_array, to_numpy
from strata_mcp.tables.checkpoint import CheckpointOutcome, fragments_max, record
from strata_mcp.tables.dataset import (
    ROWS_PER_FILE_MAX,
    TableMoved,
    check_written,
    open_version,
    reading,
    write_version,
    writing,
)
from strata_mcp.tables.files import check_digests, checkpoint_lock, entry_of, sweep, sync_table, table_damage
from strata_mcp.tables.load import families_of, sort_columns
from strata_mcp.tables.schema import COMMITS, SPEC_OF_NAME
from strata_mcp.tables.state import CheckpointState, TableState, read_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strata_mcp.journal.io import OsIo

FRAGMENTS_MAX: Final = 16
"""A table in more files than this is compacted without being asked."""
GROUP_BYTES_MAX: Final = 128 * 1024 * 1024
"""Files rewritten together come to this much on disk at most; a file of more than half of it is left alone."""
EVERY_ROW: Final = (1 << 63) - 1


def compact(db_path: Path, io: OsIo, *, is_forced: bool = True) -> CheckpointOutcome:
    """
    Rewrite the small files of each table.

    Args:
        db_path: folder of the database.
        io: the operating system, or a double that fails.
        is_forced: rewrite wherever two files can become one; otherwise only tables in many files.

    Raises:
        StrataError: `io.engine.checkpoint` when something could not be written (nothing is lost),
            `data_loss.engine.table` when a table is damaged; a damaged table is never rewritten.
    """
    with checkpoint_lock(db_path, io) as is_ours:
        return _compact(db_path, io, is_forced) if is_ours else CheckpointOutcome(status="busy")


def _compact(db_path: Path, io: OsIo, is_forced: bool) -> CheckpointOutcome:
    before = state = read_state(db_path)
    rows = 0
    for name in before.tables:
        while (table := _rewrite(db_path, name, state.tables[name], io, is_forced)) is not None:
            after = CheckpointState(
                checkpoint_ts=state.checkpoint_ts,
                head=state.head,
                committed_at_us=state.committed_at_us,
                tables={**state.tables, name: table},
            )
            rows += table.rows
            state = record(db_path, state, after, io, retired=before.paths())
            if not is_forced:
                break
    freed_bytes = sweep(db_path, state, io)
    return CheckpointOutcome(
        status="done" if state is not before else "nothing",
        checkpoint_ts=state.checkpoint_ts,
        head=state.head,
        rows=rows,
        tables=[name for name in state.tables if state.tables[name] != before.tables[name]],
        fragments=fragments_max(state),
        freed_bytes=freed_bytes,
    )


def _rewrite(db_path: Path, name: str, table: TableState, io: OsIo, is_forced: bool) -> TableState | None:
    """Rewrite one group of small files of a table; None when there is none worth it."""
    data = [file for file in table.files if "/data/" in file.path]
    small = [file for file in data if file.size_bytes <= GROUP_BYTES_MAX // 2]
    if len(small) < 2 or not (is_forced or len(small) > FRAGMENTS_MAX):
        return None
    try:
        check_digests(db_path, name, table)
        with reading(db_path, name):
            dataset = open_version(db_path, name, table.version)
            sizes = {os.path.basename(file.path): file.size_bytes for file in data}
            chosen = _group(dataset.get_fragments(), sizes)
            if len(chosen) < 2:
                return None
            numbers = {fragment.fragment_id for fragment in chosen}
            stored = dataset.scanner(fragments=chosen, scan_in_order=True).to_table()
            rows = stored.take(_order(name, stored))
    except (FileNotFoundError, TableMoved) as error:
        raise table_damage(name, f"{name}.lance", f"has a file missing: {error}") from error
    dropped = stored.num_rows - rows.num_rows
    kept = [fragment.metadata for fragment in dataset.get_fragments() if fragment.fragment_id not in numbers]
    with writing(db_path, name):
        fresh, added = write_version(db_path, name, rows, table.version, io, kept=kept)
        check_written(fresh, name, rows, table.rows - dropped, len(added) - 1)
        sync_table(db_path, name, added, io)
    old = {file.path for fragment in kept for file in fragment.files}
    return TableState(
        version=int(fresh.version),
        rows=table.rows - dropped,
        value_bytes=table.value_bytes - _value_bytes(name, stored) + _value_bytes(name, rows),
        files=[
            *(file for file in data if os.path.basename(file.path) in old),
            *(entry_of(db_path, path) for path in added),
        ],
    )


def _group(fragments: list[Any], sizes: dict[str, int]) -> list[Any]:
    """Small fragments in the order they stand in, as many as may be rewritten together."""
    chosen: list[Any] = []
    size_bytes = rows = 0
    for fragment in fragments:
        size = sum(sizes[file.path] for file in fragment.metadata.files)
        count = fragment.metadata.physical_rows
        if size > GROUP_BYTES_MAX // 2 or count > ROWS_PER_FILE_MAX // 2:
            continue
        if size_bytes + size > GROUP_BYTES_MAX or rows + count > ROWS_PER_FILE_MAX:
            break
        chosen.append(fragment)
        size_bytes += size
        rows += count
    return chosen


def _order(name: str, stored: Any) -> NDArray[Any]:
    """Numbers of the rows to keep, in the order to keep them in."""
    import numpy as np

    if name == COMMITS:
        return np.unique(to_numpy(stored["ts"]), return_index=True)[1]
    spec = SPEC_OF_NAME[name]
    payload = stored.drop_columns([spec.value])
    parts = []
    for _, chosen in families_of(spec, payload):
        columns = sort_columns(spec, payload, chosen, EVERY_ROW)
        parts.append(np.arange(columns.rows) if columns.positions is None else columns.positions)
    return np.concatenate(parts)


def _value_bytes(name: str, rows: Any) -> int:
    import pyarrow.compute as pc

    if name == COMMITS:
        return 0
    lengths = pc.sum(pc.binary_length(bytes_array(rows[SPEC_OF_NAME[name].value])))
    return int(lengths.as_py() or 0)
