"""What the database is, how it is and what it takes up: the admin commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strata_mcp import __version__
from strata_mcp.errors import StrataError, fail
from strata_mcp.model import DEFAULT_BRANCH, DEFAULT_SPACE
from strata_mcp.results.admin import (
    AdminCapabilities,
    AdminConfig,
    AdminControlStatus,
    AdminDatabaseInfo,
    AdminDescribe,
    AdminHealth,
    AdminHealthStatus,
    AdminIpcStatus,
    AdminIpcStop,
    AdminMemoryBudget,
    AdminMemoryBudgetSource,
    AdminMetrics,
    AdminOpenTarget,
    AdminPing,
    AdminPrimitives,
    AdminStorage,
    AdminStorageReclaim,
    AdminVerify,
)

if TYPE_CHECKING:
    from strata_mcp.engine import Engine
    from strata_mcp.results.admin import RemoteOriginInfo
    from strata_mcp.tables.checkpoint import CheckpointOutcome


class Admin:
    """The admin commands over one open database."""

    def __init__(self, engine: Engine) -> None:
        """Describe an engine."""
        self._engine = engine

    def ping(self) -> AdminPing:
        """The version, and with it the sign that the handle works."""
        self._engine.store.catch_up()
        return AdminPing(__version__)

    def info(self, branch: str = DEFAULT_BRANCH) -> AdminDatabaseInfo:
        """Kind of database, counts and memory budget."""
        engine = self._engine
        budget = AdminMemoryBudget(
            AdminMemoryBudgetSource(engine.memory_budget_source), engine.memory_budget, engine.usable_host_bytes
        )
        return AdminDatabaseInfo(
            self._branch_count(),
            engine.created,
            DEFAULT_BRANCH,
            engine.durable,
            budget,
            True,
            self._space_count(branch),
            AdminOpenTarget(engine.target),
            __version__,
        )

    def health(self, branch: str = DEFAULT_BRANCH) -> AdminHealth:
        """
        Whether the parts are sound.

        A damaged journal or table is `corrupt`; a failed background checkpoint is `degraded`; a branch
        that does not exist is `unhealthy` with a missing space catalogue, not an error. Lengths are
        checked, not every byte: that is `verify`.
        """
        engine = self._engine
        engine.store.catch_up()
        healthy, corrupt = AdminControlStatus.HEALTHY, AdminControlStatus.CORRUPT
        registry = corrupt if engine.store.damage is not None or self._has_damaged_tables() else healthy
        spaces = healthy if engine.store.catalog.find(branch) is not None else AdminControlStatus.MISSING
        is_degraded = engine.upkeep is not None and engine.upkeep.last_error is not None
        if registry is corrupt or spaces is not healthy:
            status = AdminHealthStatus.UNHEALTHY
        else:
            status = AdminHealthStatus.DEGRADED if is_degraded else AdminHealthStatus.HEALTHY
        return AdminHealth(healthy, self._branch_count(), DEFAULT_BRANCH, healthy, registry, status, spaces)

    def metrics(self, branch: str = DEFAULT_BRANCH) -> AdminMetrics:
        """Counts for monitoring."""
        engine = self._engine
        space_count = self._space_count(branch)
        return AdminMetrics(
            self._branch_count(),
            self.health(branch).status,
            engine.durable,
            True,
            space_count,
            AdminOpenTarget(engine.target),
        )

    def describe(self, branch: str = DEFAULT_BRANCH, space: str | None = None) -> AdminDescribe:
        """What an agent wants to know first: branches, spaces, how much of what, and what can be done."""
        engine = self._engine
        spaces = engine.spaces.list(branch).items
        chosen = engine.store.space(DEFAULT_SPACE if space is None else space)
        primitives = AdminPrimitives(0, [], engine.json.count(branch, chosen), engine.kv.count(branch, chosen), [])
        return AdminDescribe(
            branch,
            [item.name for item in engine.branches.list().items],
            AdminCapabilities(
                arrow=False,
                event=False,
                graph_core=False,
                inference=False,
                json=True,
                kv=True,
                vector=False,
                vector_index=False,
            ),
            self.config(),
            DEFAULT_BRANCH,
            primitives,
            spaces,
            AdminOpenTarget(engine.target),
            __version__,
        )

    def config(self) -> AdminConfig:
        """How the database was opened."""
        engine = self._engine
        engine.store.catch_up()
        return AdminConfig(engine.created, DEFAULT_BRANCH, engine.durable, AdminOpenTarget(engine.target))

    def config_value(self, key: str) -> str | None:
        """One configuration value as text; None for an unknown key."""
        if not key:
            raise fail("invalid_argument.engine.config_key")
        config = self.config()
        values = {
            "target": config.target.value,
            "created": str(config.created).lower(),
            "durable": str(config.durable).lower(),
            "default_branch": config.default_branch,
        }
        return values.get(key)

    def storage(self, branch: str = DEFAULT_BRANCH, *, audit: bool = False) -> AdminStorage:
        """
        Bytes and files on disk.

        Args:
            branch: must exist.
            audit: also add up everything in the folder, and what nothing refers to.
        """
        engine = self._engine
        engine.store.view(branch)
        path = engine.path
        if path is None:
            raise fail("unsupported.engine.persistence_capability")
        from strata_mcp.tables.state import read_state, tables_path

        files = {file.path: file.size_bytes for table in read_state(path).tables.values() for file in table.files}
        size = engine.journal.size_bytes()
        segments = sum(1 for entry in os.scandir(path / "journal") if entry.name.endswith(".log"))
        storage = AdminStorage(
            audit,
            sum(files.values()),
            len(files),
            AdminStorageReclaim(0, 0, 0, 0),
            wal_active_bytes=size,
            wal_retained_bytes=size,
            wal_retained_segments=segments,
        )
        if audit:
            storage.total_bytes = _tree_bytes(str(path))
            storage.unreferenced_bytes = max(0, _tree_bytes(str(tables_path(path))) - storage.live_table_bytes)
            storage.wal_tail_bytes = size
        return storage

    def ipc_status(self) -> AdminIpcStatus:
        """
        Who serves other processes.

        Every process opens the database itself, so each handle counts as its own owner; it says it hosts
        until `ipc_stop`, for programs that ask.
        """
        engine = self._engine
        engine.store.catch_up()
        if not engine.hosting or engine.path is None:
            return AdminIpcStatus(0, False, True)
        return AdminIpcStatus(0, True, True, [], os.getpid(), str(engine.path / "journal" / "control"))

    def ipc_stop(self) -> AdminIpcStop:
        """Stop saying that this handle hosts; other processes go on unhindered."""
        engine = self._engine
        engine.store.catch_up()
        stopped, engine.hosting = engine.hosting, False
        return AdminIpcStop(stopped)

    def remote(self) -> RemoteOriginInfo | None:
        """Where the database was cloned from; None for one that was made here."""
        self._engine.store.catch_up()
        return None

    def checkpoint(self) -> CheckpointOutcome:
        """Move what the journal holds into the tables now."""
        return self._engine.checkpoint()

    def compact(self) -> CheckpointOutcome:
        """Rewrite the tables into fewer files."""
        return self._engine.compact()

    def verify(self) -> AdminVerify:
        """Read every byte of the checkpointed tables and compare it with what was written; slow on purpose."""
        engine = self._engine
        engine.store.catch_up()
        if engine.path is None:
            raise fail("unsupported.engine.persistence_capability")
        from strata_mcp.tables.verify import verify

        found = [error.message for error in verify(engine.path)]
        if engine.store.damage is not None:
            found.append(engine.store.damage.message)
        return AdminVerify(not found, found)

    def _branch_count(self) -> int:
        self._engine.store.catch_up()
        with self._engine.store.reading:
            return len(self._engine.store.catalog.live())

    def _space_count(self, branch: str) -> int:
        return len(self._engine.spaces.list(branch).items)

    def _has_damaged_tables(self) -> bool:
        tables = self._engine.store.state.tables
        if tables is None:
            return False
        try:
            return bool(tables.damage())
        except StrataError:
            return True


def _tree_bytes(path: str) -> int:
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
