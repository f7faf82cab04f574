"""What a database is opened with: checked before anything is made on disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import fail
from strata_mcp.sdk.arguments import wrong_type

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

DURABILITIES: Final = ("standard", "always")
IPC_MODES: Final = ("host", "client", "off")
MEMORY_BUDGET_MIN: Final = 1 << 20


def open_engine(
    path: str | os.PathLike[str] | None,
    cache: bool,
    durability: str | None,
    ipc: str | None,
    memory_budget: int | None,
) -> Engine:
    """Check what a database is opened with, and open it."""
    from strata_mcp.engine import Engine

    if cache:
        if durability is not None or ipc is not None or memory_budget is not None:
            raise fail(
                "invalid_argument.sdk.command",
                "a database in memory takes neither durability= nor ipc= nor memory_budget=; leave them out",
            )
        return Engine.open(None, cache=True)
    if path is None:
        raise fail("invalid_argument.cli.no_database")
    one_of(durability, DURABILITIES, "durability")
    one_of(ipc, IPC_MODES, "ipc")
    if memory_budget is not None:
        check_budget(memory_budget)
    return Engine.open(folder_of(path), durability=durability, memory_budget=memory_budget, ipc=ipc)


def folder_of(path: object) -> str:
    """The path as text."""
    folder = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(folder, str):
        raise wrong_type("path", "str or a path object", path)
    if not folder:
        raise fail("invalid_argument.engine.persistence", "the path of the database is empty", field="path")
    return folder


def check_budget(memory_budget: object) -> None:
    """Refuse a memory budget that is no number of bytes, or too small to work with."""
    if not isinstance(memory_budget, int) or isinstance(memory_budget, bool):
        raise wrong_type("memory_budget", "a number of bytes", memory_budget)
    if memory_budget < MEMORY_BUDGET_MIN:
        raise fail(
            "invalid_argument.engine.persistence",
            f"memory_budget is {memory_budget} bytes; give at least {MEMORY_BUDGET_MIN}",
            field="memory_budget",
        )


def one_of(value: str | None, names: tuple[str, ...], field: str) -> None:
    """Refuse a mode that does not exist."""
    if value is not None and value not in names:
        raise fail(
            "invalid_argument.sdk.command",
            f"there is no {field} {value!r}; choose one of {', '.join(names)}",
            field=field,
        )
