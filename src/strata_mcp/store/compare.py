"""Diff of two branches: only keys touched since they parted are looked at."""

from __future__ import annotations

from collections.abc import Mapping

from strata_mcp.model import Row
from strata_mcp.results.branches import BranchComparisonItem, ComparedEntityItem, SpaceComparisonItem
from strata_mcp.store.catalog import check_branch_name
from strata_mcp.store.families import FamilyRules
from strata_mcp.store.lineage import Node, common_ancestor
from strata_mcp.store.state import State
from strata_mcp.store.store import Store
from strata_mcp.store.view import position

Entity = tuple[int, str, bytes]


def touched_between(
    state: State, families: tuple[int, ...], left: Node, right: Node, limits: tuple[int, int]
) -> set[Entity]:
    """Every (family, space, key) that may differ between two branches read up to the given positions."""
    shared = common_ancestor(left, right)
    found: set[Entity] = set()
    bounds = []
    for node, limit in zip((left, right), limits, strict=True):
        for step, bound in node.path(limit):
            if step is shared:
                bounds.append(bound)
                break
            found |= state.touched(step.uid, families, 0, bound)
    if shared is not None:
        found |= touched_apart(state, families, shared, bounds[0], bounds[1])
    return found


def touched_apart(state: State, families: tuple[int, ...], shared: Node, left: int, right: int) -> set[Entity]:
    """
    Entities written on an ancestor, or on its own ancestors, that only one of two descendants sees.

    `left` and `right` are the positions up to which they see it. A fork that starts before its parent
    was made sees less of the parent's ancestors, too.
    """
    found: set[Entity] = set()
    for (step, left_bound), (_, right_bound) in zip(shared.path(left), shared.path(right), strict=True):
        if left_bound == right_bound:
            break
        found |= state.touched(step.uid, families, min(left_bound, right_bound), max(left_bound, right_bound))
    return found


class Comparison:
    """The diff command over one store."""

    def __init__(self, store: Store, rules: Mapping[int, FamilyRules]) -> None:
        """`rules` says which families take part and in which order they are listed."""
        self._store = store
        self._rules = rules

    def diff(self, branch_a: str, branch_b: str, at_timestamp: int | None = None) -> BranchComparisonItem:
        """What is on `branch_b` and not the same on `branch_a`, now or at a position both have."""
        store = self._store
        for name in (branch_a, branch_b):
            check_branch_name(name)
        store.catch_up()
        with store.reading:
            state = store.state
            nodes = [store.catalog.node(name) for name in (branch_a, branch_b)]
            limits = [position(state, node, at_timestamp, None) for node in nodes]
            entities = touched_between(state, tuple(self._rules), nodes[0], nodes[1], (limits[0], limits[1]))
            groups: dict[tuple[bytes, int], SpaceComparisonItem] = {}
            for family, space, key in sorted(entities, key=lambda entity: entity[2]):
                table = state.table(family, space)
                rows = [live(state.row(node, table, key, limit)) for node, limit in zip(nodes, limits, strict=True)]
                self._note(groups, (family, space, key), rows[0], rows[1])
        return BranchComparisonItem(branch_a, branch_b, [groups[place] for place in sorted(groups)])

    def _note(
        self, groups: dict[tuple[bytes, int], SpaceComparisonItem], entity: Entity, left: Row | None, right: Row | None
    ) -> None:
        if left is right or (left is not None and right is not None and left[1] == right[1]):
            return
        family, space, key = entity
        place = (space.encode(), family)
        group = groups.get(place)
        if group is None:
            group = groups[place] = SpaceComparisonItem([], self._rules[family].capability, [], [], space)
        if right is None and left is not None:
            group.removed.append(ComparedEntityItem(key, left[0]))
        elif right is not None:
            (group.added if left is None else group.modified).append(ComparedEntityItem(key, right[0]))


def live(row: Row | None) -> Row | None:
    """The row unless it is a tombstone."""
    return None if row is None or row[1] is None else row
