"""Wire shapes that are no result class of their own: wrappers, pages, batches. They serve the schemas only."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from strata_mcp.results.admin import RemoteOriginInfo
from strata_mcp.results.branches import BranchCleanupItem, BranchItem
from strata_mcp.results.common import (
    BatchItemStatus,
    BatchMode,
    BatchStatus,
    CommitReceipt,
    ErrorStatus,
    MutationEffect,
)

T = TypeVar("T")
C = TypeVar("C")


class Shape(BaseModel):
    """A shape of the wire."""

    model_config = ConfigDict(defer_build=True)


class Maybe(Shape, Generic[T]):
    """Something that may not be there."""

    found: bool
    value: T | None


class Page(Shape, Generic[T, C]):
    """One page; `cursor` continues it."""

    items: list[T]
    has_more: bool
    cursor: C | None


class Sample(Shape, Generic[T, C]):
    """Rows spread over the key order, and how many there are."""

    items: list[T]
    total_count: int
    has_more: bool
    cursor: C | None


class Items(Shape, Generic[T]):
    """A list in an object."""

    items: list[T]


class Written(Shape, Generic[T]):
    """What a write did."""

    key: T
    effect: MutationEffect
    commit: CommitReceipt | None


class BatchItem(Shape, Generic[T]):
    """Outcome of one entry."""

    index: int
    status: BatchItemStatus
    applied: bool
    result: T | None
    error: ErrorStatus | None
    commit: CommitReceipt | None
    effect: MutationEffect | None


class Batch(Shape, Generic[T]):
    """Outcome of a batch."""

    status: BatchStatus
    mode: BatchMode
    applied: bool
    items: list[BatchItem[T]]
    commit: CommitReceipt | None


class BranchDeleteResult(Shape):
    """What a branch deletion did."""

    branch: BranchItem
    deleted: bool
    effect: MutationEffect
    cleanup: BranchCleanupItem | None
    generation_before: int | None
    generation_after: int | None


class SpaceCreateResult(Shape):
    """What a space creation did."""

    space: str
    effect: MutationEffect
    commit: CommitReceipt | None


class SpaceDeleteResult(Shape):
    """What a space deletion did."""

    space: str
    force: bool
    deleted_rows: int
    effect: MutationEffect
    commit: CommitReceipt | None


class Origin(Shape):
    """Where a database was cloned from."""

    origin: RemoteOriginInfo | None


class Upkeep(Shape):
    """What a checkpoint or a compaction did."""

    status: str
    checkpoint_ts: int
    head: int
    commits: int
    rows: int
    tables: list[str]
    fragments: int
    freed_bytes: int


class Answer(Shape):
    """Answer to one command."""

    type: str
    data: Any


class TransactionResult(Shape):
    """Answers to the commands of a transaction, and its commit (null when nothing was written)."""

    commit: CommitReceipt | None
    results: list[Answer]


class JsonVersionedValue(Shape):
    """A value with the versions of its document."""

    document_version: int
    timestamp: int
    value: Any
    version: int


class JsonHistoryItem(Shape):
    """One version of a document."""

    timestamp: int
    tombstone: bool
    version: int
    committed_at: int | None
    document_version: int | None
    value: Any


class JsonSampleItem(Shape):
    """A document with its id and versions."""

    document_version: int
    key: str
    timestamp: int
    value: Any
    version: int


class JsonBatchGetItemResult(Shape):
    """One place of a batch of reads."""

    found: bool
    value: Any
    document_version: int | None
    timestamp: int | None
    version: int | None
