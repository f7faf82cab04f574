"""What the database is and how it is: `db.admin`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata_mcp.sdk.arguments import flag, optional_text, text

if TYPE_CHECKING:
    from strata_mcp.results.admin import (
        AdminConfig,
        AdminDatabaseInfo,
        AdminDescribe,
        AdminHealth,
        AdminIpcStatus,
        AdminIpcStop,
        AdminMetrics,
        AdminPing,
        AdminStorage,
        AdminVerify,
    )
    from strata_mcp.sdk.scope import Scope
    from strata_mcp.tables.checkpoint import CheckpointOutcome


class AdminNamespace:
    """The database as a whole, seen from the branch it was opened with: a view's branch and space do not matter."""

    __slots__ = ("_admin", "_branch")

    def __init__(self, scope: Scope) -> None:
        """`scope` is that of the session: the branch the database was opened with."""
        self._admin = scope.engine.admin
        self._branch = scope.branch

    def ping(self) -> AdminPing:
        """Answer with the version of Strata: the handle works."""
        return self._admin.ping()

    def info(self) -> AdminDatabaseInfo:
        """What kind of database this is, and how many branches and spaces it has."""
        return self._admin.info(self._branch)

    def health(self) -> AdminHealth:
        """Whether the parts of the database are sound."""
        return self._admin.health(self._branch)

    def metrics(self) -> AdminMetrics:
        """Counts for monitoring."""
        return self._admin.metrics(self._branch)

    def storage(self, *, audit: bool = False) -> AdminStorage:
        """
        What the database takes up on disk.

        Args:
            audit: look at every file; slower, and fills in more fields.
        """
        return self._admin.storage(self._branch, audit=flag(audit, "audit"))

    def describe(self, *, space: str | None = None) -> AdminDescribe:
        """
        Everything an agent wants to know first: branches, spaces, and how much of what there is.

        Args:
            space: the space to count in; `default` without it.
        """
        return self._admin.describe(self._branch, space=optional_text(space, "space"))

    def config(self) -> AdminConfig:
        """How the database was opened."""
        return self._admin.config()

    def config_value(self, key: str) -> str | None:
        """One value of the configuration as text; None when there is no such key."""
        return self._admin.config_value(text(key, "key"))

    def ipc_status(self) -> AdminIpcStatus:
        """Who serves the database to other processes; each process opens it itself, so each is its own owner."""
        return self._admin.ipc_status()

    def ipc_stop(self) -> AdminIpcStop:
        """Stop saying that this handle serves others; they go on unhindered."""
        return self._admin.ipc_stop()

    def checkpoint(self) -> CheckpointOutcome:
        """Move what the journal holds into the tables now."""
        return self._admin.checkpoint()

    def verify(self) -> AdminVerify:
        """Read every byte of the tables and compare it with what was written."""
        return self._admin.verify()

    def compact(self) -> CheckpointOutcome:
        """Rewrite the tables into fewer files."""
        return self._admin.compact()
