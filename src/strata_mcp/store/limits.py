"""Sizes that are checked before a write starts, and the rules for names of spaces."""

from __future__ import annotations

from typing import Final

from strata_mcp.errors import fail

KEY_BYTES_MAX: Final = 65_536
KEY_OVERHEAD_BYTES: Final = 36
ROW_BYTES_MAX: Final = 16_777_216
ROW_OVERHEAD_BYTES: Final = 75
COMMIT_BYTES_MAX: Final = 67_108_828
COMMIT_RECORDS_MAX: Final = 4_096
SAFE_BYTES: Final = 60_000
"""Key plus value up to this size are within every limit for any space name that passed `check_space`."""


def check_row(space: str, key: bytes, value: bytes | None) -> None:
    """Refuse keys and rows over the limits; sizes in bytes, the encoding's own overhead included."""
    overhead = KEY_OVERHEAD_BYTES + len(space.encode())
    if len(key) + overhead > KEY_BYTES_MAX:
        raise _too_large("key", len(key) + overhead, KEY_BYTES_MAX)
    size = len(key) + len(value or b"") + ROW_OVERHEAD_BYTES
    if size > ROW_BYTES_MAX:
        raise _too_large("row", size, ROW_BYTES_MAX)


def check_commit(records: int, size_bytes: int) -> None:
    """Refuse a batch that is too large for one commit."""
    if records > COMMIT_RECORDS_MAX:
        raise _too_large("commit_mutations", records, COMMIT_RECORDS_MAX)
    if size_bytes > COMMIT_BYTES_MAX:
        raise _too_large("commit_bytes", size_bytes, COMMIT_BYTES_MAX)


def check_space(space: str) -> None:
    """Refuse names no space can have; reserved ones get their own code."""
    if not space or "\0" in space or "\n" in space:
        raise fail(
            "invalid_argument.engine.product_space",
            "a space name is not empty and holds neither NUL nor a newline",
            space=ascii(space)[:80],
        )
    if space.startswith("_"):
        raise fail("invalid_argument.engine.product_space_reserved", space=space[:80])
    try:
        size = len(space.encode())
    except UnicodeEncodeError:
        raise fail(
            "invalid_argument.engine.product_space", "a space name holds no lone surrogates", space=ascii(space)[:80]
        ) from None
    if size + KEY_OVERHEAD_BYTES >= KEY_BYTES_MAX:
        raise _too_large("key", size + KEY_OVERHEAD_BYTES, KEY_BYTES_MAX)


def _too_large(field: str, actual: int, limit: int) -> Exception:
    return fail(
        "invalid_argument.engine.persistence",
        f"{field} is {actual} but at most {limit} is possible; split the write or store less",
        field=field,
        reason="too_large",
        actual=actual,
        limit=limit,
    )
