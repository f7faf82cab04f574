"""
The Python interface. `stratadb` re-exports what stands in `__all__`; everything else is internal.

Importing this loads no namespace and nothing heavy: a name is loaded when it is first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from strata_mcp import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from strata_mcp import clock, errors
    from strata_mcp.clock import TimeLike
    from strata_mcp.results.branches import PromotionStrategy
    from strata_mcp.results.common import JsonValue
    from strata_mcp.sdk import filters
    from strata_mcp.sdk.handle import Strata
    from strata_mcp.sdk.hub import HubCloneProgress, HubDatasetSort
    from strata_mcp.sdk.pages import Page
    from strata_mcp.sdk.scaffold import Action

__all__ = [
    "HubCloneProgress",
    "HubDatasetSort",
    "Page",
    "PromotionStrategy",
    "Strata",
    "TimeLike",
    "__version__",
    "agents_guide",
    "agents_skill",
    "clock",
    "clone",
    "command_index",
    "demo",
    "errors",
    "filters",
    "from_env",
    "init",
    "mcp_config",
    "open",
    "to_datetime",
    "to_micros",
]

_HOMES = {
    "HubCloneProgress": "strata_mcp.sdk.hub",
    "HubDatasetSort": "strata_mcp.sdk.hub",
    "Page": "strata_mcp.sdk.pages",
    "PromotionStrategy": "strata_mcp.results.branches",
    "Strata": "strata_mcp.sdk.handle",
    "TimeLike": "strata_mcp.clock",
    "clock": "strata_mcp",
    "errors": "strata_mcp",
    "filters": "strata_mcp.sdk",
}
"""Names loaded on first use, and the modules that hold them."""

if not TYPE_CHECKING:  # type checkers see the imports above and should report a name that is not there

    def __getattr__(name: str) -> object:
        """Load a public name on first use."""
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        if name in ("clock", "errors", "filters"):
            value: object = import_module(f"{home}.{name}")
        else:
            value = getattr(import_module(home), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Public names, loaded or not."""
        return sorted({*globals(), *__all__})


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    cache: bool = False,
    branch: str | None = None,
    space: str | None = None,
    durability: str | None = None,
    ipc: str | None = None,
    memory_budget: int | None = None,
) -> Strata:
    """
    Open a database.

    Args:
        path: folder of the database; its last part is created when missing.
        cache: a database in memory instead, gone when it is closed.
        branch: the branch that calls go to; checked by the first of them.
        space: the space that calls go to.
        durability: `standard` (survives the process) or `always` (survives the machine).
        ipc: `host`, `client` or `off`; taken for compatibility, since processes share a database without a host.
        memory_budget: bytes the handle may keep in memory, from 1 MiB.
    """
    from strata_mcp.sdk.handle import Strata

    return Strata(
        path,
        cache=cache,
        branch=branch,
        space=space,
        durability=durability,
        ipc=ipc,
        memory_budget=memory_budget,
    )


def from_env(*, branch: str | None = None, space: str | None = None) -> Strata:
    """
    Open the database that the environment variable STRATA_DB names.

    Args:
        branch: the branch that calls go to.
        space: the space that calls go to.
    """
    path = os.environ.get("STRATA_DB")
    if not path:
        from strata_mcp.errors import fail

        raise fail("invalid_argument.cli.no_database", "STRATA_DB is not set; set it to the folder of a database")
    return open(path, branch=branch, space=space)


def clone(
    dataset: str,
    dest: str | os.PathLike[str],
    *,
    hub_url: str | None = None,
    branch: str | None = None,
    progress: Callable[[HubCloneProgress], object] | None = None,
) -> NoReturn:
    """
    Copy a published data set into a new database. Not in this release.

    Args:
        dataset: name of the data set.
        dest: folder of the new database.
        hub_url: where the data set is published.
        branch: branch to clone.
        progress: called with each step.

    Raises:
        StrataError: always, `unsupported.executor.hub_feature_disabled`.
    """
    from strata_mcp.errors import fail

    if progress is not None and not callable(progress):
        raise fail("invalid_argument.sdk.command", "progress takes a function of one step", field="progress")
    raise fail("unsupported.executor.hub_feature_disabled", dataset=dataset)


def to_micros(when: TimeLike | None) -> int | None:
    """
    UTC microseconds of an instant.

    Args:
        when: microseconds, a datetime (local time when it has no zone), a date (local midnight), or ISO text.
    """
    from strata_mcp import clock

    return clock.to_micros(when)


def to_datetime(micros: int | None) -> datetime | None:
    """The instant of UTC microseconds as a datetime in UTC."""
    from strata_mcp import clock

    return clock.to_datetime(micros)


def agents_guide() -> str:
    """How to use Strata, as markdown for an agent that has never seen it."""
    from strata_mcp.sdk.guides import guide

    return guide()


def agents_skill() -> str:
    """A skill file for coding agents, as markdown with YAML front matter."""
    from strata_mcp.sdk.guides import skill

    return skill()


def mcp_config(db_path: str | os.PathLike[str]) -> dict[str, str | list[str]]:
    """How an MCP client starts the server on a database: command and arguments."""
    return {"command": "strata", "args": [str(db_path), "mcp", "serve"]}


def command_index() -> dict[str, JsonValue]:
    """Every command that `Strata.execute` and the MCP server take, with arguments, results and errors."""
    from strata_mcp.tools.index import command_index

    return command_index()


def demo() -> None:
    """Print a short tour of a database in memory."""
    from strata_mcp.sdk.tour import show

    show()


def init(repo_path: str = ".", *, include_claude_md: bool = True) -> list[tuple[str, Action]]:
    """
    Tell the agents that work in a repository about Strata.

    Writes a skill file and a passage between markers in AGENTS.md and CLAUDE.md. Text outside the markers stays, and
    running it again brings the passages up to date.

    Args:
        repo_path: folder of the repository.
        include_claude_md: keep a passage in CLAUDE.md too.

    Returns:
        (path, action) of each file; the action is created, updated, unchanged or removed.
    """
    from strata_mcp.sdk.scaffold import write

    return write(repo_path, include_claude_md)
