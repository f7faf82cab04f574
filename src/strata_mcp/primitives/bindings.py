"""
Reading and writing one key at the head of one branch, bound so that the common case looks nothing up.

A binding holds the rows a branch wrote itself. It is renewed when the store's epoch moves: branches
made or removed, tables reloaded, a transaction open. Everything unusual takes the general way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from strata_mcp.errors import StrataError, fail
from strata_mcp.model import Family, Row
from strata_mcp.primitives.batches import CREATED, UPDATED
from strata_mcp.results.common import Written
from strata_mcp.store.limits import SAFE_BYTES

if TYPE_CHECKING:
    from strata_mcp.store.store import Decision, Store

Reader: TypeAlias = Callable[[bytes], "bytes | None"]
Writer: TypeAlias = Callable[[bytes, bytes], Written]
_KV: Final = int(Family.KV)


def empty_key() -> StrataError:
    """The error of a key without bytes."""
    return fail("invalid_argument.engine.kv_key")


def bind_reader(store: Store, branch: str, space: str) -> Reader:
    """Make a function that reads the value of one key."""
    words = store.words
    epoch = -2
    own_rows: dict[bytes, Row] = {}
    is_whole = False

    def slow(key: bytes) -> bytes | None:
        nonlocal epoch, own_rows, is_whole
        if not key:
            raise empty_key()
        store.space(space)
        view = store.view(branch)
        if store.epoch != epoch and view.staged is None:
            with store.reading:
                bound = store.epoch
                table = store.state.table(_KV, space)
                layer = table.layers.get(view.node.uid)
                if layer is not None:
                    own_rows = layer.rows
                    is_whole = table.base is None and view.node.parent is None
                    epoch = bound
        row = view.get(_KV, space, key)
        return None if row is None else row[1]

    def read(key: bytes) -> bytes | None:
        if words[0] == store.level and store.epoch == epoch:
            row = own_rows.get(key)
            if row is not None:
                if not row[2]:
                    return row[1]
            elif is_whole and key:
                return None
        return slow(key)

    return read


def bind_writer(store: Store, branch: str, space: str) -> Writer:
    """Make a function that puts one value."""
    journal = store.journal
    acquire, release = journal.acquire, journal.release
    reading, words = store.reading, store.words
    epoch = -2
    binding = None

    def slow(key: bytes, value: bytes) -> Written:
        nonlocal epoch, binding
        if not key:
            raise empty_key()

        def decide(_: Row | None) -> Decision:
            return value, 0

        previous, receipt = store.update(branch, _KV, store.space(space), key, decide)
        if store.epoch != epoch:
            with reading:
                bound = store.epoch
                binding = store.binding(branch, _KV, space)
                epoch = bound if binding is not None else -2
        return Written(key, CREATED if previous is None else UPDATED, receipt)

    def write(key: bytes, value: bytes) -> Written:
        size = len(key) + len(value)
        if store.epoch != epoch or binding is None or not key or size > SAFE_BYTES:
            return slow(key, value)
        acquire()
        try:
            with reading:
                if words[0] != store.level:
                    store.catch_up()
                done = store.write_bound(binding, key, value, size) if store.epoch == epoch else None
        finally:
            release()
        if done is None:
            return slow(key, value)
        if store.must_sync:
            journal.sync()
        return Written(key, CREATED if done[0] is None else UPDATED, done[1])

    return write
