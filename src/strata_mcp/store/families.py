"""
What the store has to be told about a user family to compare and promote its rows.

The primitives fill the registry; the store never asks which family it is looking at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strata_mcp.model import Row
from strata_mcp.results.branches import ComparedCapability, DerivedStateDisposition


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """Result of merging one key's three values. `conflicted`: the sides disagree and `value` is undecided."""

    value: bytes | None
    conflicted: bool


@dataclass(frozen=True, slots=True)
class FamilyRules:
    """
    How rows of a family take part in diff and merge.

    Attributes:
        capability: name on the wire.
        carry: `extra` for a promoted row, from (source row or None, live target row or None).
        merge: merges (base, source, target) when both sides changed; None when values are atomic. The
            fourth argument names the side that wins disagreements, or None to report them.
        derived: what happens to derived state when rows of the family are promoted, if anything.
    """

    capability: ComparedCapability
    carry: Callable[[Row | None, Row | None], int]
    merge: Callable[[bytes | None, bytes | None, bytes | None, str | None], MergeOutcome] | None = None
    derived: DerivedStateDisposition | None = None
