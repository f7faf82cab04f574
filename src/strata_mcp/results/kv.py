"""Results of the key-value commands. Keys and values are raw bytes here; the wire encodes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class VersionedValue:
    """DOC."""

    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class HistoryItem:
    """DOC."""

    timestamp: int
    tombstone: bool
    version: int
    committed_at: int | None = None
    value: bytes | None = None


@dataclass(slots=True)
class ScanItem:
    """DOC."""

    key: bytes
    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class SampleItem:
    """DOC."""

    key: bytes
    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class BatchItemResult:
    """DOC."""

    key: bytes


@dataclass(slots=True)
class BatchGetItemResult:
    """DOC."""

    found: bool
    key: bytes
    timestamp: int | None = None
    value: bytes | None = None
    version: int | None = None


@dataclass(slots=True)
class BatchExistsItemResult:
    """DOC."""

    exists: bool
    key: bytes
