"""
Index definitions, and the structures queries use in their place.

A definition is a row of its own family, so it forks and travels in time with its branch. The sorted
structure behind it lives in memory only: built by the first query that can use it, then kept up with
the keys written since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from sortedcontainers import SortedDict

from strata_mcp.errors import fail
from strata_mcp.model import Family, RecordTuple, Row
from strata_mcp.primitives.json.codec import decode
from strata_mcp.primitives.json.edit import MISSING, get
from strata_mcp.primitives.json.path import normal_path, parse_path
from strata_mcp.primitives.json.query import Bound, Query, kind_of
from strata_mcp.results.documents import JsonIndexDefinition, JsonIndexType

if TYPE_CHECKING:
    from strata_mcp.store.store import Store

NAME_BYTES_MAX: Final = 256
TEXT_ENTRY_BYTES: Final = 128
_JSON: Final = int(Family.JSON)
_JSON_INDEX: Final = int(Family.JSON_INDEX)


class IndexRecord(msgspec.Struct, frozen=True):
    """What is stored of a definition, as JSON text."""

    field_path: str
    index_type: str
    created_version: int


_decode_record = msgspec.json.Decoder(IndexRecord).decode
_encode_record = msgspec.json.Encoder().encode


class Watch:
    """The definitions a write has to count entries for."""

    __slots__ = ("_fields",)

    def __init__(self, definitions: list[JsonIndexDefinition]) -> None:
        """Parse the paths once."""
        self._fields = [(parse_path(each.field_path), each.index_type.value) for each in definitions]

    def changes(self, previous: Row | None, text: bytes | None) -> tuple[int, int]:
        """(entries added, entries removed) when a document changes from one stored form to another."""
        before = MISSING if previous is None or previous[1] is None else decode(previous[1])
        after = MISSING if text is None else decode(text)
        puts = deletes = 0
        for path, index_type in self._fields:
            old, new = (_counted(get(document, path), index_type) for document in (before, after))
            if old != new:
                puts += new is not None
                deletes += old is not None
        return puts, deletes


class _Structure:
    """Entries of one index on one branch: (kind, value) -> keys, in order."""

    __slots__ = ("entry_of", "keys_of", "level", "path")

    def __init__(self, field_path: str) -> None:
        self.path = parse_path(field_path)
        self.level = -1
        self.keys_of: SortedDict[tuple[str, Any], set[bytes]] = SortedDict()
        self.entry_of: dict[bytes, tuple[str, Any]] = {}

    def note(self, key: bytes, row: Row | None, index_type: str) -> None:
        """Follow one document."""
        old = self.entry_of.pop(key, None)
        if old is not None:
            keys = self.keys_of[old]
            keys.discard(key)
            if not keys:
                del self.keys_of[old]
        value = MISSING if row is None or row[1] is None else get(decode(row[1]), self.path)
        entry = _entry(value, index_type)
        if entry is not None:
            self.entry_of[key] = entry
            self.keys_of.setdefault(entry, set()).add(key)

    def find(self, bound: Bound) -> list[bytes]:
        """Keys of the documents that meet a condition, by key."""
        found: set[bytes] = set()
        for keys in self._ranges(bound):
            found |= keys
        return sorted(found)

    def _ranges(self, bound: Bound) -> Iterator[set[bytes]]:
        operator, operand = bound.operator, bound.value
        if operator in ("$eq", "$in"):
            for value in operand if operator == "$in" else [operand]:
                yield self.keys_of.get((kind_of(value), value), set())
            return
        kind = kind_of(operand)
        low: tuple[str, Any] | None = (kind, operand) if operator in ("$gt", "$gte", "$prefix") else None
        high: tuple[str, Any] | None = (kind, operand) if operator in ("$lt", "$lte") else None
        for entry in self.keys_of.irange(low or (kind,), high or (kind + "\0",)):  # type: ignore[arg-type]  # open ends
            if operator == "$prefix" and not str(entry[1]).startswith(operand):
                return
            yield self.keys_of[entry]


_Mark: TypeAlias = "tuple[str, int, str, str, int]"
"""(branch, its uid, space, index, version the definition was made at)."""


class Indexes:
    """The definitions of all branches and spaces, and the structures in use."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        self._store = store
        self._structures: dict[_Mark, _Structure] = {}

    def create(self, branch: str, space: str, name: str, field_path: str, index_type: str) -> JsonIndexDefinition:
        """Store a definition."""
        key = _name(name)
        kind = _type(index_type)
        path = normal_path(parse_path(field_path))
        store = self._store
        with store.committing():
            node = store.catalog.node(branch)
            if store.view(branch).get(Family.JSON_INDEX, space, key) is not None:
                raise fail("already_exists.engine.json_index", index=name)
            record = IndexRecord(path, kind.value, store.journal.head + 1)
            records: list[RecordTuple] = [(Family.JSON_INDEX, space, key, _encode_record(record), 0)]
            store.register_space(node, space, records)
            store.append(node.uid, records)
        return _definition(space, name, record)

    def drop(self, branch: str, space: str, name: str) -> bool:
        """Remove a definition."""
        key = _name(name)
        store = self._store
        with store.committing():
            node = store.catalog.node(branch)
            if store.view(branch).get(Family.JSON_INDEX, space, key) is None:
                return False
            store.append(node.uid, [(Family.JSON_INDEX, space, key, None, 0)])
        return True

    def definitions(self, branch: str, space: str) -> list[JsonIndexDefinition]:
        """Definitions by length of the name, then by its bytes."""
        rows = self._store.view(branch).rows(Family.JSON_INDEX, space)
        rows.sort(key=lambda found: (len(found[0]), found[0]))
        return [_definition(space, key.decode(), _decode_record(row[1] or b"")) for key, row in rows]

    def watching(self, branch: str, space: str) -> Watch | None:
        """What a write in the space has to count for; None when there is no index, which costs a look-up."""
        state = self._store.state
        if (state.tables is None and (_JSON_INDEX, space) not in state.overlay) or not state.has_rows(
            _JSON_INDEX, space
        ):
            return None
        definitions = self.definitions(branch, space)
        return Watch(definitions) if definitions else None

    def candidates(self, branch: str, space: str, query: Query) -> tuple[str, list[bytes]] | None:
        """(index used, keys that may match), or None when no index serves the query. The caller holds `reading`."""
        if not query.bounds or not self._store.state.has_rows(Family.JSON_INDEX, space):
            return None
        best: tuple[str, list[bytes]] | None = None
        definitions = self.definitions(branch, space)
        for definition in definitions:
            for bound in query.bounds:
                if bound.path != definition.field_path or not _serves(definition.index_type.value, bound):
                    continue
                keys = self._structure(branch, space, definition, definitions).find(bound)
                if best is None or len(keys) < len(best[1]):
                    best = (definition.name, keys)
        return best

    def _structure(
        self, branch: str, space: str, definition: JsonIndexDefinition, present: Sequence[JsonIndexDefinition]
    ) -> _Structure:
        store = self._store
        view = store.view(branch)
        mark = (branch, view.node.uid, space, definition.name, definition.created_version)
        structure = self._structures.get(mark)
        level = store.state.newest
        index_type = definition.index_type.value
        touched = None
        if structure is not None:
            touched = store.touched_since(branch, Family.JSON, space, structure.level)
        if structure is None or touched is None:
            self._forget(branch, view.node.uid, space, present)
            structure = self._structures[mark] = _Structure(definition.field_path)
            for key, row in view.rows(_JSON, space):
                structure.note(key, row, index_type)
        else:
            for key in set(touched):
                structure.note(key, view.get(_JSON, space, key), index_type)
        structure.level = level
        return structure

    def _forget(self, branch: str, uid: int, space: str, present: Sequence[JsonIndexDefinition]) -> None:
        """Let go of structures whose branch or definition is gone."""
        kept = {(each.name, each.created_version) for each in present}
        for mark in list(self._structures):
            if mark[:3] == (branch, uid, space):
                is_gone = mark[3:] not in kept
            else:
                node = self._store.catalog.find(mark[0])
                is_gone = node is None or node.uid != mark[1]
            if is_gone:
                del self._structures[mark]


def _entry(value: Any, index_type: str) -> tuple[str, Any] | None:
    """The index entry of a field's value: numbers for numeric, scalars for tag, text for text."""
    if value is MISSING:
        return None
    kind = kind_of(value)
    if index_type == "numeric":
        return (kind, value) if kind == "number" else None
    if index_type == "text":
        return (kind, value) if kind == "string" else None
    return (kind, value) if kind in ("string", "number", "bool") else None


def _counted(value: Any, index_type: str) -> str | None:
    """
    The entry that receipts count, None for none.

    Texts differ by their lower case (`text` indexes: its first 128 bytes), numbers as floats, zeros by
    their sign. Queries look at `_entry` instead, which keeps values whole.
    """
    kind = kind_of(value)
    if index_type == "numeric":
        return repr(float(value)) if kind == "number" else None
    if kind != "string":
        return None
    folded = str(value).lower()
    return folded if index_type == "tag" else folded.encode()[:TEXT_ENTRY_BYTES].decode(errors="ignore")


def _serves(index_type: str, bound: Bound) -> bool:
    """Whether every document that meets the condition has an entry."""
    operands = bound.value if bound.operator == "$in" else [bound.value]
    return all(_entry(operand, index_type) is not None for operand in operands)


def _definition(space: str, name: str, record: IndexRecord) -> JsonIndexDefinition:
    return JsonIndexDefinition(
        record.created_version,
        record.created_version,
        record.field_path,
        JsonIndexType(record.index_type),
        name,
        space,
    )


def _type(index_type: str) -> JsonIndexType:
    try:
        return JsonIndexType(index_type)
    except ValueError:
        given = ascii(index_type)[:80]
        raise fail("invalid_argument.engine.json_index", field="index_type", index_type=given) from None


def _name(name: str) -> bytes:
    try:
        key = name.encode()
    except UnicodeEncodeError:
        key = b""
    if not 0 < len(key) <= NAME_BYTES_MAX or b"\0" in key or b"\n" in key:
        raise fail("invalid_argument.engine.json_index_name", size=len(key))
    if key.startswith(b"_"):
        raise fail("invalid_argument.engine.json_index_name_reserved", index=name)
    return key
