"""
JSON on both sides of a command: untrusted values in, result objects out.

In: plain values only, integers from -2**63 to 2**64-1, finite numbers, whole Unicode text, limited nesting.
Out: bytes become padded base64 text, enumerations their word, result classes objects.
"""

from __future__ import annotations

import dataclasses
from base64 import b64encode
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Final, TypeAlias

import msgspec

from strata_mcp.errors import StrataError, fail
from strata_mcp.results.common import JsonValue, Record, Sample

INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**64 - 1
NESTING_MAX: Final = 127

LEFT_OUT: Final[dict[str, frozenset[str]]] = {
    "AdminHealth": frozenset({"space_catalog"}),
    "AdminIpcClient": frozenset({"name", "pid", "version"}),
    "AdminIpcStatus": frozenset({"clients", "owner_pid", "socket_path"}),
    "AdminMemoryBudget": frozenset({"usable_host_bytes"}),
    "AdminReclaimPass": frozenset({"deferral"}),
    "AdminStorage": frozenset(
        {
            "quarantined_bytes",
            "quarantined_objects",
            "snapshot_bytes",
            "snapshot_objects",
            "superseded_snapshot_bytes",
            "superseded_snapshots",
            "superseded_timeline_segment_bytes",
            "superseded_timeline_segments",
            "timeline_segment_bytes",
            "timeline_segment_objects",
            "total_bytes",
            "unreferenced_bytes",
            "unreferenced_objects",
            "wal_active_bytes",
            "wal_reclaimable_bytes",
            "wal_retained_bytes",
            "wal_retained_segments",
            "wal_retention_watermark",
            "wal_tail_bytes",
        }
    ),
    "AdminStorageReclaim": frozenset(
        {
            "last_mark",
            "last_purge",
            "last_snapshot_prune",
            "last_sweep",
            "last_wal_truncation",
            "pending_reclaim_tasks",
        }
    ),
    "BranchItem": frozenset({"merge_parent"}),
    "ErrorStatus": frozenset({"details", "hints", "trace_id"}),
    "PreviewConflictItem": frozenset({"source_value", "target_value"}),
    "PromotedEntityItem": frozenset({"value"}),
    "PromotionOutcomeItem": frozenset({"target_timestamp", "target_version"}),
    "SpaceCreateResult": frozenset({"commit"}),
    "SpaceDeleteResult": frozenset({"commit"}),
    "Written": frozenset({"commit"}),
}
"""Fields that are absent when they hold nothing, by class. Every other field is always there, null if need be."""

RENAMED: Final = {"ErrorStatus": {"error_class": "class"}}
"""Fields whose wire name is a word Python keeps for itself."""

Shape: TypeAlias = "tuple[tuple[str, str, bool], ...]"
"""(attribute, wire name, whether it is left out when empty) of each field of a class."""


def plain(value: object, field: str, depth: int = 2) -> JsonValue:
    """
    A copy made of None, bool, int, float, str, list and dict only.

    Args:
        value: what the caller handed in.
        field: field of the command it belongs to, for messages.
        depth: nesting of the value; the command itself is 1.

    Raises:
        StrataError: `invalid_argument.executor.json_number` for an integer that is too large,
            `invalid_argument.sdk.command` for anything else that JSON cannot carry.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(str.__str__(value), field)
    if isinstance(value, int):
        number = int.__int__(value)
        if not INTEGER_MIN <= number <= INTEGER_MAX:
            raise fail("invalid_argument.executor.json_number", field=field)
        return number
    if isinstance(value, float):
        if not isfinite(value):
            raise refused(field, "a finite number", "NaN or an infinity")
        return float.__float__(value)
    if not isinstance(value, dict | list | tuple):
        raise refused(field, "JSON values", f"a Python {type(value).__name__}")
    if depth > NESTING_MAX:
        raise refused(field, f"at most {NESTING_MAX} levels of nesting", "more, or a value that contains itself")
    if isinstance(value, dict):
        return {_key(key, field): plain(item, field, depth + 1) for key, item in value.items()}
    return [plain(item, field, depth + 1) for item in value]


def refused(field: str, expected: str, given: str) -> StrataError:
    """The error for a value of the wrong kind."""
    return fail("invalid_argument.sdk.command", f"`{field}` takes {expected}, not {given}", field=field)


def _key(key: object, field: str) -> str:
    if not isinstance(key, str):
        raise refused(field, "objects with text as keys", f"a {type(key).__name__} as a key")
    return _text(str.__str__(key), field)


def _text(text: str, field: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise refused(field, "whole Unicode characters", "half of a surrogate pair") from None
    return text


def encode(value: Any) -> Any:
    """A result as JSON values."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    body: dict[str, Any] = {}
    for attribute, name, is_left_out in shape_of(value.__class__):
        item = getattr(value, attribute)
        if not (is_left_out and (item is None or item == [])):
            body[name] = encode(item)
    if isinstance(value, Sample):
        body.update(has_more=False, cursor=None)
    return body


@cache
def shape_of(kind: type) -> Shape:
    """Fields of a result class."""
    names: tuple[str, ...]
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
    elif issubclass(kind, Record):
        names = kind._fields
    elif issubclass(kind, msgspec.Struct):
        names = kind.__struct_fields__
    else:
        raise fail("internal.executor.wire_response", f"a {kind.__name__} has no wire form")
    left_out = LEFT_OUT.get(kind.__name__, frozenset())
    renamed = RENAMED.get(kind.__name__, {})
    return tuple((name, renamed.get(name, name), name in left_out) for name in names)
