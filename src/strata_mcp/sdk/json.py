"""JSON documents: `db.json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast, overload

from strata_mcp.errors import InvalidArgumentError, fail
from strata_mcp.sdk import arguments
from strata_mcp.sdk import entries as forms
from strata_mcp.sdk.arguments import instant, optional_natural, optional_text, position, text
from strata_mcp.sdk.pages import Cursor, Page, read
from strata_mcp.sdk.values import NOT_PLAIN, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strata_mcp.clock import TimeLike
    from strata_mcp.results import common
    from strata_mcp.results.common import BatchResult, JsonValue, Sample, Written
    from strata_mcp.results.documents import (
        JsonHistoryItem,
        JsonIndexDefinition,
        JsonSampleItem,
        JsonVersionedValue,
    )
    from strata_mcp.sdk.entries import JsonEntries, JsonTargets
    from strata_mcp.sdk.filters import Filter
    from strata_mcp.sdk.scope import Scope

_UNSET: Final = object()


class JSONNamespace:
    """
    JSON documents under text ids, in one branch and space.

    A path reaches into a document: `$` is the whole, then `.name`, `[0]`, `["odd name"]`.
    """

    __slots__ = (
        "_branch",
        "_create_index",
        "_delete",
        "_delete_many",
        "_drop_index",
        "_json",
        "_set",
        "_set_many",
        "_space",
    )

    def __init__(self, scope: Scope) -> None:
        """Bind the engine's calls, signed where the view has an author."""
        json = scope.engine.json
        self._json = json
        self._branch = scope.branch
        self._space = scope.space
        self._set = scope.signed(json.set)
        self._set_many = scope.signed(json.batch_set)
        self._delete = scope.signed(json.delete)
        self._delete_many = scope.signed(json.batch_delete)
        self._create_index = scope.signed(json.create_index)
        self._drop_index = scope.signed(json.drop_index)

    @overload
    def set(self, key: str, value: JsonValue, /, *, if_version: int | None = None) -> Written: ...

    @overload
    def set(self, key: str, path: str, value: JsonValue, *, if_version: int | None = None) -> Written: ...

    @overload
    def set(self, key: str, *, value: JsonValue, if_version: int | None = None) -> Written: ...

    def set(self, key: str, path: object = _UNSET, value: object = _UNSET, *, if_version: int | None = None) -> Written:
        """
        Write a document, or one place in it.

        `set(key, value)` replaces the whole document, `set(key, path, value)` one place. Missing objects on
        the way are made; arrays never grow.

        Args:
            key: id of the document.
            path: where in the document.
            value: any JSON value.
            if_version: write only if the document is at this version; 0 means absent.
        """
        if value is _UNSET:
            if path is _UNSET:
                raise fail(
                    "invalid_argument.sdk.command",
                    "json.set takes a value: set(key, value) for a document, set(key, path, value) for a place in it",
                    field="value",
                )
            path, value = forms.ROOT, path
        elif path is _UNSET:
            path = forms.ROOT
        name, place, version = text(key, "key"), text(path, "path"), optional_natural(if_version, "if_version")
        try:
            return self._set(self._branch, self._space, name, place, cast("JsonValue", value), if_version=version)
        except InvalidArgumentError as error:
            if error.code != NOT_PLAIN:
                raise
        return self._set(self._branch, self._space, name, place, plain(value), if_version=version)

    def get(
        self, key: str, path: str = "$", *, as_of: int | None = None, as_of_time: TimeLike | None = None
    ) -> JsonValue:
        """
        Read a document, or one place in it.

        Args:
            key: id of the document.
            path: where in the document.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.

        Returns:
            The value. None when there is none, and for a stored null: `get_entry` tells them apart.
        """
        entry = self.get_entry(key, path, as_of=as_of, as_of_time=as_of_time)
        return None if entry is None else entry.value

    def get_entry(
        self, key: str, path: str = "$", *, as_of: int | None = None, as_of_time: TimeLike | None = None
    ) -> JsonVersionedValue | None:
        """A value with the versions of its document, or None when the document or the place is absent."""
        return self._json.get(
            self._branch,
            self._space,
            text(key, "key"),
            text(path, "path"),
            as_of=position(as_of),
            as_of_time=instant(as_of_time),
        )

    def delete(self, key: str, path: str = "$", *, if_version: int | None = None) -> Written:
        """
        Delete a document, or one place in it.

        Args:
            key: id of the document.
            path: where in the document; items behind a deleted array item move up.
            if_version: delete only if the document is at this version.

        Returns:
            What the call did; `commit` is None when there was nothing to delete.
        """
        return self._delete(
            self._branch,
            self._space,
            text(key, "key"),
            text(path, "path"),
            if_version=optional_natural(if_version, "if_version"),
        )

    def exists(self, key: str, *, as_of: int | None = None, as_of_time: TimeLike | None = None) -> bool:
        """Whether a document is there, now or at a moment of the past."""
        if as_of is None and as_of_time is None:
            return self._json.exists(self._branch, self._space, text(key, "key"))
        return self.get_entry(key, as_of=as_of, as_of_time=as_of_time) is not None

    def history(self, key: str) -> list[JsonHistoryItem] | None:
        """Every version of a document, newest first, deletions included; None when it was never written."""
        return self._json.history(self._branch, self._space, text(key, "key"))

    def count(self, prefix: str | None = None, *, as_of: int | None = None, as_of_time: TimeLike | None = None) -> int:
        """How many documents there are, or how many have an id that starts with a prefix."""
        return self._json.count(
            self._branch,
            self._space,
            optional_text(prefix, "prefix"),
            as_of=position(as_of),
            as_of_time=instant(as_of_time),
        )

    def keys(
        self,
        prefix: str | None = None,
        *,
        limit: int | None = None,
        cursor: Cursor = None,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> Page[str]:
        """
        Ids of documents in byte order.

        Args:
            prefix: only ids that start with it.
            limit: read one page of at most so many; without it, iterating reads on until the end.
            cursor: continue behind the page that had this cursor.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.
        """
        start, at, at_us = optional_text(prefix, "prefix"), position(as_of), instant(as_of_time)

        def fetch(after: Cursor, size: int) -> common.Page[str]:
            behind = optional_text(after, "cursor")
            return self._json.list(
                self._branch, self._space, prefix=start, cursor=behind, limit=size, as_of=at, as_of_time=at_us
            )

        return read(fetch, cursor, limit)

    def iter_keys(
        self, prefix: str | None = None, *, as_of: int | None = None, as_of_time: TimeLike | None = None
    ) -> Iterator[str]:
        """Every id in byte order, read page by page."""
        yield from self.keys(prefix, as_of=as_of, as_of_time=as_of_time)

    def scan(
        self, start: str | None = None, *, limit: int | None = None, cursor: Cursor = None
    ) -> Page[JsonSampleItem]:
        """
        Documents in the order of their ids.

        Args:
            start: first id to look at, itself included.
            limit: read one page of at most so many; without it, iterating reads on until the end.
            cursor: continue where the page with this cursor ended; wins over `start`.
        """

        def fetch(first: Cursor, size: int) -> common.Page[JsonSampleItem]:
            return self._json.scan(self._branch, self._space, start=optional_text(first, "start"), limit=size)

        return read(fetch, start if cursor is None else cursor, limit)

    def iter_rows(self, start: str | None = None) -> Iterator[JsonSampleItem]:
        """Every document, read page by page."""
        yield from self.scan(start)

    def sample(self, prefix: str | None = None, *, count: int | None = None) -> Sample[JsonSampleItem]:
        """Up to `count` (10) documents spread evenly over the ids, and how many there are in all."""
        return self._json.sample(
            self._branch, self._space, prefix=optional_text(prefix, "prefix"), count=arguments.sample_count(count)
        )

    def set_many(self, entries: JsonEntries) -> BatchResult:
        """
        Write many documents or places in one commit.

        Args:
            entries: a dict of id to value, or (key, value) or (key, path, value) tuples, or dicts with
                `key`, `value` and an optional `path`.

        Returns:
            The outcome of each entry. Entries of one document apply in order.
        """
        return self._set_many(self._branch, self._space, forms.documents(entries))

    def get_many(
        self, entries: JsonTargets, *, as_of: int | None = None, as_of_time: TimeLike | None = None
    ) -> list[JsonValue]:
        """
        The value of each entry, in the order asked for; None for one that is absent or faulty.

        Args:
            entries: ids, or (key,) or (key, path) tuples, or dicts with `key` and an optional `path`.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.
        """
        found = self._json.batch_get(
            self._branch,
            self._space,
            forms.targets(entries),
            as_of=position(as_of),
            as_of_time=instant(as_of_time),
        )
        return [None if item.result is None else item.result.value for item in found.items]

    def delete_many(self, entries: JsonTargets) -> BatchResult:
        """Delete many documents or places in one commit; the outcome of each."""
        return self._delete_many(self._branch, self._space, forms.targets(entries))

    def exists_many(self, keys: Sequence[str]) -> list[bool]:
        """Whether each document is there, in the order asked for; False for one with a faulty id."""
        wanted = [text(key, "key") for _, key in forms.each(keys, "keys")]
        found = self._json.batch_exists(self._branch, self._space, wanted)
        return [item.result is not None and item.result.exists for item in found.items]

    def query(
        self,
        filter: Mapping[str, JsonValue] | Filter | None = None,
        *,
        order: str | Sequence[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
        projection: str | Sequence[str] | None = None,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> Page[JsonSampleItem]:
        """
        Find documents by their content.

        Args:
            filter: conditions on paths, all of which must hold, as in `{"plan": "pro", "age": {"$gte": 18}}`.
            order: path or paths to order by; a leading `-` reverses. By id without it.
            limit: at most so many documents; all without it.
            offset: how many to leave out first.
            projection: path or paths to keep of each document; whole documents without it.
            as_of: commit number to read at.
            as_of_time: instant to read at; not together with `as_of`.
        """
        found = self._json.query(
            self._branch,
            self._space,
            filter=forms.conditions(filter),
            order=forms.paths(order, "order"),
            limit=None if limit is None else arguments.page_limit(limit),
            offset=arguments.natural(offset, "offset"),
            projection=forms.paths(projection, "projection"),
            as_of=position(as_of),
            as_of_time=instant(as_of_time),
        )
        return Page(found.items, found.has_more, found.cursor)

    def create_index(self, name: str, field_path: str, *, index_type: str = "tag") -> JsonIndexDefinition:
        """
        Declare an index over one path of the space's documents.

        Args:
            name: name of the index, unique in the space.
            field_path: the path.
            index_type: `tag`, `text` or `numeric`.
        """
        return self._create_index(
            self._branch,
            self._space,
            text(name, "name"),
            text(field_path, "field_path"),
            forms.index_type(index_type),
        )

    def drop_index(self, name: str) -> bool:
        """Remove an index; False when there was none of that name."""
        return self._drop_index(self._branch, self._space, text(name, "name"))

    def list_indexes(self) -> list[JsonIndexDefinition]:
        """The indexes of the space."""
        return self._json.list_indexes(self._branch, self._space).items
