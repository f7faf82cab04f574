"""Tags: names for moments. A tag points at one commit position of one branch and never moves."""

from __future__ import annotations

import msgspec

from strata_mcp.errors import fail
from strata_mcp.model import Family
from strata_mcp.results.branches import TagItem
from strata_mcp.results.common import Page
from strata_mcp.store.lineage import GLOBAL_NODE, NO_LIMIT
from strata_mcp.store.scan import Range, live_rows
from strata_mcp.store.store import Store
from strata_mcp.store.view import newest_position, position

TAG_NAME_BYTES_MAX = 255


class TagRecord(msgspec.Struct, frozen=True):
    """What is stored of a tag, as JSON text."""

    branch: str
    version: int
    created_at: int
    message: str = ""


_decode = msgspec.json.Decoder(TagRecord).decode
_encode = msgspec.json.Encoder().encode


class Tags:
    """The tag commands over one store."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        self._store = store

    def create(self, tag: str, branch: str, version: int | None = None, message: str = "") -> TagItem:
        """Name a position of a branch's history; the newest one when `version` is None."""
        key = _key(tag)
        store = self._store
        with store.committing():
            if self._find(key) is not None:
                raise fail("already_exists.engine.tag", tag=tag)
            node = store.catalog.node(branch)
            at = newest_position(store.state, node) if version is None else position(store.state, node, version, None)
            record = TagRecord(branch, at, store.journal.head + 1, message)
            store.append(node.uid, [(Family.TAG, "", key, _encode(record), 0)])
        return _item(tag, record)

    def get(self, tag: str) -> TagItem:
        """One tag."""
        key = _key(tag)
        self._store.catch_up()
        record = self._find(key)
        if record is None:
            raise fail("not_found.engine.tag", tag=tag)
        return _item(tag, record)

    def list(self) -> Page[TagItem]:
        """Every tag, by name bytes."""
        store = self._store
        store.catch_up()
        with store.reading:
            table = store.state.table(Family.TAG, "")
            rows = list(live_rows(store.state, GLOBAL_NODE, table, NO_LIMIT, Range(), 0))
        return Page([_item(key.decode(), _decode(row[1] or b"")) for key, row in rows])

    def delete(self, tag: str) -> bool:
        """Remove a tag; False when there is none of that name."""
        key = _key(tag)
        store = self._store
        with store.committing():
            record = self._find(key)
            if record is None:
                return False
            node = store.catalog.find(record.branch) or store.catalog.node("default")
            store.append(node.uid, [(Family.TAG, "", key, None, 0)])
        return True

    def _find(self, key: bytes) -> TagRecord | None:
        state = self._store.state
        row = state.row(GLOBAL_NODE, state.table(Family.TAG, ""), key, NO_LIMIT)
        return _decode(row[1]) if row is not None and row[1] is not None else None


def _item(name: str, record: TagRecord) -> TagItem:
    return TagItem(name, record.branch, record.version, record.created_at, record.message)


def _key(tag: str) -> bytes:
    try:
        key = tag.encode()
    except UnicodeEncodeError:
        key = b""
    if not tag.strip() or not 0 < len(key) <= TAG_NAME_BYTES_MAX or any(byte < 0x20 or byte == 0x7F for byte in key):
        raise fail(
            "invalid_argument.engine.tag_name",
            f"a tag name has 1 to {TAG_NAME_BYTES_MAX} bytes, is not blank and holds no control characters",
            tag=ascii(tag)[:80],
        )
    return key
