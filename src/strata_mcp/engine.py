"""One open database: journal, tables, store and primitives put together, and its upkeep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strata_mcp.clock import Clock, SystemClock
from strata_mcp.errors import fail
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.memory import MemoryJournal
from strata_mcp.model import Durability, Family
from strata_mcp.primitives.json.documents import Json
from strata_mcp.primitives.json.merge import JSON_RULES
from strata_mcp.primitives.kv import KV_RULES, Kv
from strata_mcp.store.branches import Branches
from strata_mcp.store.compare import Comparison
from strata_mcp.store.log import Log
from strata_mcp.store.merge import Merging
from strata_mcp.store.spaces import Spaces
from strata_mcp.store.store import Store
from strata_mcp.store.tags import Tags

if TYPE_CHECKING:
    from strata_mcp.admin import Admin
    from strata_mcp.journal.port import Journal
    from strata_mcp.tables.checkpoint import CheckpointOutcome
    from strata_mcp.tables.tableset import TableSet
    from strata_mcp.upkeep import Upkeep

RULES: Final = {Family.KV: KV_RULES, Family.JSON: JSON_RULES}
MEMORY_BUDGET_MAX: Final = 8 << 30
MEMORY_BUDGET_FALLBACK: Final = 1 << 30


class Engine:
    """
    An open database.

    Attributes:
        path: folder of the database; None for a cache.
        created: whether this open made the database.
        durable: whether it is on disk.
        memory_budget: bytes the handle may keep in memory.
        memory_budget_source: explicit, derived_from_host or fixed_default.
        usable_host_bytes: memory of the machine, None when unknown.
    """

    def __init__(
        self,
        journal: Journal,
        path: Path | None,
        *,
        created: bool,
        memory_budget: int | None,
        clock: Clock,
        io: OsIo,
    ) -> None:
        """Use `open`."""
        self.path = path
        self.created = created
        self.durable = path is not None
        self.closed = False
        self.hosting = self.durable
        self.usable_host_bytes = _host_bytes()
        self.memory_budget, self.memory_budget_source = _budget(memory_budget, self.usable_host_bytes)
        self.journal = journal
        self._io = io
        self.store = Store(journal, self._open_tables if path is not None else None, self._first_tables(), clock)
        self.kv = Kv(self.store)
        self.json = Json(self.store)
        self.branches = BranchCommands(self.store, refuse_orphans=self.durable)
        self.spaces = Spaces(self.store)
        self.tags = Tags(self.store)
        self._admin: Admin | None = None
        self.upkeep: Upkeep | None = None
        if path is not None:
            from strata_mcp.upkeep import Upkeep

            self.upkeep = Upkeep(self.store, path, self.memory_budget)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        cache: bool = False,
        durability: str | None = None,
        memory_budget: int | None = None,
        ipc: str | None = None,
        clock: Clock | None = None,
        io: OsIo | None = None,
    ) -> Engine:
        """
        Open a database folder, or a cache that lives in memory.

        Args:
            path: the folder; its last part is made when missing.
            cache: a database in memory instead.
            durability: `standard` (default: survives the process) or `always` (survives a power cut).
            memory_budget: bytes, 1 MiB at least; a quarter of the machine's memory by default.
            ipc: accepted for programs written for a host process; there is none here.
            clock: source of instants.
            io: the operating system, or a test's stand-in.

        Raises:
            StrataError: the folder is no database or cannot be one, or its newest state is damaged.
        """
        clock = clock or SystemClock()
        io = io or OsIo()
        if cache:
            journal = MemoryJournal()
            return cls(journal, None, created=True, memory_budget=memory_budget, clock=clock, io=io)
        if path is None:
            raise fail("invalid_argument.cli.no_database")
        from strata_mcp.journal.file import FileJournal
        from strata_mcp.journal.layout import prepare
        from strata_mcp.tables.state import read_state

        folder = Path(path).absolute()
        created = prepare(folder, io)
        after = read_state(folder).head
        file_journal = FileJournal(folder / "journal", Durability(durability or "standard"), io, start_after=after)
        try:
            return cls(file_journal, folder, created=created, memory_budget=memory_budget, clock=clock, io=io)
        except BaseException:
            file_journal.close()
            raise

    @property
    def target(self) -> str:
        """`durable_local` or `cache`."""
        return "durable_local" if self.durable else "cache"

    @property
    def admin(self) -> Admin:
        """The admin commands."""
        if self._admin is None:
            from strata_mcp.admin import Admin

            self._admin = Admin(self)
        return self._admin

    def checkpoint(self) -> CheckpointOutcome:
        """Move what the journal holds into the tables now, and wait for it."""
        return self._upkeep().run("checkpoint")

    def compact(self) -> CheckpointOutcome:
        """Rewrite the tables into few sorted files, and wait for it."""
        self._upkeep().run("checkpoint")
        return self._upkeep().run("compact")

    def close(self, *, checkpoint: bool = True) -> None:
        """
        Checkpoint what is not in the tables yet and let go; a second call does nothing.

        Without `checkpoint` the journal keeps the commits: as durable, just not readable by Lance yet.
        """
        if self.closed:
            return
        self.closed = True
        try:
            if self.upkeep is not None:
                self.upkeep.close(checkpoint=checkpoint)
        finally:
            self.store.close()
            self.journal.close()

    def _upkeep(self) -> Upkeep:
        if self.upkeep is None:
            raise fail("unsupported.engine.persistence_capability")
        self.store.catch_up()
        return self.upkeep

    def _open_tables(self) -> TableSet:
        from strata_mcp.tables.tableset import TableSet

        if self.path is None:
            raise fail("unsupported.engine.persistence_capability")
        return TableSet.open(self.path, self.memory_budget // 2)

    def _first_tables(self) -> TableSet | None:
        """Checkpointed tables, or None when there are none yet."""
        if self.path is None:
            return None
        tables = self._open_tables()
        if not tables.checkpoint_ts:
            return None
        self.journal.seek(tables.head)
        return tables


class BranchCommands(Branches):
    """Every branch command: the catalogue's, diff, merge and log."""

    def __init__(self, store: Store, *, refuse_orphans: bool) -> None:
        """Work on a store."""
        super().__init__(store, refuse_orphans=refuse_orphans)
        rules = {int(family): each for family, each in RULES.items()}
        merging = Merging(store, rules)
        self.diff = Comparison(store, rules).diff
        self.log = Log(store, rules).log
        self.preview = merging.preview
        self.merge = merging.merge
        self.cherry_pick = merging.cherry_pick
        self.revert = merging.revert


def _host_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _budget(explicit: int | None, host_bytes: int | None) -> tuple[int, str]:
    if explicit is not None:
        return explicit, "explicit"
    if host_bytes is None:
        return MEMORY_BUDGET_FALLBACK, "fixed_default"
    return min(host_bytes // 4, MEMORY_BUDGET_MAX), "derived_from_host"
