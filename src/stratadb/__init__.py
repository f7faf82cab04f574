"""Strata: one embedded, versioned state layer for AI agents. `db = stratadb.open("./app-data")` starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata_mcp.sdk import (
    __version__,
    agents_guide,
    agents_skill,
    clone,
    command_index,
    demo,
    from_env,
    init,
    mcp_config,
    open,
    to_datetime,
    to_micros,
)

if TYPE_CHECKING:
    from strata_mcp.sdk import HubCloneProgress, HubDatasetSort, Page, PromotionStrategy, Strata, TimeLike
    from stratadb import clock, errors, filters, namespaces

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
    "namespaces",
    "open",
    "to_datetime",
    "to_micros",
]

if not TYPE_CHECKING:  # type checkers see the imports above and should report a name that is not there

    def __getattr__(name: str) -> object:
        """Load a public name on first use."""
        if name in ("clock", "errors", "filters", "namespaces"):
            from importlib import import_module

            return import_module(f"stratadb.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from strata_mcp import sdk

        value = getattr(sdk, name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Public names, loaded or not."""
        return sorted({*globals(), *__all__})
