"""Many documents in one call: reads of one state, writes of one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.model import Family, Row
from strata_mcp.primitives.batches import CREATED, DELETED, NOT_FOUND, UPDATED, failed, read, written
from strata_mcp.primitives.json.codec import check, encode_checked
from strata_mcp.primitives.json.edit import MISSING, get
from strata_mcp.primitives.json.indexes import Indexes, Watch
from strata_mcp.primitives.json.path import Path, parse_path
from strata_mcp.primitives.json.rows import decoded, encode_id, placed, without
from strata_mcp.results.common import BatchItem, BatchItemStatus, BatchResult, JsonValue
from strata_mcp.results.documents import BatchExistsPresence, JsonBatchGetItemResult, JsonBatchItemResult
from strata_mcp.store.limits import SAFE_BYTES, check_row

if TYPE_CHECKING:
    from strata_mcp.store.store import Store
    from strata_mcp.store.writer import Staged

_JSON: Final = int(Family.JSON)


class _Pending:
    """
    Documents a batch is about to write.

    They are staged when every entry has been decided: an entry that fails the batch then leaves nothing
    behind in a transaction that goes on. Index entries count once per document, from its row before the
    batch to the one after.
    """

    __slots__ = ("_before", "_rows", "_space", "_staged", "_watch")

    def __init__(self, staged: Staged, space: str, watch: Watch | None) -> None:
        self._staged = staged
        self._space = space
        self._watch = watch
        self._rows: dict[bytes, tuple[bytes | None, int]] = {}
        self._before: dict[bytes, Row | None] = {}

    def get(self, name: bytes) -> Row | None:
        """The live row as the entries so far leave it."""
        row = self._rows.get(name)
        if row is None:
            return self._staged.get(_JSON, self._space, name)
        return None if row[0] is None else (0, *row)

    def put(self, name: bytes, previous: Row | None, text: bytes | None, version: int) -> None:
        """Note a change; `text` None removes the document."""
        if text is None or len(name) + len(text) > SAFE_BYTES:
            check_row(self._space, name, text)
        self._rows[name] = text, version
        self._before.setdefault(name, previous)

    def stage(self) -> None:
        """Hand everything to the unit of work."""
        for name, (text, version) in self._rows.items():
            self._staged.put(_JSON, self._space, name, text, version)
            if self._watch is not None:
                self._staged.count(*self._watch.changes(self._before[name], text))


class JsonBatches:
    """The batch commands, shared state included: the base of `Json`."""

    def __init__(self, store: Store, indexes: Indexes) -> None:
        """Work on a store and its indexes."""
        self._store = store
        self._indexes = indexes

    def batch_set(self, branch: str, space: str, entries: Sequence[tuple[str, str, JsonValue]]) -> BatchResult:
        """
        Set many values in one commit, in order; entries may name the same document, but not the same path of it.

        A malformed id or path is an error of its entry; a path that does not fit the document fails the batch.
        """
        space = self._store.space(space)
        targets = _targets([(key, path) for key, path, _ in entries])
        items: list[BatchItem] = []
        watch = self._indexes.watching(branch, space)
        with self._store.writing(branch) as staged:
            pending = _Pending(staged, space, watch)
            for index, target in enumerate(targets):
                if isinstance(target, StrataError):
                    items.append(failed(index, target, JsonBatchItemResult()))
                    continue
                name, segments = target
                value = entries[index][2]
                check(value, len(segments))
                previous = pending.get(name)
                version = 1 if previous is None else previous[2] + 1
                text = placed(previous, segments, value) if segments else encode_checked(value)
                pending.put(name, previous, text, version)
                effect = CREATED if previous is None else UPDATED
                items.append(BatchItem(index, BatchItemStatus.OK, True, JsonBatchItemResult(version), effect=effect))
            pending.stage()
        return written(items, staged)

    def batch_delete(self, branch: str, space: str, entries: Sequence[tuple[str, str]]) -> BatchResult:
        """Remove many values in one commit, in order; the same document and path twice is refused."""
        space = self._store.space(space)
        targets = _targets(entries)
        items: list[BatchItem] = []
        watch = self._indexes.watching(branch, space)
        with self._store.writing(branch) as staged:
            pending = _Pending(staged, space, watch)
            for index, target in enumerate(targets):
                if isinstance(target, StrataError):
                    items.append(failed(index, target, JsonBatchItemResult()))
                    continue
                name, segments = target
                previous = pending.get(name)
                text, version = (None, -1) if previous is None else without(previous, segments)
                effect = NOT_FOUND
                if version >= 0:
                    pending.put(name, previous, text, version)
                    effect = DELETED
                result = JsonBatchItemResult()
                items.append(BatchItem(index, BatchItemStatus.OK, version >= 0, result, effect=effect))
            pending.stage()
        return written(items, staged)

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
            target = _target(key, path)
            if isinstance(target, StrataError):
                items.append(failed(index, target, JsonBatchGetItemResult(False, None)))
                continue
            row = view.get(_JSON, space, target[0])
            value: Any = MISSING if row is None else get(decoded(row), target[1])
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


def _targets(entries: Sequence[tuple[str, str]]) -> list[tuple[bytes, Path] | StrataError]:
    """The places a batch writes; well-formed ones must not repeat, as they are spelled."""
    targets = [_target(key, path) for key, path in entries]
    sound = [entry for entry, target in zip(entries, targets, strict=True) if not isinstance(target, StrataError)]
    if len(set(sound)) != len(sound):
        raise fail("invalid_argument.executor.json_batch_duplicate_key")
    return targets


def _target(key: str, path: str) -> tuple[bytes, Path] | StrataError:
    """A document and a place in it, or why there is no such thing."""
    try:
        return encode_id(key), parse_path(path)
    except StrataError as error:
        return error
