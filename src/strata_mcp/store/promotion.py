"""
Three-way application of changes to a branch: merge, cherry-pick and revert are the same step.

For each key there is a base, a source and the target's present value. What only the source changed
is applied; what both changed the same way is left; what they changed differently is merged by the
family where it can be, and otherwise a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from strata_mcp.model import RecordTuple, Row
from strata_mcp.results.branches import (
    ComparedCapability,
    ConflictKind,
    ConflictStrategyResult,
    DerivedStateReportItem,
    PreviewConflictItem,
    PromotedEntityItem,
    PromotionStrategy,
)
from strata_mcp.store.compare import Entity
from strata_mcp.store.families import FamilyRules

Lookup = Callable[[Entity], Row | None]
"""Live row of an entity in one of the three states, or None."""

COVERED = [ComparedCapability.KV, ComparedCapability.JSON, ComparedCapability.VECTOR]
UNSUPPORTED = [
    ComparedCapability.VECTOR_COLLECTION,
    ComparedCapability.EVENT,
    ComparedCapability.GRAPH_METADATA,
    ComparedCapability.GRAPH_NODE,
    ComparedCapability.GRAPH_EDGE,
    ComparedCapability.GRAPH_ONTOLOGY,
]

_RESULT = {
    PromotionStrategy.STRICT: ConflictStrategyResult.REFUSED,
    PromotionStrategy.SOURCE_WINS: ConflictStrategyResult.SOURCE_WINS,
    PromotionStrategy.TARGET_WINS: ConflictStrategyResult.TARGET_WINS,
}
_PREFER = {
    PromotionStrategy.STRICT: None,
    PromotionStrategy.SOURCE_WINS: "source",
    PromotionStrategy.TARGET_WINS: "target",
}


@dataclass(slots=True)
class Plan:
    """What an application would write, and where the sides disagree."""

    records: list[RecordTuple] = field(default_factory=list)
    applied: list[PromotedEntityItem] = field(default_factory=list)
    deleted: list[PromotedEntityItem] = field(default_factory=list)
    conflicts: list[PreviewConflictItem] = field(default_factory=list)
    derived: dict[int, DerivedStateReportItem] = field(default_factory=dict)

    def derived_state(self) -> list[DerivedStateReportItem]:
        """Reports in family order."""
        return [self.derived[family] for family in sorted(self.derived)]


def plan(
    entities: Iterable[Entity],
    base: Lookup,
    source: Lookup,
    target: Lookup,
    rules: Mapping[int, FamilyRules],
    strategy: PromotionStrategy,
) -> Plan:
    """Decide every entity; nothing is written."""
    made = Plan()
    for entity in sorted(entities, key=lambda found: (found[1].encode(), found[0], found[2])):
        rows = base(entity), source(entity), target(entity)
        values = [row[1] if row is not None else None for row in rows]
        if values[1] in (values[0], values[2]):
            continue
        _decide(made, entity, rows, rules[entity[0]], strategy)
    return made


def _decide(
    made: Plan,
    entity: Entity,
    rows: tuple[Row | None, Row | None, Row | None],
    rules: FamilyRules,
    strategy: PromotionStrategy,
) -> None:
    base, source, target = (row[1] if row is not None else None for row in rows)
    family, space, key = entity
    if rules.derived is not None:
        made.derived[family] = DerivedStateReportItem(rules.capability, rules.derived)
    value, conflicted = source, target != base
    if conflicted and rules.merge is not None:
        outcome = rules.merge(base, source, target, None)
        conflicted = outcome.conflicted
        value = outcome.value
        if conflicted and strategy is not PromotionStrategy.STRICT:
            value = rules.merge(base, source, target, _PREFER[strategy]).value
    elif conflicted and strategy is PromotionStrategy.TARGET_WINS:
        value = target
    if conflicted:
        both = source is not None and target is not None
        made.conflicts.append(
            PreviewConflictItem(
                rules.capability,
                key,
                ConflictKind.VALUE_DIVERGENCE if both else ConflictKind.MODIFY_DELETE_DIVERGENCE,
                space,
                _RESULT[strategy],
                source,
                target,
            )
        )
        if strategy is PromotionStrategy.STRICT:
            return
    if value == target:
        return
    if value is None:
        made.deleted.append(PromotedEntityItem(rules.capability, key, space))
        made.records.append((family, space, key, None, 0))
    else:
        made.applied.append(PromotedEntityItem(rules.capability, key, space, value))
        made.records.append((family, space, key, value, rules.carry(rows[1], rows[2])))
