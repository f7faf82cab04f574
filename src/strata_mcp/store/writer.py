"""
Writes waiting for one commit: a batch under the commit lock, or a thread's open transaction.

A batch sees the present and cannot conflict. A transaction reads a snapshot, remembers the version
of every key it read or wrote, and commits only if none of them changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_mcp.errors import fail
from strata_mcp.model import USER_FAMILIES, RecordTuple, Row
from strata_mcp.results.common import CommitDurability, CommitReceipt
from strata_mcp.store.limits import SAFE_BYTES, check_row
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.overlay import is_expired
from strata_mcp.store.scan import Range

if TYPE_CHECKING:
    from strata_mcp.store.state import State

StagedKey = tuple[int, str, bytes]


class Staged:
    """Rows to be written together on one branch."""

    __slots__ = ("_now_us", "_state", "is_transaction", "limit", "more", "node", "reads", "receipt", "size", "writes")

    def __init__(self, state: State, node: Node, limit: int, now_us: int, *, is_transaction: bool) -> None:
        """`limit` is the snapshot a transaction reads; a batch reads without bound."""
        self._state = state
        self._now_us = now_us
        self.node = node
        self.limit = limit
        self.is_transaction = is_transaction
        self.writes: dict[StagedKey, tuple[bytes | None, int]] = {}
        self.reads: dict[StagedKey, int] = {}
        self.more = [0, 0]
        self.size = 0
        self.receipt: CommitReceipt | None = None

    def get(self, family: int, space: str, key: bytes) -> Row | None:
        """The live row of a key as this unit of work sees it, or None."""
        staged = self.writes.get((family, space, key))
        if staged is not None:
            return None if staged[0] is None else (self.base_version(family, space, key), *staged)
        row = self._committed(family, space, key)
        return row if self._is_live(family, row) else None

    def base_version(self, family: int, space: str, key: bytes) -> int:
        """Version of a key before this unit of work; 0 when it was absent or had expired."""
        row = self._committed(family, space, key)
        return row[0] if row is not None and self._is_live(family, row) else 0

    def _is_live(self, family: int, row: Row | None) -> bool:
        if row is None or row[1] is None:
            return False
        return not is_expired(family, row, self._now_us)

    def note_reads(self, family: int, space: str, rows: list[tuple[bytes, Row]]) -> None:
        """Remember rows a scan returned; a listing of keys alone reads no row."""
        if self.is_transaction:
            for key, row in rows:
                if (family, space, key) not in self.writes:
                    self.reads.setdefault((family, space, key), row[0])

    def put(self, family: int, space: str, key: bytes, value: bytes | None, extra: int = 0) -> None:
        """Stage a row; value None deletes."""
        size = len(key) + (len(value) if value is not None else 0)
        if size > SAFE_BYTES:
            check_row(space, key, value)
        if self.is_transaction:
            self._committed(family, space, key)
        self.size += size + 32
        self.writes[family, space, key] = (value, extra)

    def savepoint(self) -> tuple[dict[StagedKey, tuple[bytes | None, int]], list[int], int]:
        """What is staged now, to roll back to."""
        return dict(self.writes), list(self.more), self.size

    def roll_back(self, before: tuple[dict[StagedKey, tuple[bytes | None, int]], list[int], int]) -> None:
        """Drop what was staged since a savepoint."""
        self.writes, self.more, self.size = before

    def count(self, puts: int, deletes: int) -> None:
        """Add to the receipt's counts (index entries that follow a document)."""
        self.more[0] += puts
        self.more[1] += deletes

    def records(self) -> list[RecordTuple]:
        """The staged rows as records of a commit."""
        return [(family, space, key, value, extra) for (family, space, key), (value, extra) in self.writes.items()]

    def counts(self) -> tuple[int, int]:
        """(puts, deletes) for the receipt: user rows only."""
        puts, deletes = self.more
        for (family, _, _), (value, _) in self.writes.items():
            if family in USER_FAMILIES:
                if value is None:
                    deletes += 1
                else:
                    puts += 1
        return puts, deletes

    def pending_receipt(self) -> CommitReceipt:
        """The receipt of an open transaction; its fields are filled in by the commit."""
        if self.receipt is None:
            self.receipt = CommitReceipt(0, CommitDurability.UNCERTAIN, 0, 0, 0, None)
        return self.receipt

    def check_reads(self, state: State) -> None:
        """Refuse to commit when a key read or written here has changed since the snapshot."""
        for (family, space, key), version in self.reads.items():
            row = state.row(self.node, state.table(family, space), key, NO_LIMIT)
            actual = row[0] if row is not None else 0
            if actual != version:
                raise fail(
                    "conflict.engine.persistence",
                    "another commit changed a key this transaction read or wrote; run the transaction again",
                    space=space,
                    key=key.decode(errors="backslashreplace"),
                    read_version=version,
                    current_version=actual,
                )

    def overlaid(
        self, family: int, space: str, span: Range, committed: Iterator[tuple[bytes, Row]]
    ) -> Iterator[tuple[bytes, Row]]:
        """Live rows with this unit's own writes laid over the committed ones, in byte order."""
        own = sorted(key for fam, spc, key in self.writes if fam == family and spc == space and span.admits(key))
        position = 0
        for key, row in committed:
            while position < len(own) and own[position] < key:
                yield from self._own_row(family, space, own[position])
                position += 1
            if position < len(own) and own[position] == key:
                yield from self._own_row(family, space, key)
                position += 1
            else:
                yield key, row
        for key in own[position:]:
            yield from self._own_row(family, space, key)

    def _own_row(self, family: int, space: str, key: bytes) -> Iterator[tuple[bytes, Row]]:
        row = self.get(family, space, key)
        if row is not None:
            yield key, row

    def _committed(self, family: int, space: str, key: bytes) -> Row | None:
        row = self._state.row(self.node, self._state.table(family, space), key, self.limit)
        if self.is_transaction:
            self.reads.setdefault((family, space, key), row[0] if row is not None else 0)
        return row
