"""Results of the JSON document commands. Values are plain Python JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from strata_mcp.results.common import JsonValue


@dataclass(slots=True)
class JsonVersionedValue:
    """A JSON value with the commit number that last wrote its document and the document's own version, from 1 up."""

    document_version: int
    timestamp: int
    value: JsonValue
    version: int


@dataclass(slots=True)
class JsonHistoryItem:
    """One past state of a document; a tombstone has no value, and `committed_at` is UTC microseconds."""

    timestamp: int
    tombstone: bool
    version: int
    committed_at: int | None = None
    document_version: int | None = None
    value: JsonValue | None = None


@dataclass(slots=True)
class JsonSampleItem:
    """One document with its id, the commit number that last wrote it and its own version, from 1 up."""

    document_version: int
    key: str
    timestamp: int
    value: JsonValue
    version: int


class JsonIndexType(StrEnum):
    """How an index compares the values of its field."""

    NUMERIC = "numeric"
    TAG = "tag"
    TEXT = "text"


@dataclass(slots=True)
class JsonIndexDefinition:
    """An index over one field of the documents of a space; `created_*` are the commit number that made it."""

    created_timestamp: int
    created_version: int
    field_path: str
    index_type: JsonIndexType
    name: str
    space: str


@dataclass(slots=True)
class JsonBatchItemResult:
    """The version, from 1 up, that a document has after one entry of a write batch."""

    document_version: int | None = None


@dataclass(slots=True)
class JsonBatchGetItemResult:
    """What one entry of a JSON read batch found; the value is None when `found` is false."""

    found: bool
    value: JsonValue
    document_version: int | None = None
    timestamp: int | None = None
    version: int | None = None


@dataclass(slots=True)
class BatchExistsPresence:
    """Whether the document that one entry named is there."""

    exists: bool


@dataclass(slots=True)
class JsonQueryResult:
    """Documents that match; `index` names the index used, `examined` counts the documents looked at."""

    items: list[JsonSampleItem]
    has_more: bool
    cursor: str | None
    index: str | None
    examined: int
