"""
What models see of an operation: bytes as text, arguments forgiven, results that say what they are.

On this surface a byte string is plain text when it is UTF-8, and `{"base64": ...}` otherwise, in both
directions. JSON text is taken where only an object, array, number or boolean is legal; null is absent.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from strata_mcp.errors import fail
from strata_mcp.tools.operation import Operation, catalogue
from strata_mcp.tools.schema import type_label

COMMAND: Final = "invalid_argument.sdk.command"
TRANSACTION: Final = "transaction.run"
BYTES_IN: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"base64": {"type": "string", "contentEncoding": "base64"}},
            "required": ["base64"],
            "additionalProperties": False,
        },
    ]
}
"""Text, or {"base64": ...} for bytes that are no text."""
BYTES_OUT: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "base64": {"type": "string"},
                "text": {"type": "string"},
                "size": {"type": "integer"},
                "cut": {"type": "boolean"},
            },
            "required": ["size"],
        },
    ]
}
"""Text; {"base64": ..., "size": ...} for bytes that are no text; a part of either with "cut" when it is very long."""
ANY_JSON: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "object"},
        {"type": "array", "items": {}},
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
    ]
}
"""Any JSON value, spelt out: some clients take a schema without a type for text."""


def input_schema(operation: Operation[Any]) -> dict[str, Any]:
    """Schema of a tool's arguments."""
    schema: dict[str, Any] = _mapped(operation.input_schema(), BYTES_IN)
    for owner in (schema, *schema.get("$defs", {}).values()):
        for name, field in owner.get("properties", {}).items():
            if not field.keys() & {"type", "anyOf", "enum", "$ref"}:
                owner["properties"][name] = {**ANY_JSON, **field}
    return schema


def output_schema(operation: Operation[Any]) -> dict[str, Any]:
    """Schema of a tool's structured result; what is no object is put under `result`."""
    schema: dict[str, Any] = _mapped(operation.output_schema(), BYTES_OUT)
    if is_object(operation):
        return schema
    definitions = schema.pop("$defs", None)
    wrapped: dict[str, Any] = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return wrapped if definitions is None else {**wrapped, "$defs": definitions}


def is_object(operation: Operation[Any]) -> bool:
    """Whether the data of an answer is always an object."""
    return data_schema(operation).get("type") == "object"


def data_schema(operation: Operation[Any]) -> dict[str, Any]:
    """Schema of the data in wire form; not to be changed."""
    return _schemas(operation.wire)[1]


def command(operation: Operation[Any], arguments: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """
    The command in wire form that a tool call stands for.

    Args:
        operation: the tool's operation.
        arguments: what the caller sent.
        place: where the arguments stand, for messages; a step of a transaction has one.

    Raises:
        StrataError: `invalid_argument.sdk.command` for bytes or JSON that cannot be read.
    """
    schema = _schemas(operation.wire)[0]
    if "type" in arguments:
        known = ", ".join(operation.fields) or "no fields"
        raise fail(COMMAND, f"there is no field `{place}type` ({operation.wire} takes {known})", field="type")
    required = schema.get("required", ())
    values = {}
    for name, value in arguments.items():
        if value is None and name not in required:
            continue
        field = schema["properties"].get(name)
        values[name] = value if field is None else _taken(value, field, schema.get("$defs", {}), place + name)
    if operation.id == TRANSACTION and isinstance(values.get("commands"), list):
        values["commands"] = [_step(step, index) for index, step in enumerate(values["commands"])]
    return {"type": operation.wire, **values}


def data(operation: Operation[Any], answer: Mapping[str, Any], chars_max: int | None = None) -> Any:
    """
    The data of an answer as models see it.

    Args:
        operation: what was done.
        answer: what came out, in wire form.
        chars_max: cut byte values that are longer.
    """
    schema = data_schema(operation)
    shown = _shown(answer["data"], schema, schema.get("$defs", {}), chars_max)
    if operation.id == TRANSACTION:
        shown["results"] = [_step_shown(step, chars_max) for step in answer["data"]["results"]]
    return shown


@cache
def _schemas(wire: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Wire schemas of a command's arguments and data; making them takes as long as many commands."""
    operation = catalogue()[wire]
    return operation.input_schema(), operation.output_schema()


@cache
def _schema_of_tag(tag: str) -> dict[str, Any]:
    """Schema of the data under a tag of answers; commands that share a tag share the schema."""
    return next((data_schema(operation) for operation in catalogue().values() if operation.tag == tag), {})


def _step(step: Any, index: int) -> Any:
    """One command of a transaction; what is no command is left to the transaction to refuse."""
    operation = catalogue().get(step["type"]) if isinstance(step, dict) and isinstance(step.get("type"), str) else None
    if operation is None:
        return step
    return command(operation, {name: value for name, value in step.items() if name != "type"}, f"commands[{index}].")


def _step_shown(step: Mapping[str, Any], chars_max: int | None) -> dict[str, Any]:
    schema = _schema_of_tag(step["type"])
    return {**step, "data": _shown(step["data"], schema, schema.get("$defs", {}), chars_max)}


# ---- arguments ----


def _taken(value: Any, field: dict[str, Any], definitions: dict[str, Any], name: str) -> Any:
    field = _resolved(field, definitions)
    if _is_bytes(field):
        return _wire_bytes(value, name)
    if isinstance(value, str) and not _admits_text(field, definitions):
        value = _parsed(value, field, definitions, name)
    if isinstance(value, list) and "items" in field:
        return [_taken(item, field["items"], definitions, f"{name}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict) and field.get("properties"):
        known = field["properties"]
        return {
            key: _taken(item, known[key], definitions, f"{name}.{key}") if key in known else item
            for key, item in value.items()
        }
    return value


def _wire_bytes(value: Any, name: str) -> Any:
    if isinstance(value, str):
        try:
            return b64encode(value.encode()).decode("ascii")
        except UnicodeEncodeError:
            raise fail(COMMAND, f"`{name}` holds half of a surrogate pair", field=name) from None
    if isinstance(value, dict) and set(value) <= {"base64", "size"} and isinstance(value.get("base64"), str):
        return value["base64"]
    if value is None or isinstance(value, list):
        return value
    given = "another object" if isinstance(value, dict) else "a number or boolean; put it in quotes"
    raise fail(COMMAND, f'`{name}` takes text, or {{"base64": "..."}} for other bytes, not {given}', field=name)


def _parsed(text: str, field: dict[str, Any], definitions: dict[str, Any], name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        expected = type_label(field, definitions)
        raise fail(COMMAND, f"`{name}` takes {expected}, and this text is no JSON", field=name) from None


def _admits_text(field: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Whether text is a legal value as it stands; a field without a type takes anything."""
    options = [_resolved(option, definitions) for option in field.get("anyOf", [field])]
    return any("enum" in option or option.get("type", "string") == "string" for option in options)


# ---- results ----


def readable(value: bytes, chars_max: int | None = None) -> str | dict[str, Any]:
    """Bytes as text where they are text; the beginning of them when they are longer than `chars_max`."""
    try:
        text, form = value.decode(), "text"
    except UnicodeDecodeError:
        text, form = b64encode(value).decode("ascii"), "base64"
    if chars_max is not None and len(text) > chars_max:
        return {form: text[: chars_max // 4 * 4], "size": len(value), "cut": True}
    return text if form == "text" else {form: text, "size": len(value)}


def _shown(value: Any, schema: dict[str, Any], definitions: dict[str, Any], chars_max: int | None) -> Any:
    schema = chosen(schema, definitions)
    if value is None:
        return None
    if schema.get("contentEncoding") == "base64" and isinstance(value, str):
        return readable(b64decode(value), chars_max)
    if isinstance(value, list) and "items" in schema:
        return [_shown(item, schema["items"], definitions, chars_max) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {
            key: _shown(item, known[key], definitions, chars_max) if key in known else item
            for key, item in value.items()
        }
    return value


# ---- schemas ----


def chosen(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, behind references and beside null."""
    schema = _resolved(schema, definitions)
    for option in schema.get("anyOf", ()):
        resolved = _resolved(option, definitions)
        if resolved.get("type") != "null":
            return resolved
    return schema


def _is_bytes(field: dict[str, Any]) -> bool:
    return any(option.get("contentEncoding") == "base64" for option in field.get("anyOf", [field]))


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    return schema


def _mapped(schema: Any, bytes_schema: dict[str, Any]) -> Any:
    """The schema with every byte string in this surface's form."""
    if isinstance(schema, list):
        return [_mapped(item, bytes_schema) for item in schema]
    if not isinstance(schema, dict):
        return schema
    options = schema.get("anyOf", [schema])
    if isinstance(options, list) and any(isinstance(o, dict) and o.get("contentEncoding") == "base64" for o in options):
        nullable = [{"type": "null"}] if {"type": "null"} in options else []
        rest = {name: item for name, item in schema.items() if name not in ("anyOf", "type", "contentEncoding")}
        return {"anyOf": [*bytes_schema["anyOf"], *nullable], **rest}
    return {name: _mapped(item, bytes_schema) for name, item in schema.items()}
