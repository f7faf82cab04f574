"""
The path grammar: where inside a document.

    path    = ["$"] segment*            "" and "$" and "$." are the root
    segment = "." name | name (leading) | ["."] "[" digits "]" | ["."] "[" quoted "]"
    name    = ASCII letters, digits, "_", "-", any non-ASCII character
    quoted  = "..." or '...'; a backslash escapes that quote or a backslash, before anything else it is itself

A bare name is always a key, also when it is all digits; brackets with digits are an index below 2^64.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, TypeAlias

from strata_mcp.errors import StrataError, fail

Path: TypeAlias = "tuple[str | int, ...]"
"""Keys as text, indexes as integers; empty is the root."""

SEGMENTS_MAX: Final = 256
INDEX_DIGITS_MAX: Final = 20
INDEX_MAX: Final = (1 << 64) - 1
_NAME = re.compile(r"[A-Za-z0-9_\-\u0080-\U0010ffff]+")
_INDEX = re.compile(r"\[([0-9]+)\]")
_QUOTED = re.compile(r"""\[(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')\]""", re.DOTALL)
_ESCAPE = {quote: re.compile(rf"\\([{quote}\\])") for quote in "\"'"}


def parse_path(path: str) -> Path:
    """
    Segments of a path.

    Raises:
        StrataError: `invalid_argument.engine.json_path` when it does not parse,
            `invalid_argument.engine.json_path_too_long` over 256 segments.
    """
    return () if path in ("$", "") else _parse(path)


@lru_cache(maxsize=1024)
def _parse(path: str) -> Path:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise _bad(path, error.start) from None
    position = 1 if path.startswith("$") else 0
    if path[position:] == ".":
        if position == 0:
            raise _bad(path, position)
        return ()
    segments: list[str | int] = []
    is_leading = True
    while position < len(path):
        position, segment = _segment(path, position, is_leading=is_leading)
        segments.append(segment)
        is_leading = False
        if len(segments) > SEGMENTS_MAX:
            raise fail("invalid_argument.engine.json_path_too_long", limit=SEGMENTS_MAX)
    return tuple(segments)


def _segment(path: str, position: int, *, is_leading: bool) -> tuple[int, str | int]:
    has_dot = path[position] == "."
    if has_dot:
        if position == 0:
            raise _bad(path, position)
        position += 1
    if path[position : position + 1] == "[":
        index = _INDEX.match(path, position)
        if index is not None:
            digits = index[1].lstrip("0")
            if len(digits) > INDEX_DIGITS_MAX or int(digits or "0") > INDEX_MAX:
                raise _bad(path, position)
            return index.end(), int(digits or "0")
        quoted = _QUOTED.match(path, position)
        if quoted is None:
            raise _bad(path, position)
        return quoted.end(), _ESCAPE[path[position + 1]].sub(r"\1", quoted[1] or quoted[2])
    name = _NAME.match(path, position)
    if name is None or not (has_dot or is_leading):
        raise _bad(path, position)
    return name.end(), name[0]


def normal_path(segments: Path) -> str:
    """The one spelling of a path that definitions store: no leading "$", bare names where they can be."""
    if not segments:
        return "$"
    parts: list[str] = []
    for segment in segments:
        if isinstance(segment, int):
            parts.append(f"[{segment}]")
        elif _NAME.fullmatch(segment):
            parts.append(f".{segment}" if parts else segment)
        else:
            escaped = segment.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts)


def _bad(path: str, position: int) -> StrataError:
    return fail(
        "invalid_argument.engine.json_path",
        f'the path {ascii(path)[:120]} does not parse at character {position}; write it like $.name[0]["other name"]',
    )
