"""Reading many keys of a view in byte order: one merge for one layer or many, recent or checkpointed."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from strata_mcp.model import Row
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.overlay import OverlayTable, is_expired, keys_between, prefix_end

if TYPE_CHECKING:
    from strata_mcp.store.state import State


class Range:
    """Which keys: at or past `start`, past `after`, below `end`."""

    __slots__ = ("after", "end", "start")

    def __init__(self, start: bytes = b"", after: bytes | None = None, prefix: bytes = b"") -> None:
        """Combine a lower bound, an exclusive cursor and a prefix."""
        self.start = max(start, prefix)
        self.after = after
        self.end = prefix_end(prefix) if prefix else None

    def admits(self, key: bytes) -> bool:
        """Whether the key lies in the range."""
        return key >= self.start and (self.after is None or key > self.after) and (self.end is None or key < self.end)


def live_rows(
    state: State, node: Node, table: OverlayTable, limit: int, span: Range, now_us: int
) -> Iterator[tuple[bytes, Row]]:
    """(key, row) of every live key `node` sees up to `limit`, in byte order. `now_us` 0 ignores expiry."""
    layers = [(step.uid, bound) for step, bound in node.path(limit) if step.uid in table.layers]
    if table.base is None and len(layers) <= 1:
        yield from _one_layer(table, layers, span, now_us)
        return
    for key in _candidates(state, node, table, layers, limit, span):
        row = state.row(node, table, key, limit)
        if row is not None and row[1] is not None and not (now_us and is_expired(table.family, row, now_us)):
            yield key, row


def _one_layer(
    table: OverlayTable, layers: list[tuple[int, int]], span: Range, now_us: int
) -> Iterator[tuple[bytes, Row]]:
    for uid, bound in layers:
        layer = table.layers[uid]
        keys = keys_between(layer.ordered(), span.start, span.end, span.after)
        rows = layer.rows
        if bound >= NO_LIMIT and not (now_us and layer.expiring):
            yield from ((key, row) for key in keys if (row := rows[key])[1] is not None)
            continue
        for key in keys:
            found = layer.at(key, bound)
            if found is not None and found[1] is not None and not (now_us and is_expired(table.family, found, now_us)):
                yield key, found


def _candidates(
    state: State, node: Node, table: OverlayTable, layers: list[tuple[int, int]], limit: int, span: Range
) -> Iterator[bytes]:
    sources: list[Iterator[bytes]] = [
        keys_between(table.layers[uid].ordered(), span.start, span.end, span.after) for uid, _ in layers
    ]
    if table.base is not None:
        sources.append(_base_keys(node, table, limit, span))
    previous = None
    for key in heapq.merge(*sources):
        if key != previous:
            yield key
            previous = key


def _base_keys(node: Node, table: OverlayTable, limit: int, span: Range) -> Iterator[bytes]:
    base = table.base
    if base is None:
        return
    bounds = {step.uid: bound for step, bound in node.path(limit)}
    start = span.start if span.after is None else max(span.start, span.after)
    for key, versions in base.scan(table.space, start):
        if span.end is not None and key >= span.end:
            return
        if span.after is not None and key <= span.after:
            continue
        if any(timestamp <= bounds.get(uid, -1) for uid, timestamp, _ in versions):
            yield key


def take(rows: Iterator[tuple[bytes, Row]], limit: int | None) -> list[tuple[bytes, Row]]:
    """The first `limit` rows, or all of them."""
    return list(rows if limit is None else islice(rows, min(limit, sys.maxsize)))
