"""
Checkpoint: move commits from the journal into the tables.

Append, flush, verify, record, and only then drop journal. A crash between any two steps leaves the
record of the previous checkpoint and every commit after it in the journal; what was appended without
being recorded is discarded by the next run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from strata_mcp.journal.port import JournalTruncated
from strata_mcp.model import DEFAULT_BRANCH, DEFAULT_BRANCH_UID, GLOBAL_UID, BranchRecord, Commit, Family
from strata_mcp.tables.dataset import TableMoved, check_written, open_version, reading, write_version, writing
from strata_mcp.tables.files import check_sizes, checkpoint_lock, entry_of, sweep, sync_table, table_damage
from strata_mcp.tables.schema import (
    COMMITS,
    SPEC_OF_NAME,
    commits_to_arrow,
    family_name,
    rows_to_arrow,
    sorted_rows,
)
from strata_mcp.tables.state import CheckpointState, TableState, read_state, tables_path, write_state

if TYPE_CHECKING:
    from strata_mcp.journal.io import OsIo
    from strata_mcp.journal.port import Journal

CHUNK_ROWS_MAX: Final = 100_000
CHUNK_BYTES_MAX: Final = 64 * 1024 * 1024
"""One Lance version takes this much at most, unless a single commit is larger."""

_decode_branch = msgspec.json.Decoder(BranchRecord).decode


class CheckpointOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a checkpoint or a compaction did.

    Attributes:
        status: `done`; `nothing` when there was nothing to do; `busy` when another process is at it.
        checkpoint_ts: timestamp of the last commit in the tables.
        head: highest number that commit occupies.
        commits: commits moved by this run.
        rows: rows written by this run.
        tables: names of the tables that got a new version.
        fragments: number of data files the largest table is spread over.
        freed_bytes: bytes of old files deleted.
    """

    status: Literal["done", "nothing", "busy"]
    checkpoint_ts: int = 0
    head: int = 0
    commits: int = 0
    rows: int = 0
    tables: list[str] = msgspec.field(default_factory=list)
    fragments: int = 0
    freed_bytes: int = 0


def run_checkpoint(db_path: Path, journal: Journal, io: OsIo) -> CheckpointOutcome:
    """
    Move everything the journal holds into the tables.

    Args:
        db_path: folder of the database.
        journal: a handle of the caller's own; it is read from the last checkpoint on and truncated.
        io: the operating system, or a double that fails.

    Raises:
        StrataError: `io.engine.checkpoint` when something could not be written (nothing is lost),
            `data_loss.engine.table` when a table is damaged.
    """
    with checkpoint_lock(db_path, io) as is_ours:
        return _move(db_path, journal, io) if is_ours else CheckpointOutcome(status="busy")


def _move(db_path: Path, journal: Journal, io: OsIo) -> CheckpointOutcome:
    before = state = read_state(db_path)
    journal.seek(state.head)
    try:
        pending = [commit for commit in journal.read() if commit.timestamp > state.checkpoint_ts]
    except JournalTruncated as error:
        raise table_damage("", "tables/CHECKPOINT", "is older than the start of the journal") from error
    rows = 0
    for commits in chunks(pending):
        written, state = append_chunk(db_path, state, commits, io)
        rows += written
    freed_bytes = 0
    if journal.damage is None and state.checkpoint_ts > journal.base:
        journal.truncate(state.checkpoint_ts)
    if state is not before:
        freed_bytes = sweep(db_path, state, io)
    return CheckpointOutcome(
        status="done" if pending else "nothing",
        checkpoint_ts=state.checkpoint_ts,
        head=state.head,
        commits=len(pending),
        rows=rows,
        tables=[name for name in state.tables if state.tables[name] != before.tables.get(name)],
        fragments=fragments_max(state),
        freed_bytes=freed_bytes,
    )


def fragments_max(state: CheckpointState) -> int:
    """Data files of the table that has most."""
    counts = [sum("/data/" in file.path for file in table.files) for table in state.tables.values()]
    return max(counts, default=0)


def chunks(commits: Iterable[Commit]) -> Iterator[list[Commit]]:
    """Cut commits into runs that fit into memory as Arrow columns."""
    chunk: list[Commit] = []
    rows = size_bytes = 0
    for commit in commits:
        count = len(commit.records)
        size = sum(len(key) + len(value or b"") for _, _, key, value, _ in commit.records)
        if chunk and (rows + count > CHUNK_ROWS_MAX or size_bytes + size > CHUNK_BYTES_MAX):
            yield chunk
            chunk, rows, size_bytes = [], 0, 0
        chunk.append(commit)
        rows += count
        size_bytes += size
    if chunk:
        yield chunk


def append_chunk(db_path: Path, state: CheckpointState, commits: list[Commit], io: OsIo) -> tuple[int, CheckpointState]:
    """Append commits to the tables, one version per table, and record it."""
    rows = sorted_rows(commits)
    names = branch_names(db_path, state, commits)
    tables = dict(state.tables)
    count = 0
    for name, table_rows in rows.items():
        count += len(table_rows)
        value_bytes = sum(len(row[5] or b"") for row in table_rows)
        with writing(db_path, name):
            arrow = rows_to_arrow(SPEC_OF_NAME[name], table_rows, names)
            tables[name] = _append(db_path, name, arrow, value_bytes, tables.get(name), io)
    with writing(db_path, COMMITS):
        arrow = commits_to_arrow(commits, names)
        tables[COMMITS] = _append(db_path, COMMITS, arrow, 0, tables.get(COMMITS), io)
    last = commits[-1]
    return count, record(
        db_path,
        state,
        CheckpointState(
            checkpoint_ts=last.timestamp,
            head=last.last,
            committed_at_us=last.committed_at_us,
            tables=tables,
        ),
        io,
    )


def record(
    db_path: Path, before: CheckpointState, after: CheckpointState, io: OsIo, retired: set[str] | None = None
) -> CheckpointState:
    """
    Make the tables count as they are in `after`.

    What `before` needed and `after` does not is retired, and so is what is named as such.
    """
    io.fsync_dir(tables_path(db_path))
    old = before.paths().union(retired or ()) - after.paths()
    after = msgspec.structs.replace(after, generation=before.generation + 1, retired=sorted(old))
    write_state(db_path, after, io)
    return after


def _append(db_path: Path, table: str, rows: Any, value_bytes: int, before: TableState | None, io: OsIo) -> TableState:
    old_version = 0
    if before is not None:
        old_version = before.version
        check_before_append(db_path, table, before)
    count = rows.num_rows + (before.rows if before is not None else 0)
    dataset, added = write_version(db_path, table, rows, old_version, io)
    check_written(dataset, table, rows, count, len(added) - 1)
    sync_table(db_path, table, added, io)
    kept = [file for file in before.files if "/data/" in file.path] if before is not None else []
    return TableState(
        version=int(dataset.version),
        rows=count,
        value_bytes=value_bytes + (before.value_bytes if before is not None else 0),
        files=[*kept, *(entry_of(db_path, path) for path in added)],
    )


def check_before_append(db_path: Path, table: str, before: TableState) -> None:
    """Refuse to build on files that are gone or have another length."""
    try:
        check_sizes(db_path, table, before)
    except FileNotFoundError as error:
        raise table_damage(table, os.path.relpath(error.filename, tables_path(db_path)), "is missing") from error


def branch_names(db_path: Path, state: CheckpointState, commits: list[Commit]) -> dict[int, str]:
    """Names of every branch the commits belong to, from their own catalogue rows or the checkpointed ones."""
    names = {int(DEFAULT_BRANCH_UID): DEFAULT_BRANCH, int(GLOBAL_UID): ""}
    for commit in commits:
        for family, _, _, value, _ in commit.records:
            if family == Family.BRANCH and value is not None:
                branch = _decode_branch(value)
                names[branch.uid] = branch.name
    missing = {commit.branch for commit in commits} - names.keys()
    if missing:
        names.update((uid, name) for uid, name in _checkpointed_names(db_path, state) if uid in missing)
        # A branch without a catalogue row is the store's to refuse; its rows are kept in any case.
        names.update((uid, "") for uid in missing - names.keys())
    return names


def _checkpointed_names(db_path: Path, state: CheckpointState) -> list[tuple[int, str]]:
    catalog = state.tables.get("catalog")
    if catalog is None:
        return []
    wanted = f"family = '{family_name(Family.BRANCH)}' AND deleted = false"
    try:
        with reading(db_path, "catalog"):
            dataset = open_version(db_path, "catalog", catalog.version)
            values = dataset.to_table(columns=["value"], filter=wanted)["value"].to_pylist()
    except TableMoved as error:
        raise table_damage("catalog", "catalog.lance", f"has a file missing: {error}") from error
    return [(branch.uid, branch.name) for branch in map(_decode_branch, values)]
