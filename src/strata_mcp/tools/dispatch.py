"""One command in, one answer out: what `db.execute` and the surfaces call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strata_mcp.errors import fail
from strata_mcp.tools.operation import Operation, find
from strata_mcp.tools.wire import plain

if TYPE_CHECKING:
    from strata_mcp.engine import Engine
    from strata_mcp.results.common import JsonValue


def execute(engine: Engine, command: Mapping[str, JsonValue], branch: str, space: str) -> dict[str, JsonValue]:
    """
    Run one command in wire form.

    Args:
        engine: the open database.
        command: `{"type": ..., ...}`.
        branch: where it goes when it names no branch.
        space: where it goes when it names no space.

    Returns:
        `{"type": ..., "data": ...}`.

    Raises:
        StrataError: whatever is wrong; never another exception for a fault of the command.
    """
    operation, args = read(command)
    engine.store.catch_up()
    return operation.answer(operation.call(engine, args, branch, space))


def read(command: Mapping[str, JsonValue]) -> tuple[Operation[Any], Any]:
    """The operation a command names, and its arguments."""
    if not isinstance(command, Mapping):
        raise fail("invalid_argument.sdk.command", f"a command is an object, not a {type(command).__name__}")
    values: dict[str, JsonValue] = {}
    for name, value in command.items():
        if not isinstance(name, str):
            raise fail("invalid_argument.sdk.command", f"field names are text, not {type(name).__name__}")
        values[str(plain(name, "type"))] = plain(value, name)
    operation = find(values.pop("type", None))
    return operation, operation.parse(values)
