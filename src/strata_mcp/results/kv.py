"""Results of the key-value commands. Keys and values are raw bytes here; the wire encodes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class VersionedValue:
    """A value and the commit that wrote it; `version` and `timestamp` are equal commit numbers."""

    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class HistoryItem:
    """One past state of a key; a tombstone has no value, and `committed_at` is UTC microseconds."""

    timestamp: int
    tombstone: bool
    version: int
    committed_at: int | None = None
    value: bytes | None = None


@dataclass(slots=True)
class ScanItem:
    """One row of a scan: key, value and the commit number that wrote it."""

    key: bytes
    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class SampleItem:
    """One sampled row: key, value and the commit number that wrote it."""

    key: bytes
    timestamp: int
    value: bytes
    version: int


@dataclass(slots=True)
class BatchItemResult:
    """The key that one entry of a KV write batch named."""

    key: bytes


@dataclass(slots=True)
class BatchGetItemResult:
    """What one entry of a KV read batch found; the other fields are None when `found` is false."""

    found: bool
    key: bytes
    timestamp: int | None = None
    value: bytes | None = None
    version: int | None = None


@dataclass(slots=True)
class BatchExistsItemResult:
    """Whether the key that one entry named is there."""

    exists: bool
    key: bytes
