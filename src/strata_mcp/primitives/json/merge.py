"""Three-way merge of documents, field by field: two sides that changed different fields do not disagree."""

from __future__ import annotations

from typing import Any, Final

from strata_mcp.model import Row
from strata_mcp.primitives.json.codec import decode, encode_checked
from strata_mcp.primitives.json.edit import MISSING
from strata_mcp.results.branches import ComparedCapability, DerivedStateDisposition
from strata_mcp.store.families import FamilyRules, MergeOutcome


def merge_documents(base: bytes | None, source: bytes | None, target: bytes | None, prefer: str | None) -> MergeOutcome:
    """
    Merge the stored forms of three documents; None is an absent one.

    Objects merge key by key, also two that are both new; arrays and scalars are atomic, also one that both
    sides replaced by objects; deleting what the other side changed is a disagreement. `prefer` ("source" or
    "target") decides disagreements, None leaves them undecided.
    """
    values = [MISSING if text is None else decode(text) for text in (base, source, target)]
    merged, conflicted = _merge(values[0], values[1], values[2], prefer)
    if merged is MISSING:
        return MergeOutcome(None, conflicted)
    return MergeOutcome(encode_checked(merged), conflicted)


def _merge(base: Any, source: Any, target: Any, prefer: str | None) -> tuple[Any, bool]:
    if _same(source, base) or _same(source, target):
        return target, False
    if _same(target, base):
        return source, False
    common = {} if base is MISSING else base
    if type(source) is dict and type(target) is dict and type(common) is dict:
        return _merge_objects(common, source, target, prefer)
    return (target if prefer == "target" else source), True


def _merge_objects(
    base: dict[str, Any], source: dict[str, Any], target: dict[str, Any], prefer: str | None
) -> tuple[dict[str, Any], bool]:
    merged = {}
    conflicted = False
    for name in {**base, **source, **target}:
        value, clash = _merge(base.get(name, MISSING), source.get(name, MISSING), target.get(name, MISSING), prefer)
        conflicted = conflicted or clash
        if value is not MISSING:
            merged[name] = value
    return merged, conflicted


def _same(left: Any, right: Any) -> bool:
    """Equal as stored: 1, 1.0 and true are three different values, 0.0 and -0.0 are two."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if type(left) is dict:
        return left.keys() == right.keys() and all(_same(value, right[name]) for name, value in left.items())
    if type(left) is list:
        return len(left) == len(right) and all(_same(*pair) for pair in zip(left, right, strict=True))
    if left is MISSING or right is MISSING:
        return False
    return repr(left) == repr(right) if type(left) is float else bool(left == right)


def _next_version(_: Row | None, target: Row | None) -> int:
    return 1 if target is None else target[2] + 1


JSON_RULES: Final = FamilyRules(
    ComparedCapability.JSON,
    carry=_next_version,
    merge=merge_documents,
    derived=DerivedStateDisposition.REBUILD_REQUIRED,
)
"""Documents merge field by field and go on with the target's own document version."""
