"""The command line: `strata DATABASE FAMILY VERB ...`, generated from the same operations as the tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence

GENERAL = frozenset({"agents", "config", "init"})
"""First words that are no database; one of that name is reached as `./agents`. Names of families are none either."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; the entry point `strata`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    from strata_mcp.cli.app import run

    return run(arguments)
