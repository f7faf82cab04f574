"""Merge of branches: preview, merge, cherry-pick of one commit, revert of one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_SPACE, Family, RecordTuple, Row
from strata_mcp.results.branches import BranchPreviewItem, PromotionOutcomeItem, PromotionStrategy
from strata_mcp.store.branches import branch_record_tuple
from strata_mcp.store.catalog import check_branch_name
from strata_mcp.store.compare import Entity, live, touched_apart, touched_between
from strata_mcp.store.families import FamilyRules
from strata_mcp.store.lineage import GLOBAL_NODE, NO_LIMIT, Node, common_ancestor
from strata_mcp.store.promotion import COVERED, UNSUPPORTED, Lookup, Plan, plan
from strata_mcp.store.scan import Range, live_rows
from strata_mcp.store.state import State
from strata_mcp.store.store import Store
from strata_mcp.store.view import newest_position

MERGE_LEAD = 1
MERGE_TRAIL = 2
"""Numbers a merge occupies around its own, as in the peer (ADR 0003)."""


class Promotion(msgspec.Struct, frozen=True):
    """
    Memory of the last merge in one direction; stored as JSON under "source uid>target uid".

    `is_clean`: the sides disagreed nowhere, so nothing was left different on purpose.
    """

    source_version: int
    merged_at: int
    is_clean: bool


class _Ground(NamedTuple):
    """Where two branches last agreed."""

    node: Node
    limit: int
    branch_point: int
    entities: set[Entity]


_decode = msgspec.json.Decoder(Promotion).decode
_encode = msgspec.json.Encoder().encode


class Merging:
    """The merge commands over one store."""

    def __init__(self, store: Store, rules: Mapping[int, FamilyRules]) -> None:
        """`rules` says which families are promoted, and how."""
        self._store = store
        self._rules = rules
        self._families = tuple(rules)

    def preview(self, source: str, target: str, strategy: str = "strict") -> BranchPreviewItem:
        """What a merge would meet; nothing is written."""
        chosen = PromotionStrategy(strategy)
        store = self._store
        store.catch_up()
        with store.reading:
            nodes = self._nodes(source, target)
            ground = self._ground(*nodes)
            made = self._plan(nodes, ground, chosen)
            spaces = self._spaces(*nodes)
        return BranchPreviewItem(
            ground.branch_point,
            made.conflicts,
            source,
            chosen,
            target,
            list(COVERED),
            list(UNSUPPORTED),
            made.derived_state(),
            spaces,
        )

    def merge(self, source: str, target: str, strategy: str = "strict") -> PromotionOutcomeItem:
        """
        Bring what the source changed since the branches last agreed onto the target, in one commit.

        Raises:
            StrataError: `conflict.engine.promotion` under `strict` when the sides disagree anywhere;
                `invalid_argument.engine.branch_point` when the branches share no history.
        """
        chosen = PromotionStrategy(strategy)
        store = self._store
        with store.committing():
            nodes = self._nodes(source, target)
            ground = self._ground(*nodes)
            made = self._plan(nodes, ground, chosen)
            outcome = self._outcome(source, target, chosen, ground.branch_point, made, self._spaces(*nodes))
            self._refuse_conflicts(made, outcome)
            self._follow_spaces(nodes, ground, made)
            if made.records:
                merged_at = store.journal.head + 1 + MERGE_LEAD
                made.records.extend(self._bookkeeping(nodes, merged_at, is_clean=not made.conflicts))
                self._write(nodes[1], made, outcome, MERGE_LEAD, MERGE_TRAIL)
                outcome.spaces_covered = self._spaces(*nodes)
        return outcome

    def cherry_pick(self, source: str, version: int, branch: str, strategy: str = "strict") -> PromotionOutcomeItem:
        """Apply what one commit of `source` changed onto `branch`, in one new commit."""
        return self._apply_commit(source, version, branch, strategy, backwards=False)

    def revert(self, branch: str, version: int, strategy: str = "strict") -> PromotionOutcomeItem:
        """Undo what one commit of `branch` changed, in one new commit; later changes of other keys stay."""
        return self._apply_commit(branch, version, branch, strategy, backwards=True)

    def _apply_commit(
        self, source: str, version: int, target: str, strategy: str, *, backwards: bool
    ) -> PromotionOutcomeItem:
        chosen = PromotionStrategy(strategy)
        store = self._store
        with store.committing():
            state = store.state
            check_branch_name(source)
            check_branch_name(target)
            origin, node = store.catalog.node(source), store.catalog.node(target)
            author = self._author_of(origin, version)
            entities = state.touched(author.uid, self._families, version - 1, version)
            after, before = self._at(state, author, version), self._at(state, author, version - 1)
            base, changed = (after, before) if backwards else (before, after)
            made = plan(entities, base, changed, self._at(state, node, NO_LIMIT), self._rules, chosen)
            outcome = self._outcome(source, target, chosen, version, made, self._spaces(origin, node))
            self._refuse_conflicts(made, outcome, code="conflict.engine.revert" if backwards else None)
            if made.records:
                self._write(node, made, outcome, 0, 0)
        return outcome

    def _author_of(self, node: Node, version: int) -> Node:
        for step, bound in node.path(NO_LIMIT):
            if version <= bound and self._store.state.commit(step.uid, version) is not None:
                return step
        raise fail("not_found.engine.commit", branch=node.name, version=version)

    def _write(self, node: Node, made: Plan, outcome: PromotionOutcomeItem, lead: int, trail: int) -> None:
        self._register_spaces(node, made)
        receipt = self._store.append(node.uid, made.records, lead=lead, trail=trail)
        outcome.target_version = outcome.target_timestamp = receipt.version

    def _register_spaces(self, node: Node, made: Plan) -> None:
        store = self._store
        registry = store.state.table(Family.SPACE, "")
        staged = {key for family, _, key, value, _ in made.records if family == Family.SPACE and value is not None}
        spaces = {space for family, space, _, value, _ in made.records if family in self._rules and value is not None}
        for space in sorted(spaces - {DEFAULT_SPACE}):
            key = space.encode()
            if key not in staged and live(store.state.row(node, registry, key, NO_LIMIT)) is None:
                made.records.append((Family.SPACE, "", key, b"{}", 0))

    def _nodes(self, source: str, target: str) -> tuple[Node, Node]:
        check_branch_name(source)
        check_branch_name(target)
        return self._store.catalog.node(source), self._store.catalog.node(target)

    def _ground(self, source: Node, target: Node) -> _Ground:
        shared = common_ancestor(source, target)
        if shared is None or source is target:
            raise fail(
                "invalid_argument.engine.branch_point",
                "a merge needs two different branches that share a fork point",
                source=source.name,
                target=target.name,
            )
        state = self._store.state
        source_limit = source.limit_of(shared, NO_LIMIT) or 0
        target_limit = target.limit_of(shared, NO_LIMIT) or 0
        point = min(source_limit, target_limit)
        forward, backward = self._last(source, target), self._last(target, source)
        branch_point = point if forward is None else forward.source_version
        if backward is not None and (forward is None or backward.merged_at > forward.merged_at):
            if forward is not None and forward.is_clean and backward.is_clean:
                entities = state.touched(source.uid, self._families, forward.source_version, NO_LIMIT)
            else:
                limits = (NO_LIMIT, backward.source_version)
                entities = touched_between(state, self._families, source, target, limits)
            return _Ground(target, backward.source_version, branch_point, entities)
        if forward is not None:
            entities = state.touched(source.uid, self._families, forward.source_version, NO_LIMIT)
            return _Ground(source, forward.source_version, branch_point, entities)
        entities = touched_apart(state, self._families, shared, source_limit, target_limit)
        for step, bound in source.path(NO_LIMIT):
            if step is shared:
                break
            entities |= state.touched(step.uid, self._families, 0, bound)
        return _Ground(shared, point, branch_point, entities)

    def _last(self, source: Node, target: Node) -> Promotion | None:
        row = self._store.state.row(
            GLOBAL_NODE, self._store.state.table(Family.MERGE, ""), _promotion_key(source, target), NO_LIMIT
        )
        return _decode(row[1]) if row is not None and row[1] is not None else None

    def _plan(self, nodes: tuple[Node, Node], ground: _Ground, strategy: PromotionStrategy) -> Plan:
        state = self._store.state
        source, target = nodes
        return plan(
            ground.entities,
            self._at(state, ground.node, ground.limit),
            self._at(state, source, NO_LIMIT),
            self._at(state, target, NO_LIMIT),
            self._rules,
            strategy,
        )

    def _at(self, state: State, node: Node, limit: int) -> Lookup:
        def look(entity: Entity) -> Row | None:
            return live(state.row(node, state.table(entity[0], entity[1]), entity[2], limit))

        return look

    def _follow_spaces(self, nodes: tuple[Node, Node], ground: _Ground, made: Plan) -> None:
        """Spaces made or emptied and removed on the source follow it."""
        state = self._store.state
        table = state.table(Family.SPACE, "")
        source, target = nodes
        here = {key for key, _ in live_rows(state, source, table, NO_LIMIT, Range(), 0)}
        there = {key for key, _ in live_rows(state, target, table, NO_LIMIT, Range(), 0)}
        before = {key for key, _ in live_rows(state, ground.node, table, ground.limit, Range(), 0)}
        for key in sorted((here - before) - there):
            made.records.append((Family.SPACE, "", key, b"{}", 0))
        removed = {(family, space, key) for family, space, key, value, _ in made.records if value is None}
        for key in sorted((before - here) & there):
            space = key.decode()
            left = any(
                (family, space, found) not in removed
                for family in self._families
                for found, _ in live_rows(state, target, state.table(family, space), NO_LIMIT, Range(), 0)
            )
            if not left:
                made.records.append((Family.SPACE, "", key, None, 0))

    def _bookkeeping(self, nodes: tuple[Node, Node], merged_at: int, *, is_clean: bool) -> list[RecordTuple]:
        source, target = nodes
        record = msgspec.structs.replace(
            target.record,
            merged_from_uid=source.uid,
            merged_from_name=source.name,
            merged_from_generation=source.record.generation,
            merged_at=merged_at,
        )
        memory = Promotion(newest_position(self._store.state, source), merged_at, is_clean)
        return [
            branch_record_tuple(record),
            (Family.MERGE, "", _promotion_key(source, target), _encode(memory), 0),
        ]

    def _spaces(self, *nodes: Node) -> list[str]:
        table = self._store.state.table(Family.SPACE, "")
        found = {DEFAULT_SPACE.encode()}
        for node in nodes:
            found.update(key for key, _ in live_rows(self._store.state, node, table, NO_LIMIT, Range(), 0))
        return [key.decode() for key in sorted(found)]

    def _outcome(
        self, source: str, target: str, strategy: PromotionStrategy, branch_point: int, made: Plan, spaces: list[str]
    ) -> PromotionOutcomeItem:
        return PromotionOutcomeItem(
            made.applied,
            branch_point,
            made.conflicts,
            made.deleted,
            source,
            strategy,
            target,
            list(COVERED),
            list(UNSUPPORTED),
            made.derived_state(),
            spaces,
        )

    def _refuse_conflicts(self, made: Plan, outcome: PromotionOutcomeItem, code: str | None = None) -> None:
        if not made.conflicts or outcome.strategy is not PromotionStrategy.STRICT:
            return
        first = made.conflicts[0]
        raise fail(
            code or "conflict.engine.promotion",
            f"{outcome.source!r} and {outcome.target!r} disagree on {len(made.conflicts)} keys; nothing was written. "
            "Preview lists them; source_wins or target_wins decides them",
            conflicts=len(made.conflicts),
            first_space=first.space,
            first_key=first.identity.decode(errors="backslashreplace"),
        )


def _promotion_key(source: Node, target: Node) -> bytes:
    return f"{source.uid}>{target.uid}".encode()
