"""
Serving one client over stdin and stdout, and ending when it does.

Stdout belongs to the protocol from the first byte to the last; everything else goes to stderr.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from strata_mcp.server.app import Database, build

PARENT_CHECK_S: Final = 1.0
"""How often to look whether the client is still there, for clients that die without closing the pipe."""
CLOSE_S: Final = 1.5
"""How long a server that must go may take to close its database; what it acknowledged is durable without that."""

_logger = logging.getLogger("strata.server")


def serve(path: Path | None, *, durability: str, branch: str, space: str) -> int:
    """
    Serve until the client closes its end, dies, or a signal asks to stop.

    Args:
        path: folder of the database; None for one in memory that ends with the server.
        durability: `always` or `standard`.
        branch: for calls that name none.
        space: for calls that name none.

    Returns:
        0 when that went well.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="strata: %(levelname)s %(message)s")
    parent = os.getppid()
    database = Database(path, durability, branch, space)
    try:
        anyio.run(_serve, build(database), database, parent)
    finally:
        database.close()
    return 0


async def _serve(server: Server[Any], database: Database, parent: int) -> None:
    async with anyio.create_task_group() as tasks:
        if os.name == "posix":
            tasks.start_soon(_on_signal, database)
            tasks.start_soon(_on_orphan, database, parent)
        async with stdio_server() as (incoming, outgoing):
            sys.stdout = sys.stderr
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _on_signal(database: Database) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as received:
        async for number in received:
            _leave(database, signal.Signals(number).name)


async def _on_orphan(database: Database, parent: int) -> None:
    while os.getppid() == parent:
        await anyio.sleep(PARENT_CHECK_S)
    _leave(database, "the client is gone")


def _leave(database: Database, reason: str) -> None:
    """
    Close the database and end at once: the thread that reads stdin cannot be asked to stop.

    No checkpoint, and no waiting for one: clients soon follow a signal with SIGKILL.
    """
    _logger.debug("ending: %s", reason)
    closing = threading.Thread(target=database.close, kwargs={"checkpoint": False}, daemon=True)
    closing.start()
    closing.join(CLOSE_S)
    os._exit(0)
