"""Results of the JSON document commands. Values are plain Python JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from strata_mcp.results.common import JsonValue


@dataclass(slots=True)
class JsonVersionedValue:
    """DOC."""

    document_version: int
    timestamp: int
    value: JsonValue
    version: int


@dataclass(slots=True)
class JsonHistoryItem:
    """DOC."""

    timestamp: int
    tombstone: bool
    version: int
    committed_at: int | None = None
    document_version: int | None = None
    value: JsonValue | None = None


@dataclass(slots=True)
class JsonSampleItem:
    """DOC."""

    document_version: int
    key: str
    timestamp: int
    value: JsonValue
    version: int


class JsonIndexType(StrEnum):
    """DOC."""

    NUMERIC = "numeric"
    TAG = "tag"
    TEXT = "text"


@dataclass(slots=True)
class JsonIndexDefinition:
    """DOC."""

    created_timestamp: int
    created_version: int
    field_path: str
    index_type: JsonIndexType
    name: str
    space: str


@dataclass(slots=True)
class JsonBatchItemResult:
    """DOC."""

    document_version: int | None = None


@dataclass(slots=True)
class JsonBatchGetItemResult:
    """DOC."""

    found: bool
    value: JsonValue
    document_version: int | None = None
    timestamp: int | None = None
    version: int | None = None


@dataclass(slots=True)
class BatchExistsPresence:
    """DOC."""

    exists: bool


@dataclass(slots=True)
class JsonQueryResult:
    """Documents that match; `index` names the index used, `examined` counts the documents looked at."""

    items: list[JsonSampleItem]
    has_more: bool
    cursor: str | None
    index: str | None
    examined: int
