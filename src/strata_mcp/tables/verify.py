"""Checking every byte of the checkpointed tables against what was written."""

from __future__ import annotations

from pathlib import Path

from strata_mcp.errors import StrataError
from strata_mcp.tables.dataset import TableMoved, open_version, reading
from strata_mcp.tables.files import check_digests, table_damage
from strata_mcp.tables.state import TableState, read_state


def verify(db_path: Path) -> list[StrataError]:
    """
    Read every file of every table and compare; empty when all is well.

    Slow on purpose; opening a database checks lengths only.
    """
    try:
        state = read_state(db_path)
    except StrataError as error:
        return [error]
    found = []
    for name, table in state.tables.items():
        problem = _problem(db_path, name, table)
        # A file may also be gone because the table was rewritten while we looked.
        if problem is not None and read_state(db_path).tables.get(name) == table:
            found.append(problem)
    return found


def _problem(db_path: Path, name: str, table: TableState) -> StrataError | None:
    try:
        check_digests(db_path, name, table)
        with reading(db_path, name):
            rows = open_version(db_path, name, table.version).count_rows()
    except StrataError as error:
        return error
    except (FileNotFoundError, TableMoved) as error:
        return table_damage(name, f"{name}.lance", f"has a file missing: {error}")
    if rows != table.rows:
        return table_damage(name, f"{name}.lance", f"has {rows} rows instead of {table.rows}")
    return None
