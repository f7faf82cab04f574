"""Results on a terminal: tables for people, plain text in pipes, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

from strata_mcp.errors import StrataError

NOT_FOUND: Final = 3
STATUS_OF_CLASS: Final = {
    "invalid_argument": 2,
    "unsupported": 2,
    "not_found": NOT_FOUND,
    "history_unavailable": NOT_FOUND,
    "already_exists": 4,
    "conflict": 4,
    "failed_precondition": 4,
    "access_denied": 4,
}
OTHER_ERROR: Final = 5
STATUS_HELP: Final = (
    "Exit status: 0 done; 2 the command is wrong; 3 not there; 4 refused in the present state (conflict, name taken); "
    "5 any other error."
)


CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that move the cursor or change colours on a terminal; not the tab and the end of a line."""


def show(data: Any, *, as_json: bool) -> int:
    """Print a result; the exit status that goes with it."""
    status = NOT_FOUND if isinstance(data, dict) and data.get("found") is False else 0
    if as_json:
        sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
    elif status:
        sys.stderr.write("not there\n")
    elif sys.stdout.isatty():
        _show_table(data)
    else:
        sys.stdout.write(_plain(data) + "\n")
    return status


def show_error(error: StrataError, *, as_json: bool) -> int:
    """Print an error to stderr; the exit status that goes with it."""
    if as_json:
        sys.stderr.write(json.dumps({"error": error.status}, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"{harmless(str(error))}\n")
    return STATUS_OF_CLASS.get(error.error_class, OTHER_ERROR)


def _main_part(data: Any) -> Any:
    """What a person wants to see first: the value of a get, the items of a page."""
    if not isinstance(data, dict):
        return data
    if "found" in data:
        return data["value"]["value"]
    items = data.get("items")
    return items if isinstance(items, list) and set(data) <= {"items", "has_more", "cursor", "total_count"} else data


def _plain(data: Any) -> str:
    shown = _main_part(data)
    if isinstance(shown, list):
        lines = [_cell(item) for item in shown]
        if isinstance(data, dict) and data.get("has_more"):
            lines.append(f"# more: --cursor {_cell(data.get('cursor'))}")
        return "\n".join(lines)
    return _cell(shown)


def _show_table(data: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = _main_part(data)
    console = Console(highlight=False)
    rows = shown if isinstance(shown, list) else [shown]
    if not rows or not all(isinstance(row, dict) for row in rows):
        for row in rows:
            console.print(_safe(row), markup=False)
        return
    if len(rows) == 1:
        table = Table(show_header=False)
        for name, value in rows[0].items():
            table.add_row(str(name), _safe(value))
    else:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = Table(*columns)
        for row in rows:
            table.add_row(*(_safe(row.get(name)) for name in columns))
    console.print(table, markup=False)
    if isinstance(data, dict) and data.get("has_more"):
        console.print(f"more: --cursor {_safe(data.get('cursor'))}", markup=False)


def harmless(text: str) -> str:
    """Text for a terminal: what was stored cannot move its cursor, set its colours or ring its bell."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _safe(value: Any) -> str:
    return harmless(_cell(value))


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
