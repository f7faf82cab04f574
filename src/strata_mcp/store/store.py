"""The store: views to read through, and the only place where commits are made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from strata_mcp.errors import fail
from strata_mcp.journal.port import Journal
from strata_mcp.model import DEFAULT_SPACE, USER_FAMILIES, Commit, Family, RecordTuple, Row
from strata_mcp.results.common import CommitDurability, CommitReceipt, ReceiptFields
from strata_mcp.store.follower import SLOW, Follower
from strata_mcp.store.limits import SAFE_BYTES, check_commit, check_row, check_space
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.overlay import Layer, OverlayTable, is_expired
from strata_mcp.store.view import View, position
from strata_mcp.store.writer import Staged

if TYPE_CHECKING:
    from strata_mcp.clock import Clock
    from strata_mcp.tables.tableset import TableSet

Decision: TypeAlias = "tuple[bytes | None, int] | tuple[bytes | None, int, int, int] | None"
"""What to write for a key: (value or None to delete, extra[, more puts, more deletes]); None writes nothing."""
Binding: TypeAlias = "tuple[Node, OverlayTable, Layer, int, int, str]"
"""Where the rows of one branch in one space go: node, table, layer, and the uid, family and space of them."""
Updated: TypeAlias = "tuple[Row | None, CommitReceipt | None]"
"""(live row before, receipt or None when nothing was written)."""


class _ThreadState(threading.local):
    transaction: Staged | None = None
    author: str = ""
    message: str = ""


class Store(Follower):
    """Reads and commits over one journal and its checkpointed tables."""

    def __init__(
        self, journal: Journal, open_tables: Callable[[], TableSet] | None, tables: TableSet | None, clock: Clock
    ) -> None:
        """
        Take over a journal positioned behind `tables`.

        `open_tables` reads the newest checkpoint again when the journal moved past this handle; it is
        None for databases without tables (cache handles).
        """
        self.clock = clock
        self._now_ns: Callable[[], int] = getattr(clock, "now_ns", None) or (lambda: clock.now_us() * 1000)
        self._durability = CommitDurability(journal.durability.value)
        self.must_sync = self._durability is CommitDurability.ALWAYS
        self._local = _ThreadState()
        self._signing = 0
        self._valid_spaces = {DEFAULT_SPACE}
        super().__init__(journal, open_tables, tables)

    # ---- reading ----

    def view(self, branch: str, as_of: int | None = None, as_of_time: int | None = None) -> View:
        """
        The rows of a branch at the head or at a moment of its past.

        Args:
            branch: name of the branch.
            as_of: position in the commit counter, within the branch's history.
            as_of_time: UTC microseconds, within the branch's history.
        """
        if self.words[0] != self.level:
            self.catch_up()
        transaction = self._local.transaction
        if as_of is None and as_of_time is None:
            if transaction is not None and transaction.node.name == branch:
                return View(self, self.state, transaction.node, transaction.limit, transaction)
            return View(self, self.state, self.catalog.node(branch), NO_LIMIT)
        state = self.state
        node = self.catalog.node(branch)
        return View(self, state, node, position(state, node, as_of, as_of_time))

    def space(self, name: str) -> str:
        """The name, checked once."""
        if name not in self._valid_spaces:
            check_space(name)
            self._valid_spaces.add(name)
        return name

    def touched_since(self, branch: str, family: int, space: str, after: int) -> list[bytes] | None:
        """Keys of a space written on a branch after a position; None when the branch inherits and cannot tell."""
        view = self.view(branch)
        with self.reading:
            if after < view.node.record.newest and view.node.parent is not None:
                return None
            touched = self.state.touched(view.node.uid, (family,), after, NO_LIMIT)
        return [key for _, spc, key in touched if spc == space]

    # ---- writing ----

    @contextmanager
    def attribution(self, author: str | None = None, message: str | None = None) -> Iterator[None]:
        """Sign the commits this thread makes inside the block."""
        local = self._local
        before = local.author, local.message
        local.author = before[0] if author is None else author
        local.message = before[1] if message is None else message
        with self.reading:
            self._signing += 1
        try:
            yield
        finally:
            with self.reading:
                self._signing -= 1
            local.author, local.message = before

    def _signature(self) -> tuple[str, str]:
        local = self._local
        return local.author, local.message

    def update(
        self,
        branch: str,
        family: int,
        space: str,
        key: bytes,
        decide: Callable[[Row | None], Decision],
        if_version: int | None = None,
    ) -> Updated:
        """
        Read one key, decide, and write it in one commit of its own (or in the thread's transaction).

        Args:
            branch: name of the branch.
            family: a user family.
            space: a checked space name.
            key: the key; sizes are checked here.
            decide: gets the live row or None, says what to write.
            if_version: required version of the key, 0 for absent.

        Raises:
            StrataError: `conflict.engine.version` when the key is at another version.
        """
        if self._open_transactions and self._local.transaction is not None:
            return self._update_staged(branch, family, space, key, decide, if_version)
        journal = self.journal
        journal.acquire()
        try:
            with self.reading:
                if self.words[0] != self.level:
                    self.catch_up()
                node = self.catalog.by_name.get(branch) or self.catalog.node(branch)
                table = self.state.overlay.get((family, space)) or self.state.table(family, space)
                uid = node.uid
                layer = table.layers.get(uid)
                previous = layer.rows.get(key) if layer is not None else None
                if previous is None or previous[1] is None or previous[2]:
                    previous = self._live_row(node, table, key)
                if if_version is not None:
                    check_version(key, previous[0] if previous is not None else 0, if_version)
                decision = decide(previous)
                if decision is None:
                    return previous, None
                value, extra = decision[0], decision[1]
                size = len(key) + (0 if value is None else len(value))
                if size > SAFE_BYTES:
                    check_row(space, key, value)
                records: list[RecordTuple] = [(family, space, key, value, extra)]
                if space != DEFAULT_SPACE and (uid, space) not in self._registered:
                    self.register_space(node, space, records)
                timestamp = journal.head + 1
                now_us = self._now_ns() // 1000
                if now_us <= self._last_us:
                    now_us = self._last_us + 1
                if self._signing:
                    commit = Commit(timestamp, timestamp, now_us, uid, records, *self._signature())
                else:
                    commit = Commit(timestamp, timestamp, now_us, uid, records)
                try:
                    journal.append(commit)
                    if len(records) == 1:
                        self.state.apply_row(commit, table, layer, key, (timestamp, value, extra), size)
                        self._last_us = now_us
                    else:
                        self._apply(commit)
                except BaseException:
                    self._show_appended(commit)
                    raise
                self.level = journal.seen
                gone = value is None
                receipt = CommitReceipt(int(gone), self._durability, int(not gone), timestamp, timestamp, now_us)
                if len(decision) == 4:
                    receipt.put_count += decision[2]
                    receipt.delete_count += decision[3]
        finally:
            journal.release()
        if self.must_sync:
            journal.sync()
        return previous, receipt

    def binding(self, branch: str, family: int, space: str) -> Binding | None:
        """What `write_bound` needs; None where writing takes more than one row (a space's first, a transaction)."""
        if self._local.transaction is not None or self.epoch == SLOW:
            return None
        node = self.catalog.node(branch)
        if space != DEFAULT_SPACE and (node.uid, space) not in self._registered:
            return None
        table = self.state.table(family, space)
        layer = table.layers.get(node.uid)
        return None if layer is None else (node, table, layer, node.uid, family, space)

    def write_bound(self, binding: Binding, key: bytes, value: bytes, size: int) -> tuple[Row | None, ReceiptFields]:
        """Put one row where a valid binding says; the caller holds the locks, is level and checked the size."""
        node, table, layer, uid, family, space = binding
        previous = layer.rows.get(key)
        if previous is None or previous[1] is None or previous[2]:
            previous = self._live_row(node, table, key)
        journal = self.journal
        timestamp = journal.head + 1
        now_us = self._now_ns() // 1000
        if now_us <= self._last_us:
            now_us = self._last_us + 1
        records: list[RecordTuple] = [(family, space, key, value, 0)]
        if self._signing:
            commit = Commit(timestamp, timestamp, now_us, uid, records, *self._signature())
        else:
            commit = Commit(timestamp, timestamp, now_us, uid, records)
        try:
            journal.append(commit)
            self.state.apply_row(commit, table, layer, key, (timestamp, value, 0), size)
            self._last_us = now_us
        except BaseException:
            self._show_appended(commit)
            raise
        self.level = journal.seen
        return previous, (0, self._durability, 1, timestamp, timestamp, now_us)

    @contextmanager
    def writing(self, branch: str) -> Iterator[Staged]:
        """Collect writes of many keys on one branch into one commit, made when the block ends."""
        transaction = self._local.transaction
        if transaction is not None:
            self._check_branch(transaction, branch)
            before = transaction.savepoint()
            try:
                yield transaction
            except BaseException:
                transaction.roll_back(before)
                raise
            return
        self.journal.acquire()
        try:
            with self.reading:
                if self.words[0] != self.level:
                    self.catch_up()
                self._check_open()
                node = self.catalog.node(branch)
                staged = Staged(self.state, node, NO_LIMIT, self.clock.now_us(), is_transaction=False)
                yield staged
                self._commit(staged)
        finally:
            self.journal.release()
        if self.must_sync and staged.receipt is not None:
            self.journal.sync()

    @contextmanager
    def transaction(self, branch: str, *, author: str | None = None, message: str | None = None) -> Iterator[Staged]:
        """
        Make every write of this thread inside the block one commit; an exception drops them all.

        Raises:
            StrataError: `failed_precondition.engine.transaction_open` inside another transaction,
                `conflict.engine.persistence` when a key read or written changed since the start.
        """
        local = self._local
        if local.transaction is not None:
            raise fail("failed_precondition.engine.transaction_open")
        with self.reading:
            self.catch_up()
            node = self.catalog.node(branch)
            staged = Staged(self.state, node, self.journal.head, self.clock.now_us(), is_transaction=True)
            self._open_transactions += 1
            self.bump()
        local.transaction = staged
        try:
            yield staged
        finally:
            local.transaction = None
            with self.reading:
                self._open_transactions -= 1
                self.bump()
        with self.attribution(author, message), self.committing():
            if self.catalog.find(branch) is not node:
                raise fail("conflict.engine.branch_generation", branch=branch)
            staged.check_reads(self.state)
            self._commit(staged)

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Hold the locks of one commit, level with the journal; synced afterwards when durability asks for it."""
        if self._local.transaction is not None:
            raise fail("failed_precondition.engine.transaction_open")
        self.journal.acquire()
        try:
            with self.reading:
                self._check_open()
                if self.words[0] != self.level:
                    self.catch_up()
                yield
        finally:
            self.journal.release()
        if self.must_sync:
            self.journal.sync()

    def append(self, uid: int, records: list[RecordTuple], *, lead: int = 0, trail: int = 0) -> CommitReceipt:
        """Commit records inside `committing`; `lead` and `trail` are numbers the commit occupies around its own."""
        receipt = self._append(uid, records, lead, trail)
        for family, _, _, value, _ in records:
            if family in USER_FAMILIES:
                receipt.put_count += value is not None
                receipt.delete_count += value is None
        return receipt

    def _append(self, uid: int, records: list[RecordTuple], lead: int = 0, trail: int = 0) -> CommitReceipt:
        commit = self._next_commit(uid, records, lead, trail)
        try:
            self.journal.append(commit)
            self._apply(commit)
        except BaseException:
            self._show_appended(commit)
            raise
        self.level = self.journal.seen
        return self._receipt(commit, 0, 0)

    def _next_commit(self, uid: int, records: list[RecordTuple], lead: int = 0, trail: int = 0) -> Commit:
        if self.damage is not None:
            raise self.damage
        timestamp = self.journal.head + 1 + lead
        now_us = self._now_ns() // 1000
        if now_us <= self._last_us:
            now_us = self._last_us + 1
        author, message = self._signature() if self._signing else ("", "")
        return Commit(timestamp, timestamp + trail, now_us, uid, records, author, message)

    def _show_appended(self, commit: Commit) -> None:
        """Interrupted behind the append: the commit is made, so it must show."""
        if self.journal.head == commit.last:
            self._apply(commit)
            self.level = self.journal.seen

    def _receipt(self, commit: Commit, deletes: int, puts: int) -> CommitReceipt:
        timestamp = commit.timestamp
        return CommitReceipt(deletes, self._durability, puts, timestamp, timestamp, commit.committed_at_us)

    def _commit(self, staged: Staged) -> None:
        if not staged.writes:
            return
        check_commit(len(staged.writes), staged.size)
        records = staged.records()
        for space in {record[1] for record in records if record[0] in USER_FAMILIES} - {DEFAULT_SPACE}:
            self.register_space(staged.node, space, records)
        receipt = self._append(staged.node.uid, records)
        receipt.put_count, receipt.delete_count = staged.counts()
        if staged.receipt is not None:
            for name in CommitReceipt.__slots__:
                setattr(staged.receipt, name, getattr(receipt, name))
        else:
            staged.receipt = receipt

    def register_space(self, node: Node, space: str, records: list[RecordTuple]) -> None:
        """Add the record that makes a space exist to a commit that is the first to write in it."""
        mark = (node.uid, space)
        if space == DEFAULT_SPACE or mark in self._registered:
            return
        key = space.encode()
        row = self.state.row(node, self.state.table(Family.SPACE, ""), key, NO_LIMIT)
        if row is None or row[1] is None:
            records.append((Family.SPACE, "", key, b"{}", 0))
        self._registered.add(mark)

    def _live_row(self, node: Node, table: OverlayTable, key: bytes) -> Row | None:
        layer = table.layers.get(node.uid)
        row = layer.rows.get(key) if layer is not None else None
        if row is None and (table.base is not None or node.parent is not None):
            row = self.state.row(node, table, key, NO_LIMIT)
        if row is None or row[1] is None:
            return None
        if row[2] and is_expired(table.family, row, self.clock.now_us()):
            return None
        return row

    def _update_staged(
        self,
        branch: str,
        family: int,
        space: str,
        key: bytes,
        decide: Callable[[Row | None], Decision],
        if_version: int | None,
    ) -> Updated:
        staged = self._local.transaction
        if staged is None:
            raise fail("failed_precondition.engine.transaction_closed")
        self._check_branch(staged, branch)
        previous = staged.get(family, space, key)
        if if_version is not None:
            check_version(key, staged.base_version(family, space, key), if_version)
        decision = decide(previous)
        if decision is None:
            return previous, None
        staged.put(family, space, key, decision[0], decision[1])
        if len(decision) == 4:
            staged.count(decision[2], decision[3])
        return previous, staged.pending_receipt()

    def _check_branch(self, staged: Staged, branch: str) -> None:
        self._check_open()
        if staged.node.name != branch:
            raise fail(
                "invalid_argument.engine.transaction",
                f"this transaction writes on branch {staged.node.name!r}, not on {branch!r}",
                branch=branch,
            )


def check_version(key: bytes, actual: int, expected: int) -> None:
    """Compare-and-set: refuse when the key is at another version than the caller saw."""
    if actual != expected:
        raise fail(
            "conflict.engine.version",
            f"the key is at version {actual}, not {expected}; read it again and decide anew",
            key=key.decode(errors="backslashreplace"),
            expected=expected,
            actual=actual,
        )
