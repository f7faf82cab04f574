"""Documents as stored: compact JSON with sorted keys. What cannot be stored exactly is refused."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import msgspec

from strata_mcp.errors import StrataError, fail

DEPTH_MAX: Final = 100
ARRAY_ITEMS_MAX: Final = 1_000_000
DOCUMENT_BYTES_MAX: Final = 16_777_216
INTEGER_MIN: Final = -(1 << 63)
INTEGER_MAX: Final = (1 << 64) - 1

_encode = msgspec.json.Encoder(order="sorted").encode
decode = msgspec.json.Decoder().decode
"""JSON text to plain Python values."""

_PLAIN: Final = frozenset({str, bool, type(None)})


def encode(value: Any) -> bytes:
    """
    Stored form of a value.

    Raises:
        StrataError: `json_value` for what JSON cannot hold exactly (NaN, infinities, integers outside
            -2^63..2^64-1, lone surrogates, other types), `json_document_too_deep`,
            `json_array_too_large`, `json_document_too_large`.
    """
    check(value)
    return encode_checked(value)


def encode_checked(value: Any) -> bytes:
    """Stored form of a value whose numbers, types and depth were checked already."""
    try:
        encoded = _encode(value)
    except UnicodeEncodeError:
        raise _bad("the value holds a lone surrogate, which is no character") from None
    if len(encoded) > DOCUMENT_BYTES_MAX:
        raise fail("invalid_argument.engine.json_document_too_large", size=len(encoded), limit=DOCUMENT_BYTES_MAX)
    return encoded


def check(value: Any, depth: int = 0) -> None:
    """Refuse what cannot be stored; `depth` counts the containers around the value."""
    kind = type(value)
    if kind in _PLAIN:
        return
    if kind is int:
        if not INTEGER_MIN <= value <= INTEGER_MAX:
            raise fail(
                "invalid_argument.executor.json_number", value=str(value)[:40] if value.bit_length() < 9999 else ""
            )
    elif kind is float:
        if not isfinite(value):
            raise _bad("NaN and infinities are no JSON numbers")
    elif kind is dict:
        _check_depth(depth)
        plain = _PLAIN
        for key, item in value.items():
            if type(key) is not str:
                raise _bad(f"an object has text keys, not {type(key).__name__}")
            if type(item) not in plain:
                check(item, depth + 1)
    elif kind is list or kind is tuple:
        _check_depth(depth)
        if len(value) > ARRAY_ITEMS_MAX:
            raise fail("invalid_argument.engine.json_array_too_large", items=len(value), limit=ARRAY_ITEMS_MAX)
        for item in value:
            if type(item) not in _PLAIN:
                check(item, depth + 1)
    else:
        raise _bad(f"{kind.__name__} is no JSON type; use objects, arrays, text, numbers, booleans and null")


def check_placed(depth: int) -> None:
    """Refuse a value that stands inside more containers than a document can have."""
    if depth > DEPTH_MAX:
        raise fail("invalid_argument.engine.json_document_too_deep", limit=DEPTH_MAX)


def _check_depth(depth: int) -> None:
    if depth >= DEPTH_MAX:
        raise fail("invalid_argument.engine.json_document_too_deep", limit=DEPTH_MAX)


def _bad(message: str) -> StrataError:
    return fail("invalid_argument.engine.json_value", message)
