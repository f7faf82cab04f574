"""
JSON documents by id.

A document has a `document_version` of its own: 1 when it appears, one more with each commit that
touches it, 1 again after it was deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.model import Family, Row
from strata_mcp.primitives.batches import CREATED, DELETED, NOT_FOUND, UPDATED, failed, read, written
from strata_mcp.primitives.json.codec import check, decode, encode, encode_checked
from strata_mcp.primitives.json.edit import MISSING, get, put, remove
from strata_mcp.primitives.json.indexes import Indexes
from strata_mcp.primitives.json.path import Path, parse_path
from strata_mcp.primitives.json.query import Query
from strata_mcp.primitives.pages import check_count, check_limit, page_of, sample_positions
from strata_mcp.results.common import BatchItem, BatchItemStatus, BatchResult, JsonValue, Page, Sample, Written
from strata_mcp.results.documents import (
    BatchExistsPresence,
    JsonBatchGetItemResult,
    JsonBatchItemResult,
    JsonHistoryItem,
    JsonIndexDefinition,
    JsonQueryResult,
    JsonSampleItem,
    JsonVersionedValue,
)

if TYPE_CHECKING:
    from strata_mcp.store.store import Decision, Store

ID_BYTES_MAX: Final = 65_535
DEFAULT_LIMIT: Final = 100
_JSON: Final = int(Family.JSON)


class Json:
    """The document commands over one store. Ids are text; values are plain Python JSON values."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        self._store = store
        self._indexes = Indexes(store)

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
            text = whole if not segments else encode_checked(put(_decoded(previous), segments, value))
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
            text, version = _without(previous, segments)
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
        return self._store.view(branch, as_of, as_of_time).count(_JSON, space, _prefix(prefix))

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
        after = None if cursor is None else _prefix(cursor)
        keys = view.keys(_JSON, space, after=after, prefix=_prefix(prefix), limit=None if limit is None else limit + 1)
        return page_of([key.decode() for key in keys], limit, str)

    def scan(
        self, branch: str, space: str, *, start: str | None = None, limit: int | None = None
    ) -> Page[JsonSampleItem]:
        """Documents from `start` on; the cursor is the next id to start with."""
        first = b"" if start is None else encode_id(start)
        space = self._store.space(space)
        check_limit(limit)
        rows = self._store.view(branch).rows(_JSON, space, start=first, limit=None if limit is None else limit + 1)
        has_more = limit is not None and len(rows) > limit
        cursor = rows[limit][0].decode() if has_more and limit is not None else None
        return Page([_item(key, row) for key, row in rows[:limit]], has_more, cursor)

    def sample(self, branch: str, space: str, *, prefix: str | None = None, count: int = 10) -> Sample[JsonSampleItem]:
        """Up to `count` documents spread evenly over the order of ids, and how many there are."""
        space = self._store.space(space)
        check_count(count)
        rows = self._store.view(branch).rows(_JSON, space, prefix=_prefix(prefix))
        return Sample([_item(*rows[position]) for position in sample_positions(len(rows), count)], len(rows))

    # ---- batches ----

    def batch_set(self, branch: str, space: str, entries: Sequence[tuple[str, str, JsonValue]]) -> BatchResult:
        """
        Set many values in one commit, in order; entries may name the same document.

        A malformed id or path is an error of its entry; a path that does not fit the document fails the batch.
        """
        space = self._store.space(space)
        items: list[BatchItem] = []
        indexes = self._indexes.watching(branch, space)
        with self._store.writing(branch) as staged:
            for index, (key, path, value) in enumerate(entries):
                try:
                    name, segments = encode_id(key), parse_path(path)
                except StrataError as error:
                    items.append(failed(index, error, JsonBatchItemResult()))
                    continue
                check(value, len(segments))
                previous = staged.get(_JSON, space, name)
                text = encode_checked(put(_decoded(previous), segments, value) if segments else value)
                version = 1 if previous is None else previous[2] + 1
                staged.put(_JSON, space, name, text, version)
                if indexes:
                    staged.count(*indexes.changes(previous, text))
                effect = CREATED if previous is None else UPDATED
                result = JsonBatchItemResult(version)
                items.append(BatchItem(index, BatchItemStatus.OK, True, result, None, None, effect))
        return written(items, staged.receipt)

    def batch_delete(self, branch: str, space: str, entries: Sequence[tuple[str, str]]) -> BatchResult:
        """Remove many values in one commit, in order; the same document and path twice is refused."""
        if len({(key, path) for key, path in entries}) != len(entries):
            raise fail("invalid_argument.executor.json_batch_duplicate_key")
        space = self._store.space(space)
        items: list[BatchItem] = []
        indexes = self._indexes.watching(branch, space)
        with self._store.writing(branch) as staged:
            for index, (key, path) in enumerate(entries):
                try:
                    name, segments = encode_id(key), parse_path(path)
                except StrataError as error:
                    items.append(failed(index, error, JsonBatchItemResult()))
                    continue
                previous = staged.get(_JSON, space, name)
                text, version = (None, -1) if previous is None else _without(previous, segments)
                effect, result = NOT_FOUND, JsonBatchItemResult()
                if version >= 0:
                    staged.put(_JSON, space, name, text, version)
                    if indexes:
                        staged.count(*indexes.changes(previous, text))
                    effect = DELETED
                items.append(BatchItem(index, BatchItemStatus.OK, version >= 0, result, None, None, effect))
        return written(items, staged.receipt)

    def batch_get(
        self,
        branch: str,
        space: str,
        entries: Sequence[tuple[str, str]],
        *,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> BatchResult:
        """Read many values; a path that leads nowhere is a miss."""
        space = self._store.space(space)
        view = self._store.view(branch, as_of, as_of_time)
        items = []
        for index, (key, path) in enumerate(entries):
            try:
                name, segments = encode_id(key), parse_path(path)
            except StrataError as error:
                items.append(failed(index, error, JsonBatchGetItemResult(False, None)))
                continue
            row = view.get(_JSON, space, name)
            value: Any = MISSING if row is None else get(_decoded(row), segments)
            if row is None or value is MISSING:
                items.append(BatchItem(index, BatchItemStatus.MISS, False, JsonBatchGetItemResult(False, None)))
            else:
                result = JsonBatchGetItemResult(True, value, row[2], row[0], row[0])
                items.append(BatchItem(index, BatchItemStatus.OK, False, result))
        return read(items)

    def batch_exists(self, branch: str, space: str, keys: Sequence[str]) -> BatchResult:
        """Look for many documents; an absent one is an answer, not a miss."""
        space = self._store.space(space)
        view = self._store.view(branch)
        items = []
        for index, key in enumerate(keys):
            try:
                present = view.get(_JSON, space, encode_id(key)) is not None
            except StrataError as error:
                items.append(failed(index, error))
                continue
            items.append(BatchItem(index, BatchItemStatus.OK, False, BatchExistsPresence(present)))
        return read(items)

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


def _answer(
    query: Query, index: str | None, rows: Sequence[tuple[bytes, Row]], offset: int, limit: int | None
) -> JsonQueryResult:
    matches = []
    for key, row in rows:
        document = _decoded(row)
        if query.matches(document):
            matches.append((key, row, document))
    query.sort(matches)
    chosen = matches[offset:] if limit is None else matches[offset : offset + limit]
    items = [
        JsonSampleItem(row[2], key.decode(), row[0], query.projected(document), row[0]) for key, row, document in chosen
    ]
    return JsonQueryResult(items, offset + len(items) < len(matches), None, index, len(rows))


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


def _prefix(prefix: str | None) -> bytes:
    return b"" if prefix is None else prefix.encode(errors="surrogatepass")


def _decoded(row: Row | None) -> Any:
    return MISSING if row is None or row[1] is None else decode(row[1])


def _without(previous: Row, segments: Path) -> tuple[bytes | None, int]:
    """(stored form, document version) after a removal; version -1 when there was nothing to remove."""
    if not segments:
        return None, 0
    document = _decoded(previous)
    if not remove(document, segments):
        return None, -1
    return encode_checked(document), previous[2] + 1


def _item(key: bytes, row: Row) -> JsonSampleItem:
    return JsonSampleItem(row[2], key.decode(), row[0], _decoded(row), row[0])
