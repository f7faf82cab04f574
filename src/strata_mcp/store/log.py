"""The log of a branch: its commits, newest first, inherited ones included."""

from __future__ import annotations

from collections.abc import Mapping

from strata_mcp.errors import fail
from strata_mcp.results.branches import CommitChangeItem, CommitItem
from strata_mcp.results.common import Page
from strata_mcp.store.catalog import check_branch_name
from strata_mcp.store.families import FamilyRules
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.state import TimelineEntry
from strata_mcp.store.store import Store


class Log:
    """The log command over one store."""

    def __init__(self, store: Store, rules: Mapping[int, FamilyRules]) -> None:
        """`rules` names the families whose changes are listed."""
        self._store = store
        self._rules = rules

    def log(self, branch: str, limit: int = 100, cursor: int | None = None) -> Page[CommitItem]:
        """Up to `limit` commits older than position `cursor` (the newest when None)."""
        check_branch_name(branch)
        if limit < 0:
            raise fail("invalid_argument.engine.limit", limit=limit)
        store = self._store
        store.catch_up()
        with store.reading:
            node = store.catalog.node(branch)
            upto = NO_LIMIT if cursor is None else cursor - 1
            found: list[tuple[Node, TimelineEntry]] = []
            for step, bound in node.path(upto):
                if len(found) > limit:
                    break
                entries = store.state.commits(step.uid, bound, limit + 1 - len(found))
                found.extend((step, entry) for entry in entries)
            items = [self._item(step, entry) for step, entry in found[:limit]]
        has_more = 0 < limit < len(found)
        return Page(items, has_more, items[-1].version if has_more else None)

    def _item(self, node: Node, entry: TimelineEntry) -> CommitItem:
        state = self._store.state
        author, message = state.note(entry.timestamp)
        touched = state.touched(node.uid, tuple(self._rules), entry.timestamp - 1, entry.timestamp)
        changes = []
        for family, space, key in sorted(touched, key=lambda entity: (entity[1], entity[0], entity[2])):
            row = state.row(node, state.table(family, space), key, entry.timestamp)
            changes.append(CommitChangeItem(self._rules[family].capability, space, key, row is None or row[1] is None))
        return CommitItem(entry.timestamp, entry.timestamp, entry.committed_at_us, node.name, author, message, changes)
