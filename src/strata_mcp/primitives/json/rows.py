"""Documents as rows of the store: ids as keys, and what a change makes of the row before it."""

from __future__ import annotations

from typing import Any, Final

from strata_mcp.errors import fail
from strata_mcp.model import Row
from strata_mcp.primitives.json.codec import check_placed, decode, encode_checked
from strata_mcp.primitives.json.edit import MISSING, put, remove
from strata_mcp.primitives.json.path import Path
from strata_mcp.results.documents import JsonSampleItem

ID_BYTES_MAX: Final = 65_535


def encode_id(key: str) -> bytes:
    """
    Bytes of a document id.

    Raises:
        StrataError: `invalid_argument.engine.json_document_id` when it is empty, over 65535 bytes, or
            holds NUL, a newline or a lone surrogate.
    """
    try:
        name = key.encode()
    except UnicodeEncodeError:
        name = b""
    if not 0 < len(name) <= ID_BYTES_MAX or b"\0" in name or b"\n" in name:
        raise fail(
            "invalid_argument.engine.json_document_id",
            f"a document id has 1 to {ID_BYTES_MAX} bytes without NUL or newline; this one cannot be used",
        )
    return name


def prefix_of(prefix: str | None) -> bytes:
    """Bytes that ids begin with; a text no id can begin with matches none."""
    return b"" if prefix is None else prefix.encode(errors="surrogatepass")


def decoded(row: Row | None) -> Any:
    """The document of a row, or MISSING."""
    return MISSING if row is None or row[1] is None else decode(row[1])


def placed(previous: Row | None, segments: Path, value: Any) -> bytes:
    """Stored form after a (checked) value was put at a path that is not the root."""
    document = put(decoded(previous), segments, value)
    check_placed(len(segments))
    return encode_checked(document)


def without(previous: Row, segments: Path) -> tuple[bytes | None, int]:
    """(stored form, document version) after a removal; version -1 when there was nothing to remove."""
    if not segments:
        return None, 0
    document = decoded(previous)
    if not remove(document, segments):
        return None, -1
    return encode_checked(document), previous[2] + 1


def item_of(key: bytes, row: Row) -> JsonSampleItem:
    """A row as scans and samples show it."""
    return JsonSampleItem(row[2], key.decode(), row[0], decoded(row), row[0])
