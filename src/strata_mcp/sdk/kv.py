"""Keys and values: `db.kv`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from strata_mcp.sdk import arguments
from strata_mcp.sdk import entries as forms
from strata_mcp.sdk.arguments import as_bytes, instant, natural, optional_bytes, position
from strata_mcp.sdk.pages import Cursor, Page, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strata_mcp.clock import TimeLike
    from strata_mcp.results import common
    from strata_mcp.results.common import BatchResult, Sample, Written
    from strata_mcp.results.kv import HistoryItem, SampleItem, ScanItem, VersionedValue
    from strata_mcp.sdk.entries import KvEntries
    from strata_mcp.sdk.scope import Scope


class KVNamespace:
    """
    Byte strings under byte-string keys, in one branch and space.

    Text is encoded as UTF-8 on the way in; what comes back is bytes. Keys are ordered by their bytes.
    """

    __slots__ = ("_branch", "_delete", "_delete_many", "_kv", "_put", "_put_many", "_read", "_space", "_write")

    def __init__(self, scope: Scope) -> None:
        """Bind what the hot calls need, so that they look nothing up."""
        kv = scope.engine.kv
        self._kv = kv
        self._branch = scope.branch
        self._space = scope.space
        self._read = kv.reader(scope.branch, scope.space)
        self._put = scope.signed(kv.put)
        self._write = scope.signed(kv.writer(scope.branch, scope.space))
        self._put_many = scope.signed(kv.batch_put)
        self._delete = scope.signed(kv.delete)
        self._delete_many = scope.signed(kv.batch_delete)

    # put and get spell out the common case of `as_bytes`: a call costs more than all the rest of them.

    def put(
        self,
        key: str | bytes,
        value: str | bytes,
        *,
        expires_in: float | timedelta | None = None,
        if_version: int | None = None,
    ) -> Written:
        """
        Write a value.

        Args:
            key: at least one byte.
            value: may be empty.
            expires_in: seconds, or a timedelta, after which the key reads as absent.
            if_version: write only if the key is at this version; 0 means absent.

        Returns:
            The key, what the write did, and the receipt of its commit.
        """
        try:
            raw_key = key.encode() if type(key) is str else key if type(key) is bytes else as_bytes(key, "key")
            raw = value.encode() if type(value) is str else value if type(value) is bytes else as_bytes(value, "value")
        except UnicodeEncodeError as error:
            raise arguments.not_unicode("key" if error.object is key else "value", error) from None
        if expires_in is None and if_version is None:
            return self._write(raw_key, raw)
        return self._put(
            self._branch,
            self._space,
            raw_key,
            raw,
            expires_in_us=arguments.lifetime_us(expires_in),
            if_version=arguments.optional_natural(if_version, "if_version"),
        )

    def get(self, key: str | bytes, *, as_of: int | None = None, as_of_time: TimeLike | None = None) -> bytes | None:
        """
        Read a value.

        Args:
            key: at least one byte.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.

        Returns:
            The value, or None when the key is absent.
        """
        try:
            raw_key = key.encode() if type(key) is str else key if type(key) is bytes else as_bytes(key, "key")
        except UnicodeEncodeError as error:
            raise arguments.not_unicode("key", error) from None
        if as_of is None and as_of_time is None:
            return self._read(raw_key)
        entry = self._kv.get(self._branch, self._space, raw_key, as_of=position(as_of), as_of_time=instant(as_of_time))
        return None if entry is None else entry.value

    def get_entry(
        self, key: str | bytes, *, as_of: int | None = None, as_of_time: TimeLike | None = None
    ) -> VersionedValue | None:
        """A value with the version that wrote it, or None when the key is absent."""
        return self._kv.get(
            self._branch, self._space, as_bytes(key, "key"), as_of=position(as_of), as_of_time=instant(as_of_time)
        )

    def delete(self, key: str | bytes, *, if_version: int | None = None) -> Written:
        """
        Delete a key.

        Args:
            key: at least one byte.
            if_version: delete only if the key is at this version.

        Returns:
            What the call did; `commit` is None when the key was absent already.
        """
        raw_key = as_bytes(key, "key")
        if if_version is None:
            return self._delete(self._branch, self._space, raw_key)
        return self._delete(self._branch, self._space, raw_key, if_version=natural(if_version, "if_version"))

    def exists(self, key: str | bytes, *, as_of: int | None = None, as_of_time: TimeLike | None = None) -> bool:
        """Whether a key is there, now or at a moment of the past."""
        if as_of is None and as_of_time is None:
            return self._kv.exists(self._branch, self._space, as_bytes(key, "key"))
        return self.get_entry(key, as_of=as_of, as_of_time=as_of_time) is not None

    def history(self, key: str | bytes) -> list[HistoryItem] | None:
        """Every version of a key, newest first, deletions included; None when it was never written."""
        return self._kv.history(self._branch, self._space, as_bytes(key, "key"))

    def count(
        self,
        prefix: str | bytes | None = None,
        *,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> int:
        """How many keys there are, or how many start with a prefix."""
        return self._kv.count(
            self._branch,
            self._space,
            optional_bytes(prefix, "prefix"),
            as_of=position(as_of),
            as_of_time=instant(as_of_time),
        )

    def keys(
        self,
        prefix: str | bytes | None = None,
        *,
        limit: int | None = None,
        cursor: Cursor = None,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> Page[bytes]:
        """
        Keys in byte order.

        Args:
            prefix: only keys that start with it.
            limit: read one page of at most so many; without it, iterating reads on until the end.
            cursor: continue behind the page that had this cursor.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.
        """
        start, at, at_us = optional_bytes(prefix, "prefix"), position(as_of), instant(as_of_time)

        def fetch(after: Cursor, size: int) -> common.Page[bytes]:
            behind = optional_bytes(after, "cursor")
            return self._kv.list(
                self._branch, self._space, prefix=start, cursor=behind, limit=size, as_of=at, as_of_time=at_us
            )

        return read(fetch, cursor, limit)

    def iter_keys(
        self,
        prefix: str | bytes | None = None,
        *,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> Iterator[bytes]:
        """Every key in byte order, read page by page."""
        yield from self.keys(prefix, as_of=as_of, as_of_time=as_of_time)

    def scan(
        self, start: str | bytes | None = None, *, limit: int | None = None, cursor: Cursor = None
    ) -> Page[ScanItem]:
        """
        Keys with their values, in byte order.

        Args:
            start: first key to look at, itself included.
            limit: read one page of at most so many; without it, iterating reads on until the end.
            cursor: continue where the page with this cursor ended; wins over `start`.
        """

        def fetch(first: Cursor, size: int) -> common.Page[ScanItem]:
            return self._kv.scan(self._branch, self._space, start=optional_bytes(first, "start"), limit=size)

        return read(fetch, start if cursor is None else cursor, limit)

    def iter_rows(self, start: str | bytes | None = None) -> Iterator[ScanItem]:
        """Every key with its value, read page by page."""
        yield from self.scan(start)

    def sample(self, prefix: str | bytes | None = None, *, count: int | None = None) -> Sample[SampleItem]:
        """Up to `count` (10) rows spread evenly over the key order, and how many rows there are in all."""
        return self._kv.sample(
            self._branch,
            self._space,
            prefix=optional_bytes(prefix, "prefix"),
            count=arguments.sample_count(count),
        )

    def put_many(self, entries: KvEntries) -> BatchResult:
        """
        Write many values in one commit.

        Args:
            entries: a dict, or (key, value) pairs, or dicts with `key` and `value`.

        Returns:
            The outcome of each entry. A faulty entry fails alone; a repeated key fails the batch.
        """
        return self._put_many(self._branch, self._space, forms.pairs(entries))

    def get_many(
        self,
        keys: Sequence[str | bytes],
        *,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> list[bytes | None]:
        """The value of each key, in the order asked for; None for one that is absent or no valid key."""
        wanted = forms.keys(keys)
        if as_of is None and as_of_time is None:
            found = self._kv.batch_get(self._branch, self._space, wanted)
            return [None if item.result is None else item.result.value for item in found.items]
        at, at_us = position(as_of), instant(as_of_time)
        values: list[bytes | None] = []
        for key in wanted:
            row = self._kv.get(self._branch, self._space, key, as_of=at, as_of_time=at_us) if key else None
            values.append(None if row is None else row.value)
        return values

    def delete_many(self, keys: Sequence[str | bytes]) -> BatchResult:
        """Delete many keys in one commit; the outcome of each."""
        return self._delete_many(self._branch, self._space, forms.keys(keys))

    def exists_many(self, keys: Sequence[str | bytes]) -> list[bool]:
        """Whether each key is there, in the order asked for; False for one that is no valid key."""
        found = self._kv.batch_exists(self._branch, self._space, forms.keys(keys))
        return [item.result is not None and item.result.exists for item in found.items]
