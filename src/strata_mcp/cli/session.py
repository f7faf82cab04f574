"""What one command line works with: the database, where in it, and how to print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.cli.show import show, show_error
from strata_mcp.errors import StrataError
from strata_mcp.server import folder_of, surface

if TYPE_CHECKING:
    from strata_mcp.tools.operation import Operation

CHECKPOINT_BYTES_MIN: Final = 1 << 20
"""A command leaves a shorter journal to the next checkpoint, so that it ends at once."""


@dataclass(slots=True)
class Session:
    """
    The database and the options in front of the command.

    Attributes:
        database: as it was named.
        is_cache: a database in memory instead.
        durability: as given; None when the command line says nothing about it.
        usual_durability: what commands use then.
        branch: for commands that name none.
        space: for commands that name none.
        as_of: commit number that reads go back to.
        as_of_time: instant that reads go back to, in UTC microseconds.
        author: who signs commits.
        message: what commits are for.
        as_json: print JSON.
    """

    database: str
    is_cache: bool
    durability: str | None
    usual_durability: str
    branch: str
    space: str
    as_of: int | None
    as_of_time: int | None
    author: str | None
    message: str | None
    as_json: bool

    def run(self, operation: Operation[Any], arguments: dict[str, Any]) -> int:
        """Open, run one operation, print, close; the exit status."""
        from strata_mcp.engine import Engine
        from strata_mcp.tools.dispatch import execute

        known = operation.input_schema()["properties"]
        for name in ("as_of", "as_of_time", "author", "message"):
            value = getattr(self, name)
            if value is not None and name in known:
                arguments.setdefault(name, value)
        try:
            if self.is_cache:
                engine = Engine.open(cache=True)
            else:
                folder = folder_of(self.database, Path.cwd())
                engine = Engine.open(folder, durability=self.durability or self.usual_durability)
            try:
                answer = execute(engine, surface.command(operation, arguments), self.branch, self.space)
            finally:
                engine.close(checkpoint=engine.journal.size_bytes() >= CHECKPOINT_BYTES_MIN)
        except StrataError as error:
            return show_error(error, as_json=self.as_json)
        return show(surface.data(operation, answer), as_json=self.as_json)

    def serve(self) -> int:
        """
        Serve the database to one MCP client; the exit status.

        A client ends its server with signals, so commits are durable unless the command line says otherwise.
        """
        from strata_mcp.server.stdio import serve

        folder = None if self.is_cache else folder_of(self.database)
        return serve(folder, durability=self.durability or "always", branch=self.branch, space=self.space)


def instant(text: str) -> int | None:
    """UTC microseconds of what somebody typed: a number, or ISO 8601."""
    from strata_mcp.clock import to_micros

    return int(text) if text.isdecimal() else to_micros(text)
