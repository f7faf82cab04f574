"""The MCP server: every operation as a tool, over stdio."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a database over stdio until the client goes away; the entry point `strata-mcp`."""
    parser = _parser()
    given = parser.parse_args(argv)
    path = given.path if given.db is None else given.db
    if path is None:
        parser.error("name the database: strata-mcp ./app-data")
    if given.path is not None and given.db is not None:
        parser.error("name the database once: as an argument, or with --db")
    from strata_mcp.errors import StrataError

    try:
        folder = folder_of(path)
    except StrataError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    from strata_mcp.server.stdio import serve

    return serve(folder, durability=given.durability, branch=given.branch, space=given.space)


def folder_of(path: str, base: Path | None = None) -> Path:
    """
    Absolute folder of a database.

    Args:
        path: as a person or a client's configuration names it; `~` is the home folder.
        base: where relative paths start; the project a client announces, or else the working folder.

    Raises:
        StrataError: it is the root or the home folder itself.
    """
    base = base or Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd())
    folder = Path(os.path.normpath((base / Path(path).expanduser()).absolute()))
    if folder in (Path("/"), Path.home()):
        from strata_mcp.errors import fail

        raise fail(
            "invalid_argument.engine.persistence",
            f"{folder} is no place for a database",
            hint="Name a folder of its own, for instance ./app-data.",
            field="path",
        )
    return folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="strata-mcp", description="Serve a Strata database to one MCP client over stdin and stdout."
    )
    parser.add_argument("path", nargs="?", help="folder of the database; made when missing")
    parser.add_argument("--db", help="the same, as an option")
    parser.add_argument(
        "--durability",
        choices=("always", "standard"),
        default="always",
        help="always: a write is on disk before it is acknowledged; standard: it has left the process",
    )
    parser.add_argument("--branch", default="default", help="branch for calls that name none")
    parser.add_argument("--space", default="default", help="space for calls that name none")
    return parser
