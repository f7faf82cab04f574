"""Shapes every family shares: receipts, effects, errors, pages and batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

T = TypeVar("T")

JsonValue: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
"""Any value JSON can express; objects have string keys."""


class CommitDurability(StrEnum):
    """What an acknowledged commit has survived: nothing beyond memory, the process, a power cut, or not known."""

    NOT_DURABLE = "not_durable"
    STANDARD = "standard"
    ALWAYS = "always"
    UNCERTAIN = "uncertain"


@dataclass(slots=True)
class CommitReceipt:
    """Proof of one commit: its version and timestamp (equal), the rows it put and deleted, UTC microseconds."""

    delete_count: int
    durability: CommitDurability
    put_count: int
    timestamp: int
    version: int
    committed_at: int | None = None


class MutationEffectKind(StrEnum):
    """What a write did to the row it named."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    NOT_FOUND = "not_found"


@dataclass(slots=True)
class MutationEffect:
    """How a write changed things: whether it applied, whether the row was there before, how many rows it touched."""

    affected_count: int
    applied: bool
    kind: MutationEffectKind
    matched: bool


class ErrorClass(StrEnum):
    """The 16 groups of errors, one for each exception class."""

    NOT_FOUND = "not_found"
    ALREADY_EXISTS = "already_exists"
    INVALID_ARGUMENT = "invalid_argument"
    FAILED_PRECONDITION = "failed_precondition"
    ACCESS_DENIED = "access_denied"
    CONFLICT = "conflict"
    AMBIGUOUS_COMMIT = "ambiguous_commit"
    HISTORY_UNAVAILABLE = "history_unavailable"
    UNSUPPORTED = "unsupported"
    RESOURCE_EXHAUSTED = "resource_exhausted"
    UNAVAILABLE = "unavailable"
    IO = "io"
    CORRUPTION = "corruption"
    DATA_LOSS = "data_loss"
    SERIALIZATION = "serialization"
    INTERNAL = "internal"


class RetryPolicy(StrEnum):
    """When sending the request again makes sense."""

    NEVER = "never"
    AFTER_STATE_CHANGE = "after_state_change"
    SAME_REQUEST = "same_request"
    IDEMPOTENT_ONLY = "idempotent_only"
    UNKNOWN = "unknown"


class CommitOutcomeStatus(StrEnum):
    """What is known about the commit of a request that failed."""

    NOT_APPLICABLE = "not_applicable"
    NOT_STARTED = "not_started"
    DEFINITELY_NOT_COMMITTED = "definitely_not_committed"
    MAYBE_COMMITTED = "maybe_committed"
    COMMITTED_POST_COMMIT_FAILED = "committed_post_commit_failed"


@dataclass(slots=True)
class ErrorDetail:
    """One fact about an error, as text."""

    key: str
    value: str


@dataclass(slots=True)
class ErrorStatus:
    """An error as a value: what happened, what to do next, whether to retry, and whether anything was written."""

    error_class: ErrorClass
    code: str
    commit_outcome: CommitOutcomeStatus
    docs_url: str
    message: str
    reference_id: str
    retry_policy: RetryPolicy
    retryable: bool
    suggested_fix: str
    details: list[ErrorDetail] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    trace_id: str | None = None


class BatchMode(StrEnum):
    """Whether a batch applies as a whole or entry by entry."""

    ATOMIC = "atomic"
    ITEMWISE = "itemwise"


class BatchStatus(StrEnum):
    """How a batch went as a whole."""

    OK = "ok"
    PARTIAL = "partial"
    ERROR = "error"


class BatchItemStatus(StrEnum):
    """How one entry of a batch went; a miss is a read that found nothing."""

    OK = "ok"
    MISS = "miss"
    ERROR = "error"


ReceiptFields: TypeAlias = tuple[int, CommitDurability, int, int, int, int | None]
"""The fields of a `CommitReceipt` in order, for receipts few callers look at."""


class Record:
    """
    A small result with named fields: attribute access, item access, iteration over field names.

    Equal to another record, or to a dict, with the same fields and values.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def __getitem__(self, name: str) -> Any:
        """Value of one field; KeyError when there is no such field."""
        if name in self._fields:
            return getattr(self, name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        """Whether the record has a field of that name."""
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        """Field names in declaration order."""
        return iter(self._fields)

    def to_dict(self) -> dict[str, Any]:
        """A shallow copy as a dict."""
        return {name: getattr(self, name) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        """Compare field by field with a record or a dict."""
        if isinstance(other, Record):
            return self.to_dict() == other.to_dict()
        return self.to_dict() == other if isinstance(other, dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # records compare by value and hold mutable values

    def __repr__(self) -> str:
        """`Name(field=value, ...)`."""
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({inner})"


class Written(Record):
    """What a single write did: the key, its effect, and the receipt (None when nothing was written)."""

    __slots__ = ("_receipt", "effect", "key")
    _fields = ("key", "effect", "commit")

    def __init__(self, key: Any, effect: MutationEffect, receipt: CommitReceipt | ReceiptFields | None) -> None:
        """Fill all three fields; `key` is bytes for KV and text for JSON. A tuple becomes a receipt when asked for."""
        self.key = key
        self.effect = effect
        self._receipt = receipt

    @property
    def commit(self) -> CommitReceipt | None:
        """The receipt of the commit; None when nothing was written."""
        receipt = self._receipt
        if isinstance(receipt, tuple):
            receipt = self._receipt = CommitReceipt(*receipt)
        return receipt


@dataclass(slots=True)
class Page(Generic[T]):
    """One page: `cursor` continues it and is None when nothing follows."""

    items: list[T]
    has_more: bool = False
    cursor: Any = None


@dataclass(slots=True)
class Sample(Generic[T]):
    """Rows spread evenly over the key order, and how many rows there are in all."""

    items: list[T]
    total_count: int

    def __iter__(self) -> Iterator[T]:
        """Iterate over the sampled rows."""
        return iter(self.items)

    def __len__(self) -> int:
        """Number of sampled rows."""
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        """One sampled row."""
        return self.items[index]


@dataclass(slots=True)
class BatchItem:
    """Outcome of one entry of a batch, by its index in the request."""

    index: int
    status: BatchItemStatus
    applied: bool
    result: Any = None
    error: ErrorStatus | None = None
    commit: CommitReceipt | None = None
    effect: MutationEffect | None = None

    @property
    def ok(self) -> bool:
        """Whether the entry succeeded."""
        return self.status == BatchItemStatus.OK


@dataclass(slots=True)
class BatchResult:
    """Outcome of a whole batch; `commit` is shared by every applied entry."""

    status: BatchStatus
    mode: BatchMode
    applied: bool
    items: list[BatchItem]
    commit: CommitReceipt | None = None

    def __iter__(self) -> Iterator[BatchItem]:
        """Iterate over the items in request order."""
        return iter(self.items)

    def __len__(self) -> int:
        """Number of entries in the request."""
        return len(self.items)

    def __getitem__(self, index: int) -> BatchItem:
        """The item of one entry."""
        return self.items[index]
