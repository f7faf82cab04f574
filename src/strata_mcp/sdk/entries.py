"""The forms in which a batch may be written down, brought to one form each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from strata_mcp.errors import StrataError, fail
from strata_mcp.sdk.arguments import as_bytes, text
from strata_mcp.sdk.values import plain

if TYPE_CHECKING:
    from strata_mcp.results.common import JsonValue

Key: TypeAlias = str | bytes
KvEntries: TypeAlias = (
    "Mapping[str, Key] | Mapping[bytes, Key] | Mapping[Key, Key] | Iterable[tuple[Key, Key] | Mapping[str, Key]]"
)
"""Values to put: a dict of key to value, or (key, value) pairs, or dicts with `key` and `value`."""
JsonEntries: TypeAlias = (
    "Mapping[str, JsonValue] | Iterable[tuple[str, JsonValue] | tuple[str, str, JsonValue] | Mapping[str, JsonValue]]"
)
"""
Documents or fields to set: a dict of id to value, or (key, value) or (key, path, value) tuples, or
dicts with `key`, `value` and an optional `path`.
"""
JsonTargets: TypeAlias = "Iterable[str | Sequence[str] | Mapping[str, str]]"
"""What to read or delete: ids, or (key,) or (key, path), or dicts with `key` and an optional `path`."""

ROOT = "$"


def malformed(index: int, message: str) -> StrataError:
    """The error for an entry of a shape that the batch does not take."""
    return fail("invalid_argument.sdk.entry", f"entry {index} {message}", index=index)


def each(entries: object, field: str) -> Iterator[tuple[int, object]]:
    """Number the entries of a batch; one bare key is not a batch."""
    if isinstance(entries, str | bytes | bytearray) or not isinstance(entries, Iterable):
        raise fail(
            "invalid_argument.sdk.entry",
            f"{field} takes a list, not {type(entries).__name__}; for one key put it into a list",
            field=field,
        )
    return enumerate(entries)


def required(entry: Mapping[str, object], name: str, index: int) -> object:
    """One field of an entry written as a dict."""
    try:
        return entry[name]
    except KeyError:
        raise malformed(index, f"has no field {name!r}") from None


def keys(entries: object) -> list[bytes]:
    """KV keys of a batch."""
    return [as_bytes(key, "key") for _, key in each(entries, "keys")]


def pairs(entries: object) -> list[tuple[bytes, bytes]]:
    """(key, value) of each entry of a KV batch."""
    if isinstance(entries, Mapping):
        return [(as_bytes(key, "key"), as_bytes(value, "value")) for key, value in entries.items()]
    found: list[tuple[bytes, bytes]] = []
    for index, entry in each(entries, "entries"):
        if isinstance(entry, Mapping):
            key, value = required(entry, "key", index), required(entry, "value", index)
        elif isinstance(entry, tuple | list) and len(entry) == 2:
            key, value = entry
        else:
            raise malformed(index, "is neither a (key, value) pair nor a dict with key and value")
        found.append((as_bytes(key, "key"), as_bytes(value, "value")))
    return found


def documents(entries: object) -> list[tuple[str, str, JsonValue]]:
    """(key, path, value) of each entry of a JSON batch."""
    if isinstance(entries, Mapping):
        return [(text(key, "key"), ROOT, plain(value)) for key, value in entries.items()]
    found: list[tuple[str, str, JsonValue]] = []
    for index, entry in each(entries, "entries"):
        path: object = ROOT
        if isinstance(entry, Mapping):
            key, value = required(entry, "key", index), required(entry, "value", index)
            path = entry.get("path", ROOT)
        elif isinstance(entry, tuple | list) and len(entry) == 2:
            key, value = entry
        elif isinstance(entry, tuple | list) and len(entry) == 3:
            key, path, value = entry
        else:
            raise malformed(index, "is none of (key, value), (key, path, value), or a dict with key and value")
        found.append((text(key, "key"), text(path, "path"), plain(value)))
    return found


def targets(entries: object) -> list[tuple[str, str]]:
    """(key, path) of each entry of a JSON read or delete."""
    found: list[tuple[str, str]] = []
    for index, entry in each(entries, "entries"):
        path: object = ROOT
        if isinstance(entry, str):
            key: object = entry
        elif isinstance(entry, Mapping):
            key, path = required(entry, "key", index), entry.get("path", ROOT)
        elif isinstance(entry, Sequence) and not isinstance(entry, bytes | bytearray) and 1 <= len(entry) <= 2:
            key, path = entry[0], entry[1] if len(entry) == 2 else ROOT
        else:
            raise malformed(index, "is none of an id, (key,), (key, path), or a dict with key")
        found.append((text(key, "key"), text(path, "path")))
    return found


def conditions(filter: object) -> dict[str, JsonValue] | None:
    """The conditions of a query: a dict as it is, a `Filter` as the dict that means the same."""
    from strata_mcp.sdk.filters import Filter

    if filter is None:
        return None
    if isinstance(filter, Mapping):
        return dict(filter)
    if isinstance(filter, Filter):
        return filter.to_query()
    raise fail(
        "invalid_argument.sdk.command",
        f"filter takes a dict of conditions or a Filter, not {type(filter).__name__}",
        field="filter",
    )


def paths(value: object, field: str) -> list[str] | None:
    """One path or several, as a list; None stays None."""
    if value is None:
        return None
    if isinstance(value, str):
        return [text(value, field)]
    if isinstance(value, bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise fail("invalid_argument.sdk.command", f"{field} takes a path or a list of paths", field=field)
    return [text(path, field) for path in value]


def index_type(value: object) -> str:
    """The type of an index by its name."""
    from strata_mcp.results.documents import JsonIndexType

    names = [known.value for known in JsonIndexType]
    if text(value, "index_type") not in names:
        raise fail(
            "invalid_argument.sdk.command",
            f"there is no index type {value!r}; choose one of {', '.join(names)}",
            field="index_type",
        )
    return text(value, "index_type")
