"""Results of the admin commands: what the database is, how it is, what it takes up."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class AdminOpenTarget(StrEnum):
    """Whether a database lives in memory or in a local folder."""

    CACHE = "cache"
    DURABLE_LOCAL = "durable_local"


class AdminHealthStatus(StrEnum):
    """The overall verdict on a database."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


class AdminControlStatus(StrEnum):
    """The verdict on one of the database's own records."""

    HEALTHY = "healthy"
    MISSING = "missing"
    CORRUPT = "corrupt"
    UNAVAILABLE = "unavailable"


class AdminMemoryBudgetSource(StrEnum):
    """Who chose the memory budget."""

    EXPLICIT = "explicit"
    DERIVED_FROM_HOST = "derived_from_host"
    FIXED_DEFAULT = "fixed_default"


@dataclass(slots=True)
class AdminVerify:
    """Outcome of a full check: whether all is sound, and what is damaged, as sentences that name table and file."""

    sound: bool
    damage: list[str]


@dataclass(slots=True)
class AdminMemoryBudget:
    """How many bytes of memory the database may hold on to, and what the host could offer."""

    source: AdminMemoryBudgetSource
    total_bytes: int
    usable_host_bytes: int | None = None


@dataclass(slots=True)
class AdminPing:
    """The answer to a ping: the release that answers."""

    version: str


@dataclass(slots=True)
class AdminConfig:
    """How the database was opened; `created` says whether this opening made it."""

    created: bool
    default_branch: str
    durable: bool
    target: AdminOpenTarget


@dataclass(slots=True)
class AdminCapabilities:
    """Which features this installation offers."""

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
    """What is open: its kind, whether this opening made it, its memory budget, and counts of branches and spaces."""

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
    """Counts of branches and spaces, and the overall verdict on the database."""

    branch_count: int
    control_status: AdminHealthStatus
    durable: bool
    open: bool
    space_count: int
    target: AdminOpenTarget


@dataclass(slots=True)
class AdminHealth:
    """How the database is, part by part, and the overall verdict."""

    branch_catalog: AdminControlStatus
    branch_count: int
    default_branch: str
    identity: AdminControlStatus
    registry: AdminControlStatus
    status: AdminHealthStatus
    space_catalog: AdminControlStatus | None = None


class VectorDistanceMetric(StrEnum):
    """How two vectors are compared."""

    COSINE = "cosine"
    EUCLIDEAN = "euclidean"
    DOT_PRODUCT = "dot_product"


@dataclass(slots=True)
class AdminVectorCollection:
    """One vector collection: how many vectors it holds and how many components each has."""

    count: int
    dimension: int
    metric: VectorDistanceMetric
    name: str


@dataclass(slots=True)
class AdminGraph:
    """One graph: how many nodes and edges it holds."""

    edge_count: int
    name: str
    node_count: int


@dataclass(slots=True)
class AdminPrimitives:
    """How many rows of each kind a branch and space hold."""

    event_count: int
    graphs: list[AdminGraph]
    json_count: int
    kv_count: int
    vector_collections: list[AdminVectorCollection]


@dataclass(slots=True)
class AdminDescribe:
    """One look at everything: branches, spaces, what they hold, features and settings."""

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
    """What a connected client may do."""

    READ = "read"
    READ_WRITE = "read_write"


@dataclass(slots=True)
class AdminIpcClient:
    """One process connected to the database."""

    access: SessionAccess
    protocol: int
    name: str | None = None
    pid: int | None = None
    version: str | None = None


@dataclass(slots=True)
class AdminIpcStatus:
    """Who hosts the database for other processes and who is connected."""

    client_count: int
    hosting: bool
    is_owner: bool
    clients: list[AdminIpcClient] = field(default_factory=list)
    owner_pid: int | None = None
    socket_path: str | None = None


@dataclass(slots=True)
class AdminIpcStop:
    """Whether hosting was running and has ended."""

    stopped: bool


class AdminReclaimOutcome(StrEnum):
    """How one attempt to free disk space ended."""

    RECLAIMED = "reclaimed"
    NOTHING = "nothing"
    DEFERRED = "deferred"
    FAILED = "failed"
    CANCELED = "canceled"


class AdminReclaimDeferralReason(StrEnum):
    """Why an attempt to free disk space was put off."""

    READER_PINNED = "reader_pinned"
    REFERENCED = "referenced"
    INCOMPLETE_PROOF = "incomplete_proof"
    STALE_PROOF = "stale_proof"
    RECOVERY_HEALTH = "recovery_health"
    INVENTORY_ADVANCED = "inventory_advanced"
    UNSUPPORTED_SCOPE = "unsupported_scope"


@dataclass(slots=True)
class AdminReclaimPass:
    """One attempt to free disk space: bytes freed and files touched."""

    bytes_reclaimed: int
    objects_affected: int
    outcome: AdminReclaimOutcome
    state_changes: int
    deferral: AdminReclaimDeferralReason | None = None


@dataclass(slots=True)
class AdminStorageReclaim:
    """How often disk space was freed since opening, how many bytes in all, and the last attempts."""

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
    """What the database takes up on disk, in bytes and numbers of files; None where it was not measured."""

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
    """How far one branch of a cloned dataset had come when it was fetched."""

    base: str
    branch: str
    local_version: int | None = None


@dataclass(slots=True)
class RemoteOriginInfo:
    """Where a cloned database came from; `fetched_at_micros` is UTC microseconds."""

    base_frontier: list[RemoteOriginFrontierInfo]
    branch: str
    dataset: str
    fetched_at_micros: int
    manifest_hash: str
    remote_url: str
