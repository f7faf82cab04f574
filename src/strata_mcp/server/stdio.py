"""
Serving one client over stdin and stdout, and ending when it does.

Stdout belongs to the protocol from the first byte to the last; everything else goes to stderr.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from strata_mcp.server.app import Database, build

PARENT_CHECK_S: Final = 1.0
"""How often to look whether the client is still there, for clients that die without closing the pipe."""

_logger = logging.getLogger("strata.server")


def serve(path: Path, *, durability: str, branch: str, space: str) -> int:
    """Serve until the client closes its end, dies, or a signal asks to stop; 0 when that went well."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="strata: %(levelname)s %(message)s")
    database = Database(path, durability, branch, space)
    try:
        anyio.run(_serve, build(database), database)
    finally:
        database.close()
    return 0


async def _serve(server: Server[Any], database: Database) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_on_signal, database)
        if os.name == "posix":
            tasks.start_soon(_on_orphan, database, os.getppid())
        async with stdio_server() as (incoming, outgoing):
            sys.stdout = sys.stderr
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _on_signal(database: Database) -> None:
    names = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
    with anyio.open_signal_receiver(*names) as received:
        async for number in received:
            _leave(database, signal.Signals(number).name)


async def _on_orphan(database: Database, parent: int) -> None:
    while os.getppid() == parent:
        await anyio.sleep(PARENT_CHECK_S)
    _leave(database, "the client is gone")


def _leave(database: Database, reason: str) -> None:
    """Close the database and end at once: the thread that reads stdin cannot be asked to stop."""
    _logger.debug("ending: %s", reason)
    database.close()
    os._exit(0)
