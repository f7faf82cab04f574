"""
Ancestry of branches: who inherits from whom, and up to which commit.

A node sees its own rows without bound and each ancestor's rows up to a limit: the smallest fork
point on the path between them. Besides its parent every node keeps one longer jump, placed as in
E. W. Myers, "An applicative random-access stack" (1983), so ancestry questions cost O(log depth).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strata_mcp.model import DEFAULT_BRANCH, DEFAULT_BRANCH_UID, GLOBAL_UID, BranchRecord

NO_LIMIT: Final = 1 << 62


class Node:
    """One life of one branch, linked to the branch it was forked from."""

    __slots__ = ("depth", "fork_version", "jump", "jump_limit", "name", "parent", "record", "uid")

    def __init__(self, record: BranchRecord, parent: Node | None) -> None:
        """Link a branch below its parent (None for a root)."""
        self.uid = record.uid
        self.name = record.name
        self.record = record
        self.parent = parent
        self.fork_version = record.fork_version if parent is not None else NO_LIMIT
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.jump: Node = self
        self.jump_limit = NO_LIMIT
        if parent is not None:
            self._link_jump(parent)

    def _link_jump(self, parent: Node) -> None:
        over = parent.jump
        if parent.depth - over.depth == over.depth - over.jump.depth:
            self.jump = over.jump
            self.jump_limit = min(self.fork_version, parent.jump_limit, over.jump_limit)
        else:
            self.jump = parent
            self.jump_limit = self.fork_version

    def limit_of(self, ancestor: Node, limit: int) -> int | None:
        """Highest commit of `ancestor` visible from here when reading up to `limit`; None if unrelated."""
        node = self
        while node.depth > ancestor.depth:
            if node.jump.depth >= ancestor.depth:
                limit = min(limit, node.jump_limit)
                node = node.jump
            else:
                limit = min(limit, node.fork_version)
                node = _parent(node)
        return limit if node is ancestor else None

    def path(self, limit: int) -> Iterator[tuple[Node, int]]:
        """Every (node, limit) from here up to the root; lazy, lineages can be deep."""
        node: Node | None = self
        while node is not None:
            yield node, limit
            limit = min(limit, node.fork_version)
            node = node.parent


def common_ancestor(first: Node, second: Node) -> Node | None:
    """Deepest node both descend from (or are); None for branches of different roots."""
    while first.depth > second.depth:
        first = _climb(first, second.depth)
    while second.depth > first.depth:
        second = _climb(second, first.depth)
    while first is not second:
        if first.parent is None or second.parent is None:
            return None
        if first.jump is not second.jump:
            first, second = first.jump, second.jump
        else:
            first, second = _parent(first), _parent(second)
    return first


def _parent(node: Node) -> Node:
    return node if node.parent is None else node.parent


def _climb(node: Node, depth: int) -> Node:
    if node.jump.depth >= depth or node.parent is None:
        return node.jump
    return node.parent


GLOBAL_NODE: Final = Node(BranchRecord(uid=GLOBAL_UID, name=""), None)
"""Owner of the rows of the global families."""


def default_record() -> BranchRecord:
    """The record of `default` in a database that never changed it."""
    return BranchRecord(uid=DEFAULT_BRANCH_UID, name=DEFAULT_BRANCH)
