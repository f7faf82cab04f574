"""A plain-dict database to hold beside the real one: whole snapshots, no sharing, no cleverness."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

Place = tuple[str, str, str]
"""(capability, space, key)."""
Rows = dict[Place, Any]
ABSENT = object()


@dataclass
class ModelBranch:
    """One life of a branch: its rows now, and a copy of them after each of its commits."""

    name: str
    rows: Rows = field(default_factory=dict)
    log: list[tuple[int, Rows]] = field(default_factory=list)
    lineage: list[tuple[int, int]] = field(default_factory=list)
    ident: int = 0

    def at(self, position: int) -> Rows:
        """Rows after the newest commit at or before a position."""
        found: Rows = {}
        for version, rows in self.log:
            if version <= position:
                found = rows
        return found

    def commit(self, version: int) -> None:
        """Remember the rows as they are after a commit."""
        self.log.append((version, copy.deepcopy(self.rows)))


class Model:
    """All branches, and where each pair last agreed."""

    def __init__(self) -> None:
        self.lives = [ModelBranch("default", log=[(1, {})])]
        self.names = {"default": self.lives[0]}
        self.merged: dict[tuple[int, int], tuple[int, int, int]] = {}
        """(source life, target life) -> (source version, merged at, source life)."""

    def fork(self, source: str, name: str, created_at: int, anchor: int) -> None:
        """Copy a branch as it was at its commit `anchor`."""
        parent = self.names[source]
        rows = copy.deepcopy(parent.at(anchor))
        log = [(version, copy.deepcopy(kept)) for version, kept in parent.log if version <= anchor]
        lineage = [(parent.ident, anchor), *((life, min(limit, anchor)) for life, limit in parent.lineage)]
        child = ModelBranch(name, rows, log, lineage, len(self.lives))
        child.commit(created_at)
        self.lives.append(child)
        self.names[name] = child

    def base(self, source: ModelBranch, target: ModelBranch) -> Rows | None:
        """The rows both sides last agreed on; None when they share no history."""
        known = [self.merged.get(pair) for pair in ((source.ident, target.ident), (target.ident, source.ident))]
        merges = [found for found in known if found is not None]
        if merges:
            version, _, life = max(merges, key=lambda found: found[1])
            return self.lives[life].at(version)
        seen = {source.ident: 1 << 60, **dict(source.lineage)}
        for life, limit in [(target.ident, 1 << 60), *target.lineage]:
            if life in seen:
                return self.lives[life].at(min(limit, seen[life]))
        return None

    def merge(self, source: ModelBranch, target: ModelBranch, strategy: str) -> tuple[Rows, set[Place]]:
        """(rows to write, ABSENT for deletions; places in conflict)."""
        base = self.base(source, target) or {}
        return three_way(base, source.rows, target.rows, strategy)


def three_way(base: Rows, source: Rows, target: Rows, strategy: str) -> tuple[Rows, set[Place]]:
    """Apply what differs between base and source onto target."""
    changes: Rows = {}
    conflicts: set[Place] = set()
    for place in {*base, *source, *target}:
        old, new, now = (rows.get(place, ABSENT) for rows in (base, source, target))
        if new in (old, now) and type(new) in (type(old), type(now)):
            continue
        value = new
        if now != old:
            value, conflicted = merge_value(place, old, new, now, strategy)
            if conflicted:
                conflicts.add(place)
        if value != now:
            changes[place] = value
    return changes, conflicts


def merge_value(place: Place, old: Any, new: Any, now: Any, strategy: str) -> tuple[Any, bool]:
    """Both sides changed: objects merge field by field, everything else disagrees."""
    if new == now:
        return now, False
    objects = isinstance(new, dict) and isinstance(now, dict)
    if place[0] == "json" and objects and (old is ABSENT or isinstance(old, dict)):
        merged, conflicted = {}, False
        for name in {*(old if isinstance(old, dict) else {}), *new, *now}:
            o, n, t = ((side.get(name, ABSENT) if isinstance(side, dict) else ABSENT) for side in (old, new, now))
            if n == o:
                value, clash = t, False
            elif t == o:
                value, clash = n, False
            else:
                value, clash = merge_value(place, o, n, t, strategy)
            conflicted = conflicted or clash
            if value is not ABSENT:
                merged[name] = value
        return merged, conflicted
    return (now if strategy == "target_wins" else new), True
