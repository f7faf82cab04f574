"""
Conditions on fields, written as Python values.

`eq("plan", "pro") & eq("active", True)` holds where both do. `db.json.query(filter=...)` takes them
beside its own dict form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

from strata_mcp.errors import fail

if TYPE_CHECKING:
    from strata_mcp.results.common import JsonValue

Scalar: TypeAlias = "str | int | float | bool | None"

__all__ = ["Filter", "eq"]


class Operand(TypedDict):
    """A value and the name of its type."""

    type: str
    value: Scalar


class Condition(TypedDict):
    """One condition in wire form."""

    field: str
    op: str
    value: Operand


class Filter:
    """Conditions that must all hold; `a & b` joins two filters."""

    __slots__ = ("conditions",)

    def __init__(self, conditions: list[Condition]) -> None:
        """`conditions` are in wire form: field, op, and a value with its type."""
        self.conditions = conditions

    def __and__(self, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return Filter([*self.conditions, *other.conditions])

    def __eq__(self, other: object) -> bool:
        return self.conditions == other.conditions if isinstance(other, Filter) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # filters compare by value and hold a list

    def __repr__(self) -> str:
        return f"Filter({self.conditions!r})"

    def to_wire(self) -> dict[str, list[Condition]]:
        """The filter as commands take it."""
        return {"conditions": self.conditions}

    def to_query(self) -> dict[str, JsonValue]:
        """The filter as `json.query` takes it: field to value."""
        return {"$and": [{condition["field"]: condition["value"]["value"]} for condition in self.conditions]}


def eq(field: str, value: Scalar) -> Filter:
    """
    The field is there and equals a value.

    Args:
        field: name of the field.
        value: text, a number, True, False or None.

    Raises:
        StrataError: `invalid_argument.sdk.argument` for anything else.
    """
    if not isinstance(field, str):
        raise fail("invalid_argument.sdk.argument", "a filter's field is text", field="field")
    if value is None:
        kind = "null"
    elif isinstance(value, bool):
        kind = "bool"
    elif isinstance(value, str):
        kind = "string"
    elif isinstance(value, int | float):
        kind = "number"
    else:
        raise fail(
            "invalid_argument.sdk.argument",
            f"a filter compares with text, a number, True, False or None, not {type(value).__name__}",
            field="value",
        )
    condition: Condition = {"field": field, "op": "eq", "value": {"type": kind, "value": value}}
    return Filter([condition])
