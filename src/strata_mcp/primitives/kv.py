"""
Key-value pairs: bytes to bytes, in byte order of the key.

`expires_in_us` gives a pair a life time: at the head it is gone once that has passed, in the past
and in its history it stays visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import fail
from strata_mcp.model import Family, Row
from strata_mcp.primitives.batches import CREATED, DELETED, NOT_FOUND, UPDATED, failed, read, written
from strata_mcp.primitives.bindings import Reader, Writer, bind_reader, bind_writer, empty_key
from strata_mcp.primitives.pages import check_count, check_limit, page_of, sample_positions
from strata_mcp.results.branches import ComparedCapability
from strata_mcp.results.common import (
    BatchItem,
    BatchItemStatus,
    BatchResult,
    Page,
    Sample,
    Written,
)
from strata_mcp.results.kv import (
    BatchExistsItemResult,
    BatchGetItemResult,
    BatchItemResult,
    HistoryItem,
    SampleItem,
    ScanItem,
    VersionedValue,
)
from strata_mcp.store.families import FamilyRules

if TYPE_CHECKING:
    from strata_mcp.store.store import Decision, Store

KV_RULES: Final = FamilyRules(ComparedCapability.KV, carry=lambda source, _: source[2] if source is not None else 0)
"""Values are atomic; a promoted pair keeps its expiry."""

_KV: Final = int(Family.KV)


class Kv:
    """The key-value commands over one store. Keys and values are bytes; names are text."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        self._store = store
        self._readers: dict[tuple[str, str], Reader] = {}
        self._writers: dict[tuple[str, str], Writer] = {}

    # ---- one key ----

    def put(
        self,
        branch: str,
        space: str,
        key: bytes,
        value: bytes,
        *,
        expires_in_us: int | None = None,
        if_version: int | None = None,
    ) -> Written:
        """Store a value; with `if_version`, only when the key is at that version (0: absent)."""
        if expires_in_us is None and if_version is None:
            writer = self._writers.get((branch, space))
            return (writer or self.writer(branch, space))(key, value)
        if not key:
            raise empty_key()
        store = self._store
        extra = 0 if expires_in_us is None else self._expiry(expires_in_us)

        def decide(_: Row | None) -> Decision:
            return value, extra

        previous, receipt = store.update(branch, _KV, store.space(space), key, decide, if_version)
        return Written(key, CREATED if previous is None else UPDATED, receipt)

    def get(
        self, branch: str, space: str, key: bytes, *, as_of: int | None = None, as_of_time: int | None = None
    ) -> VersionedValue | None:
        """The value and its version, or None."""
        self._check(space, key)
        row = self._store.view(branch, as_of, as_of_time).get(_KV, space, key)
        return None if row is None or row[1] is None else VersionedValue(row[0], row[1], row[0])

    def get_value(self, branch: str, space: str, key: bytes) -> bytes | None:
        """The value at the head, or None; the fast path."""
        reader = self._readers.get((branch, space))
        return (reader or self.reader(branch, space))(key)

    def reader(self, branch: str, space: str) -> Reader:
        """A function that reads one key at the head of a branch; it stays right whatever happens to the branch."""
        found = self._readers.get((branch, space))
        if found is None:
            found = self._readers[branch, space] = bind_reader(self._store, branch, space)
        return found

    def writer(self, branch: str, space: str) -> Writer:
        """A function that puts one key on a branch; the fast path of `put`."""
        found = self._writers.get((branch, space))
        if found is None:
            found = self._writers[branch, space] = bind_writer(self._store, branch, space)
        return found

    def delete(self, branch: str, space: str, key: bytes, *, if_version: int | None = None) -> Written:
        """Remove a key; removing an absent one writes nothing."""
        self._check(space, key)
        previous, receipt = self._store.update(branch, _KV, space, key, _tombstone, if_version)
        return Written(key, NOT_FOUND if previous is None else DELETED, receipt)

    def exists(self, branch: str, space: str, key: bytes) -> bool:
        """Whether the key has a value at the head."""
        self._check(space, key)
        return self._store.view(branch).get(_KV, space, key) is not None

    def history(self, branch: str, space: str, key: bytes) -> list[HistoryItem] | None:
        """Every version newest first, deletions included; None when the key was never written."""
        self._check(space, key)
        store = self._store
        rows = store.view(branch).history(_KV, space, key)
        return [
            HistoryItem(row[0], row[1] is None, row[0], store.state.committed_at_us(row[0]), row[1]) for row in rows
        ] or None

    # ---- many keys in order ----

    def count(
        self,
        branch: str,
        space: str,
        prefix: bytes | None = None,
        *,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> int:
        """Number of keys, optionally below a prefix."""
        self._check(space, prefix)
        return self._store.view(branch, as_of, as_of_time).count(_KV, space, prefix or b"")

    def list(
        self,
        branch: str,
        space: str,
        *,
        prefix: bytes | None = None,
        cursor: bytes | None = None,
        limit: int | None = None,
        as_of: int | None = None,
        as_of_time: int | None = None,
    ) -> Page[bytes]:
        """Keys past `cursor`; without a limit all of them in one page."""
        self._check(space, prefix)
        check_limit(limit)
        view = self._store.view(branch, as_of, as_of_time)
        if limit == 0:
            return Page([])
        keys = view.keys(_KV, space, after=cursor, prefix=prefix or b"", limit=None if limit is None else limit + 1)
        return page_of(keys, limit, _same)

    def scan(self, branch: str, space: str, *, start: bytes | None = None, limit: int | None = None) -> Page[ScanItem]:
        """Rows from `start` on; the cursor is the next key to start with."""
        self._check(space, start)
        check_limit(limit)
        rows = self._store.view(branch).rows(_KV, space, start=start or b"", limit=None if limit is None else limit + 1)
        has_more = limit is not None and len(rows) > limit
        items = [ScanItem(key, row[0], row[1] or b"", row[0]) for key, row in rows[:limit]]
        return Page(items, has_more, rows[limit][0] if has_more and limit is not None else None)

    def sample(self, branch: str, space: str, *, prefix: bytes | None = None, count: int = 10) -> Sample[SampleItem]:
        """Up to `count` rows spread evenly over the key order, and the number of rows there are."""
        self._check(space, prefix)
        check_count(count)
        rows = self._store.view(branch).rows(_KV, space, prefix=prefix or b"")
        chosen = [rows[position] for position in sample_positions(len(rows), count)]
        return Sample([SampleItem(key, row[0], row[1] or b"", row[0]) for key, row in chosen], len(rows))

    # ---- batches ----

    def batch_put(self, branch: str, space: str, entries: Sequence[tuple[bytes, bytes]]) -> BatchResult:
        """Store many values in one commit; an entry that cannot be stored does not stop the others."""
        self._refuse_repeats([key for key, _ in entries])
        self._store.space(space)
        items: list[BatchItem] = []
        with self._store.writing(branch) as staged:
            get, put = staged.get, staged.put
            for index, (key, value) in enumerate(entries):
                if not key:
                    items.append(failed(index, empty_key()))
                    continue
                effect = CREATED if get(_KV, space, key) is None else UPDATED
                put(_KV, space, key, value)
                items.append(BatchItem(index, BatchItemStatus.OK, True, BatchItemResult(key), None, None, effect))
        return written(items, staged)

    def batch_delete(self, branch: str, space: str, keys: Sequence[bytes]) -> BatchResult:
        """Remove many keys in one commit; absent ones are misses of no effect."""
        self._refuse_repeats(keys)
        self._store.space(space)
        items: list[BatchItem] = []
        with self._store.writing(branch) as staged:
            for index, key in enumerate(keys):
                if not key:
                    items.append(failed(index, empty_key()))
                elif staged.get(_KV, space, key) is None:
                    item = BatchItem(index, BatchItemStatus.OK, False, BatchItemResult(key), None, None, NOT_FOUND)
                    items.append(item)
                else:
                    staged.put(_KV, space, key, None)
                    items.append(BatchItem(index, BatchItemStatus.OK, True, BatchItemResult(key), None, None, DELETED))
        return written(items, staged)

    def batch_get(self, branch: str, space: str, keys: Sequence[bytes]) -> BatchResult:
        """Read many keys; an absent one is a miss."""
        self._store.space(space)
        view = self._store.view(branch)
        items = []
        for index, key in enumerate(keys):
            if not key:
                items.append(failed(index, empty_key()))
                continue
            row = view.get(_KV, space, key)
            if row is None:
                result = BatchGetItemResult(False, key)
                items.append(BatchItem(index, BatchItemStatus.MISS, False, result))
            else:
                result = BatchGetItemResult(True, key, row[0], row[1], row[0])
                items.append(BatchItem(index, BatchItemStatus.OK, False, result))
        return read(items)

    def batch_exists(self, branch: str, space: str, keys: Sequence[bytes]) -> BatchResult:
        """Look for many keys; an absent one is an answer, not a miss."""
        self._store.space(space)
        view = self._store.view(branch)
        items = []
        for index, key in enumerate(keys):
            if not key:
                items.append(failed(index, empty_key()))
            else:
                present = view.get(_KV, space, key) is not None
                items.append(BatchItem(index, BatchItemStatus.OK, False, BatchExistsItemResult(present, key)))
        return read(items)

    # ---- checks ----

    def _check(self, space: str, key: bytes | None) -> None:
        """Refuse an empty key (None means not given) and a space name that cannot be."""
        if key is not None and not key:
            raise empty_key()
        self._store.space(space)

    def _expiry(self, expires_in_us: int) -> int:
        if expires_in_us <= 0:
            raise fail("invalid_argument.engine.expires_in", expires_in_us=expires_in_us)
        return min(self._store.clock.now_us() + expires_in_us, (1 << 62))

    def _refuse_repeats(self, keys: Sequence[bytes]) -> None:
        if len(set(keys)) == len(keys):
            return
        seen: set[bytes] = set()
        for key in keys:
            if key and key in seen:
                raise fail(
                    "invalid_argument.executor.kv_batch_duplicate_key", key=key.decode(errors="backslashreplace")
                )
            seen.add(key)


def _tombstone(previous: Row | None) -> Decision:
    return None if previous is None else (None, 0)


def _same(key: bytes) -> bytes:
    return key
