"""
JSON documents by id.

A document has a `document_version` of its own: 1 when it appears, one more with each commit that
touches it, 1 again after it was deleted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from strata_mcp.model import Family, Row
from strata_mcp.primitives.batches import CREATED, DELETED, NOT_FOUND, UPDATED
from strata_mcp.primitives.json.batches import JsonBatches
from strata_mcp.primitives.json.codec import check, decode, encode
from strata_mcp.primitives.json.edit import MISSING, get
from strata_mcp.primitives.json.indexes import Indexes
from strata_mcp.primitives.json.path import parse_path
from strata_mcp.primitives.json.query import Query
from strata_mcp.primitives.json.rows import decoded, encode_id, item_of, placed, prefix_of, without
from strata_mcp.primitives.pages import check_count, check_limit, page_of, sample_positions
from strata_mcp.results.common import JsonValue, Page, Sample, Written
from strata_mcp.results.documents import (
    JsonHistoryItem,
    JsonIndexDefinition,
    JsonQueryResult,
    JsonSampleItem,
    JsonVersionedValue,
)

if TYPE_CHECKING:
    from strata_mcp.store.store import Decision, Store

DEFAULT_LIMIT: Final = 100
_JSON: Final = int(Family.JSON)


class Json(JsonBatches):
    """The document commands over one store. Ids are text; values are plain Python JSON values."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        super().__init__(store, Indexes(store))

    # ---- one document ----

    def set(
        self, branch: str, space: str, key: str, path: str, value: JsonValue, *, if_version: int | None = None
    ) -> Written:
        """Put a value at a path; the root replaces the document."""
        name = encode_id(key)
        segments = parse_path(path)
        space = self._store.space(space)
        if segments:
            check(value, len(segments))
        else:
            whole = encode(value)
        indexes = self._indexes.watching(branch, space)

        def decide(previous: Row | None) -> Decision:
            text = placed(previous, segments, value) if segments else whole
            version = 1 if previous is None else previous[2] + 1
            if indexes:
                return (text, version, *indexes.changes(previous, text))
            return text, version

        previous, receipt = self._store.update(branch, _JSON, space, name, decide, if_version)
        return Written(key, CREATED if previous is None else UPDATED, receipt)

    def get(
        self, branch: str, space: str, key: str, path: str, *, as_of: int | None = None, as_of_time: int | None = None
    ) -> JsonVersionedValue | None:
        """The value at a path and the version of its document, or None when the path leads nowhere."""
        name = encode_id(key)
        segments = parse_path(path)
        space = self._store.space(space)
        row = self._store.view(branch, as_of, as_of_time).get(_JSON, space, name)
        if row is None or row[1] is None:
            return None
        value = decode(row[1])
        if segments:
            value = get(value, segments)
            if value is MISSING:
                return None
        return JsonVersionedValue(row[2], row[0], value, row[0])

    def delete(self, branch: str, space: str, key: str, path: str, *, if_version: int | None = None) -> Written:
        """Remove what a path leads to, the whole document at the root; nothing there is no error."""
        name = encode_id(key)
        segments = parse_path(path)
        space = self._store.space(space)
        indexes = self._indexes.watching(branch, space)

        def decide(previous: Row | None) -> Decision:
            if previous is None:
                return None
            text, version = without(previous, segments)
            if version < 0:
                return None
            return (text, version, *indexes.changes(previous, text)) if indexes else (text, version)

        _, receipt = self._store.update(branch, _JSON, space, name, decide, if_version)
        return Written(key, NOT_FOUND if receipt is None else DELETED, receipt)

    def exists(self, branch: str, space: str, key: str) -> bool:
        """Whether the document is there at the head."""
        name = encode_id(key)
        return self._store.view(branch).get(_JSON, self._store.space(space), name) is not None

    def history(self, branch: str, space: str, key: str) -> list[JsonHistoryItem] | None:
        """Every version newest first, deletions included; None when there never was one."""
        name = encode_id(key)
        store = self._store
        items = []
        for timestamp, text, version in store.view(branch).history(_JSON, store.space(space), name):
            gone = text is None
            committed_at = store.state.committed_at_us(timestamp)
            value = None if text is None else decode(text)
            items.append(JsonHistoryItem(timestamp, gone, timestamp, committed_at, None if gone else version, value))
        return items or None

    # ---- many documents in order ----

    def count(
        self,
        branch: str,
        space: str,
        prefix: str | None = None,
        *,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> int:
        """Number of documents, optionally with ids that begin with a prefix."""
        space = self._store.space(space)
        return self._store.view(branch, as_of, as_of_time).count(_JSON, space, prefix_of(prefix))

    def list(
        self,
        branch: str,
        space: str,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = DEFAULT_LIMIT,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> Page[str]:
        """Ids past `cursor`, by their bytes."""
        space = self._store.space(space)
        check_limit(limit)
        view = self._store.view(branch, as_of, as_of_time)
        if limit == 0:
            return Page([])
        after = None if cursor is None else prefix_of(cursor)
        keys = view.keys(_JSON, space, after=after, prefix=prefix_of(prefix), limit=_one_more(limit))
        return page_of([key.decode() for key in keys], limit, str)

    def scan(
        self, branch: str, space: str, *, start: str | None = None, limit: int | None = None
    ) -> Page[JsonSampleItem]:
        """Documents from `start` on; the cursor is the next id to start with."""
        first = b"" if start is None else encode_id(start)
        space = self._store.space(space)
        check_limit(limit)
        rows = self._store.view(branch).rows(_JSON, space, start=first, limit=_one_more(limit))
        has_more = limit is not None and len(rows) > limit
        cursor = rows[limit][0].decode() if has_more and limit is not None else None
        return Page([item_of(key, row) for key, row in rows[:limit]], has_more, cursor)

    def sample(self, branch: str, space: str, *, prefix: str | None = None, count: int = 10) -> Sample[JsonSampleItem]:
        """Up to `count` documents spread evenly over the order of ids, and how many there are."""
        space = self._store.space(space)
        check_count(count)
        rows = self._store.view(branch).rows(_JSON, space, prefix=prefix_of(prefix))
        return Sample([item_of(*rows[position]) for position in sample_positions(len(rows), count)], len(rows))

    # ---- indexes and queries ----

    def create_index(self, branch: str, space: str, name: str, field_path: str, index_type: str) -> JsonIndexDefinition:
        """Define an index over one field; queries that compare the field use it."""
        return self._indexes.create(branch, self._store.space(space), name, field_path, index_type)

    def drop_index(self, branch: str, space: str, name: str) -> bool:
        """Remove a definition; False when there is none of that name."""
        return self._indexes.drop(branch, self._store.space(space), name)

    def list_indexes(self, branch: str, space: str) -> Page[JsonIndexDefinition]:
        """Definitions by length of the name, then by its bytes."""
        return Page(self._indexes.definitions(branch, self._store.space(space)))

    def query(
        self,
        branch: str,
        space: str,
        *,
        filter: JsonValue = None,
        order: Sequence[str] | None = None,
        limit: int | None = DEFAULT_LIMIT,
        offset: int = 0,
        projection: Sequence[str] | None = None,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> JsonQueryResult:
        """
        Documents by their content.

        Args:
            branch: name of the branch.
            space: name of the space.
            filter: conditions, see `query.Query`; None matches everything.
            order: paths, "-" in front for descending; documents without the field come last.
            limit: most documents to return, None for all.
            offset: matches to skip.
            projection: paths; each document becomes an object of path -> value.
            as_of: position to read at.
            as_of_time: instant to read at, UTC microseconds.

        Raises:
            StrataError: `invalid_argument.engine.query` naming the part that is wrong.
        """
        space = self._store.space(space)
        check_limit(limit)
        check_count(offset)
        query = Query(filter, order, projection)
        with self._store.reading:  # one state for the index and for the rows it leads to
            view = self._store.view(branch, as_of, as_of_time)
            candidates = None
            if view.at_head and view.staged is None:
                candidates = self._indexes.candidates(branch, space, query)
            if candidates is None:
                index, rows = None, view.rows(_JSON, space)
            else:
                index = candidates[0]
                rows = [(key, row) for key in candidates[1] if (row := view.get(_JSON, space, key)) is not None]
        return _answer(query, index, rows, offset, limit)


def _one_more(limit: int | None) -> int | None:
    """How many rows tell whether a page is the last; beyond what can be counted to, all of them."""
    return None if limit is None or limit >= sys.maxsize else limit + 1


def _answer(
    query: Query, index: str | None, rows: Sequence[tuple[bytes, Row]], offset: int, limit: int | None
) -> JsonQueryResult:
    matches = []
    for key, row in rows:
        document = decoded(row)
        if query.matches(document):
            matches.append((key, row, document))
    query.sort(matches)
    chosen = matches[offset:] if limit is None else matches[offset : offset + limit]
    items = [
        JsonSampleItem(row[2], key.decode(), row[0], query.projected(document), row[0]) for key, row, document in chosen
    ]
    return JsonQueryResult(items, offset + len(items) < len(matches), None, index, len(rows))
