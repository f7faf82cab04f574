"""Words of the data-set exchange. The exchange itself comes with a later release; programs may name these already."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HubDatasetSort(StrEnum):
    """Order of a listing of data sets."""

    DOWNLOADS = "downloads"
    RECENT = "recent"
    NAME = "name"
    SIZE = "size"


class HubCloneProgressStage(StrEnum):
    """How far a clone has come."""

    RESOLVED = "resolved"
    MANIFEST_FETCHED = "manifest_fetched"
    OBJECT_FETCHED = "object_fetched"
    IMPORTING = "importing"
    DONE = "done"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class HubCloneProgress:
    """One step of a clone, handed to `clone(progress=...)`."""

    dataset: str
    stage: HubCloneProgressStage
    branch: str | None = None
    bytes: int | None = None
    index: int | None = None
    manifest_hash: str | None = None
    object_count: int | None = None
    total_bytes: int | None = None
