"""Results of the admin commands: what the database is, how it is, what it takes up."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class AdminOpenTarget(StrEnum):
    """DOC."""

    CACHE = "cache"
    DURABLE_LOCAL = "durable_local"


class AdminHealthStatus(StrEnum):
    """DOC."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


class AdminControlStatus(StrEnum):
    """DOC."""

    HEALTHY = "healthy"
    MISSING = "missing"
    CORRUPT = "corrupt"
    UNAVAILABLE = "unavailable"


class AdminMemoryBudgetSource(StrEnum):
    """DOC."""

    EXPLICIT = "explicit"
    DERIVED_FROM_HOST = "derived_from_host"
    FIXED_DEFAULT = "fixed_default"


@dataclass(slots=True)
class AdminMemoryBudget:
    """DOC."""

    source: AdminMemoryBudgetSource
    total_bytes: int
    usable_host_bytes: int | None = None


@dataclass(slots=True)
class AdminPing:
    """DOC."""

    version: str


@dataclass(slots=True)
class AdminConfig:
    """DOC."""

    created: bool
    default_branch: str
    durable: bool
    target: AdminOpenTarget


@dataclass(slots=True)
class AdminCapabilities:
    """DOC."""

    arrow: bool
    event: bool
    graph_core: bool
    inference: bool
    json: bool
    kv: bool
    vector: bool
    vector_index: bool


@dataclass(slots=True)
class AdminDatabaseInfo:
    """DOC."""

    branch_count: int
    created: bool
    default_branch: str
    durable: bool
    memory_budget: AdminMemoryBudget
    open: bool
    space_count: int
    target: AdminOpenTarget
    version: str


@dataclass(slots=True)
class AdminMetrics:
    """DOC."""

    branch_count: int
    control_status: AdminHealthStatus
    durable: bool
    open: bool
    space_count: int
    target: AdminOpenTarget


@dataclass(slots=True)
class AdminHealth:
    """DOC."""

    branch_catalog: AdminControlStatus
    branch_count: int
    default_branch: str
    identity: AdminControlStatus
    registry: AdminControlStatus
    status: AdminHealthStatus
    space_catalog: AdminControlStatus | None = None


class VectorDistanceMetric(StrEnum):
    """DOC."""

    COSINE = "cosine"
    EUCLIDEAN = "euclidean"
    DOT_PRODUCT = "dot_product"


@dataclass(slots=True)
class AdminVectorCollection:
    """DOC."""

    count: int
    dimension: int
    metric: VectorDistanceMetric
    name: str


@dataclass(slots=True)
class AdminGraph:
    """DOC."""

    edge_count: int
    name: str
    node_count: int


@dataclass(slots=True)
class AdminPrimitives:
    """DOC."""

    event_count: int
    graphs: list[AdminGraph]
    json_count: int
    kv_count: int
    vector_collections: list[AdminVectorCollection]


@dataclass(slots=True)
class AdminDescribe:
    """DOC."""

    branch: str
    branches: list[str]
    capabilities: AdminCapabilities
    config: AdminConfig
    default_branch: str
    primitives: AdminPrimitives
    spaces: list[str]
    target: AdminOpenTarget
    version: str


class SessionAccess(StrEnum):
    """DOC."""

    READ = "read"
    READ_WRITE = "read_write"


@dataclass(slots=True)
class AdminIpcClient:
    """DOC."""

    access: SessionAccess
    protocol: int
    name: str | None = None
    pid: int | None = None
    version: str | None = None


@dataclass(slots=True)
class AdminIpcStatus:
    """DOC."""

    client_count: int
    hosting: bool
    is_owner: bool
    clients: list[AdminIpcClient] = field(default_factory=list)
    owner_pid: int | None = None
    socket_path: str | None = None


@dataclass(slots=True)
class AdminIpcStop:
    """DOC."""

    stopped: bool


class AdminReclaimOutcome(StrEnum):
    """DOC."""

    RECLAIMED = "reclaimed"
    NOTHING = "nothing"
    DEFERRED = "deferred"
    FAILED = "failed"
    CANCELED = "canceled"


class AdminReclaimDeferralReason(StrEnum):
    """DOC."""

    READER_PINNED = "reader_pinned"
    REFERENCED = "referenced"
    INCOMPLETE_PROOF = "incomplete_proof"
    STALE_PROOF = "stale_proof"
    RECOVERY_HEALTH = "recovery_health"
    INVENTORY_ADVANCED = "inventory_advanced"
    UNSUPPORTED_SCOPE = "unsupported_scope"


@dataclass(slots=True)
class AdminReclaimPass:
    """DOC."""

    bytes_reclaimed: int
    objects_affected: int
    outcome: AdminReclaimOutcome
    state_changes: int
    deferral: AdminReclaimDeferralReason | None = None


@dataclass(slots=True)
class AdminStorageReclaim:
    """DOC."""

    deferred_passes: int
    reclaimed_passes: int
    total_bytes_reclaimed: int
    total_passes: int
    last_mark: AdminReclaimPass | None = None
    last_purge: AdminReclaimPass | None = None
    last_snapshot_prune: AdminReclaimPass | None = None
    last_sweep: AdminReclaimPass | None = None
    last_wal_truncation: AdminReclaimPass | None = None
    pending_reclaim_tasks: int | None = None


@dataclass(slots=True)
class AdminStorage:
    """DOC."""

    audit: bool
    live_table_bytes: int
    live_table_objects: int
    reclaim: AdminStorageReclaim
    quarantined_bytes: int | None = None
    quarantined_objects: int | None = None
    snapshot_bytes: int | None = None
    snapshot_objects: int | None = None
    superseded_snapshot_bytes: int | None = None
    superseded_snapshots: int | None = None
    superseded_timeline_segment_bytes: int | None = None
    superseded_timeline_segments: int | None = None
    timeline_segment_bytes: int | None = None
    timeline_segment_objects: int | None = None
    total_bytes: int | None = None
    unreferenced_bytes: int | None = None
    unreferenced_objects: int | None = None
    wal_active_bytes: int | None = None
    wal_reclaimable_bytes: int | None = None
    wal_retained_bytes: int | None = None
    wal_retained_segments: int | None = None
    wal_retention_watermark: int | None = None
    wal_tail_bytes: int | None = None


@dataclass(slots=True)
class RemoteOriginFrontierInfo:
    """DOC."""

    base: str
    branch: str
    local_version: int | None = None


@dataclass(slots=True)
class RemoteOriginInfo:
    """DOC."""

    base_frontier: list[RemoteOriginFrontierInfo]
    branch: str
    dataset: str
    fetched_at_micros: int
    manifest_hash: str
    remote_url: str
