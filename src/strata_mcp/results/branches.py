"""Results of the branch, tag and space commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from strata_mcp.results.common import CommitReceipt, MutationEffect, Record


class BranchStatus(StrEnum):
    """Whether a branch is in use or was deleted."""

    ACTIVE = "active"
    DELETED = "deleted"


@dataclass(slots=True)
class BranchParentItem:
    """Where a branch was forked from; `fork_version` is the last commit number it shares with its parent."""

    branch_id: str
    fork_version: int
    generation: int
    name: str
    fork_timestamp: int | None = None


@dataclass(slots=True)
class BranchMergeItem:
    """The latest merge into a branch; `merged_at` and `merged_timestamp` are commit numbers."""

    merged_at: int
    source_branch_id: str
    source_generation: int
    source_name: str
    merged_timestamp: int | None = None


@dataclass(slots=True)
class BranchItem:
    """A branch; `created_at` and `deleted_at` are commit numbers, `generation` counts the lives of the name from 1."""

    branch_id: str
    generation: int
    name: str
    state_revision: int
    status: BranchStatus
    created_at: int | None = None
    deleted_at: int | None = None
    merge_parent: BranchMergeItem | None = None
    parent: BranchParentItem | None = None


@dataclass(slots=True)
class BranchCleanupItem:
    """What deleting a branch set free: counts of tables kept, tables that may go, and references removed."""

    protected_tables: int
    releasable_tables: int
    removed_refs: int


class ComparedCapability(StrEnum):
    """The kinds of data that diffs and merges tell apart."""

    KV = "kv"
    JSON = "json"
    VECTOR = "vector"
    VECTOR_COLLECTION = "vector_collection"
    EVENT = "event"
    GRAPH_METADATA = "graph_metadata"
    GRAPH_NODE = "graph_node"
    GRAPH_EDGE = "graph_edge"
    GRAPH_ONTOLOGY = "graph_ontology"


@dataclass(slots=True)
class ComparedEntityItem:
    """One differing entry: its key as raw bytes and the commit number of the row."""

    identity: bytes
    version: int


@dataclass(slots=True)
class SpaceComparisonItem:
    """The differences in one kind of data of one space, seen from the first branch to the second."""

    added: list[ComparedEntityItem]
    capability: ComparedCapability
    modified: list[ComparedEntityItem]
    removed: list[ComparedEntityItem]
    space: str


@dataclass(slots=True)
class BranchComparisonItem:
    """The differences between two branches; spaces without any are left out."""

    branch_a: str
    branch_b: str
    spaces: list[SpaceComparisonItem]


class PromotionStrategy(StrEnum):
    """Who wins when both sides of a merge changed the same entry; strict refuses instead."""

    STRICT = "strict"
    SOURCE_WINS = "source_wins"
    TARGET_WINS = "target_wins"


class ConflictKind(StrEnum):
    """How the two sides of a conflict disagree."""

    VALUE_DIVERGENCE = "value_divergence"
    MODIFY_DELETE_DIVERGENCE = "modify_delete_divergence"
    INCOMPATIBLE_COLLECTION = "incompatible_collection"


class ConflictStrategyResult(StrEnum):
    """What the chosen strategy does with a conflict."""

    REFUSED = "refused"
    SOURCE_WINS = "source_wins"
    TARGET_WINS = "target_wins"


class DerivedStateDisposition(StrEnum):
    """Whether indexes still fit the merged data or have to be built again."""

    CURRENT = "current"
    REBUILD_REQUIRED = "rebuild_required"


@dataclass(slots=True)
class DerivedStateReportItem:
    """The state of the indexes of one kind of data after a merge."""

    capability: ComparedCapability
    disposition: DerivedStateDisposition


@dataclass(slots=True)
class PreviewConflictItem:
    """One entry that both sides changed; values are raw bytes, None on the side that has none."""

    capability: ComparedCapability
    identity: bytes
    kind: ConflictKind
    space: str
    strategy_result: ConflictStrategyResult
    source_value: bytes | None = None
    target_value: bytes | None = None


@dataclass(slots=True)
class PromotedEntityItem:
    """One entry a merge carried over: its raw key, and its raw value unless it was deleted."""

    capability: ComparedCapability
    identity: bytes
    space: str
    value: bytes | None = None


@dataclass(slots=True)
class BranchPreviewItem:
    """What a merge would meet; `branch_point` is the commit number since which changes count."""

    branch_point: int
    conflicts: list[PreviewConflictItem]
    source: str
    strategy: PromotionStrategy
    target: str
    capabilities_covered: list[ComparedCapability] = field(default_factory=list)
    capabilities_unsupported: list[ComparedCapability] = field(default_factory=list)
    derived_state: list[DerivedStateReportItem] = field(default_factory=list)
    spaces_covered: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PromotionOutcomeItem:
    """What a merge did; `target_version` is the commit number it made on the target, None when it changed nothing."""

    applied: list[PromotedEntityItem]
    branch_point: int
    conflicts: list[PreviewConflictItem]
    deleted: list[PromotedEntityItem]
    source: str
    strategy: PromotionStrategy
    target: str
    capabilities_covered: list[ComparedCapability] = field(default_factory=list)
    capabilities_unsupported: list[ComparedCapability] = field(default_factory=list)
    derived_state: list[DerivedStateReportItem] = field(default_factory=list)
    spaces_covered: list[str] = field(default_factory=list)
    target_timestamp: int | None = None
    target_version: int | None = None


class BranchDeleteResult(Record):
    """What a branch deletion did."""

    __slots__ = _fields = ("branch", "deleted", "effect", "cleanup", "generation_before", "generation_after")

    def __init__(
        self,
        branch: BranchItem,
        deleted: bool,
        effect: MutationEffect,
        cleanup: BranchCleanupItem | None,
        generation_before: int | None,
        generation_after: int | None,
    ) -> None:
        """Fill all fields."""
        self.branch = branch
        self.deleted = deleted
        self.effect = effect
        self.cleanup = cleanup
        self.generation_before = generation_before
        self.generation_after = generation_after


class SpaceCreateResult(Record):
    """What a space creation did; `commit` is None when the space was there already."""

    __slots__ = _fields = ("space", "effect", "commit")

    def __init__(self, space: str, effect: MutationEffect, commit: CommitReceipt | None) -> None:
        """Fill all fields."""
        self.space = space
        self.effect = effect
        self.commit = commit


class SpaceDeleteResult(Record):
    """What a space deletion did; `deleted_rows` counts the rows that got a tombstone."""

    __slots__ = _fields = ("space", "force", "deleted_rows", "effect", "commit")

    def __init__(
        self, space: str, force: bool, deleted_rows: int, effect: MutationEffect, commit: CommitReceipt | None
    ) -> None:
        """Fill all fields."""
        self.space = space
        self.force = force
        self.deleted_rows = deleted_rows
        self.effect = effect
        self.commit = commit


@dataclass(slots=True)
class TagItem:
    """A name for one moment of one branch; `version` is the commit it points at."""

    name: str
    branch: str
    version: int
    created_at: int
    message: str = ""


@dataclass(slots=True)
class CommitItem:
    """One entry of a branch's log, newest first in listings. `committed_at` is UTC microseconds."""

    version: int
    timestamp: int
    committed_at: int
    branch: str
    author: str = ""
    message: str = ""
    changes: list[CommitChangeItem] = field(default_factory=list)


@dataclass(slots=True)
class CommitChangeItem:
    """One key a commit touched. `identity` is the raw key; `deleted` marks a tombstone."""

    capability: ComparedCapability
    space: str
    identity: bytes
    deleted: bool
