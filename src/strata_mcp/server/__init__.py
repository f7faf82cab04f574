"""The MCP server: every operation as a tool, over stdio."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a database over stdio until the client goes away; the entry point `strata-mcp`."""
    given = _parser().parse_args(argv)
    path = given.db or given.path
    if path is None:
        sys.stderr.write("name the database: strata-mcp ./app-data\n")
        return 2
    from strata_mcp.server.stdio import serve

    return serve(folder_of(path), durability=given.durability, branch=given.branch, space=given.space)


def folder_of(path: str) -> Path:
    """Absolute folder of a database; relative ones start at the project a client announces, or here."""
    base = Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd())
    folder = (base / Path(path).expanduser()).absolute()
    if folder in (Path("/"), Path.home()):
        from strata_mcp.errors import fail

        raise fail("invalid_argument.engine.persistence", f"{folder} is no place for a database", field="path")
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
