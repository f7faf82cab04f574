"""
Python values as JSON values, the way `json.dumps` reads them.

Programs hand in enumerations, ordered and counting dicts, named tuples, numbers as keys. Documents hold plain
values only; what has no JSON form is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import fail

if TYPE_CHECKING:
    from strata_mcp.results.common import JsonValue

NOT_PLAIN: Final = "invalid_argument.engine.json_value"
"""What documents answer to a value that is not plain."""
DEPTH_MAX: Final = 128


def plain(value: object, depth: int = 0) -> JsonValue:
    """
    The value with every part of a plain JSON type.

    Raises:
        StrataError: `invalid_argument.sdk.command` for a part that JSON cannot hold.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise fail("invalid_argument.sdk.command", "JSON has neither NaN nor infinities", field="value")
        return float(value)
    if depth > DEPTH_MAX:
        raise fail("invalid_argument.engine.json_document_too_deep")
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {_name(key): plain(item, depth + 1) for key, item in value.items()}
    raise fail("invalid_argument.sdk.command", f"{type(value).__name__} is no JSON type", field="value")


def _name(key: object) -> str:
    name = plain(key) if not isinstance(key, list | tuple | Mapping) else key
    if isinstance(name, str):
        return name
    if name is None:
        return "null"
    if isinstance(name, bool):
        return "true" if name else "false"
    if isinstance(name, int | float):
        return repr(name)
    raise fail("invalid_argument.sdk.command", f"{type(key).__name__} is no name in a JSON object", field="value")
