"""
What models see of an operation: bytes as text, arguments forgiven, results that say what they are.

On this surface a byte string is plain text when it is UTF-8, and `{"base64": ...}` otherwise, in both
directions. JSON text is taken where only an object, array, number or boolean is legal; null is absent.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

from strata_mcp.errors import fail
from strata_mcp.tools.operation import Operation, find

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
            "properties": {"base64": {"type": "string"}, "size": {"type": "integer"}},
            "required": ["base64", "size"],
        },
    ]
}
"""Text, or {"base64": ..., "size": ...} for bytes that are no text."""
TRANSACTION: Final = "transaction.run"


def input_schema(operation: Operation[Any]) -> dict[str, Any]:
    """Schema of a tool's arguments."""
    schema: dict[str, Any] = _mapped(operation.input_schema(), BYTES_IN)
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
    return operation.output_schema().get("type") == "object"


def command(operation: Operation[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The command in wire form that a tool call stands for."""
    schema = operation.input_schema()
    definitions = schema.get("$defs", {})
    properties = schema["properties"]
    values = {}
    for name, value in arguments.items():
        if value is None:
            continue
        field = properties.get(name)
        values[name] = value if field is None else _taken(value, field, definitions, name)
    if operation.id == TRANSACTION and isinstance(values.get("commands"), list):
        values["commands"] = [_step(step) for step in values["commands"]]
    return {"type": operation.wire, **values}


def data(operation: Operation[Any], answer: Mapping[str, Any]) -> Any:
    """The data of an answer as models see it."""
    shown = _shown(answer["data"], operation.output_schema(), operation.output_schema().get("$defs", {}))
    if operation.id == TRANSACTION and isinstance(shown, dict):
        shown["results"] = [_step_shown(step) for step in answer["data"].get("results", [])]
    return shown


def _step(step: Any) -> Any:
    if isinstance(step, dict) and isinstance(step.get("type"), str):
        operation = find(step["type"])
        return command(operation, {name: value for name, value in step.items() if name != "type"})
    return step


def _step_shown(step: Any) -> Any:
    for wire in (step.get("command"), step.get("type")):
        if isinstance(wire, str):
            schema = _schema_of_tag(wire)
            if schema is not None:
                return {**step, "data": _shown(step.get("data"), schema, schema.get("$defs", {}))}
    return step


def _schema_of_tag(tag: str) -> dict[str, Any] | None:
    from strata_mcp.tools.operation import catalogue

    for operation in catalogue().values():
        if operation.tag == tag:
            return operation.output_schema()
    return None


# ---- arguments ----


def _taken(value: Any, field: dict[str, Any], definitions: dict[str, Any], name: str) -> Any:
    field = _resolved(field, definitions)
    if _is_bytes(field):
        return _wire_bytes(value, name)
    if isinstance(value, str) and not _admits_text(field, definitions):
        value = _parsed(value, name)
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
            raise fail("invalid_argument.sdk.command", f"`{name}` holds a lone surrogate", field=name) from None
    if isinstance(value, dict) and set(value) <= {"base64", "size"} and isinstance(value.get("base64"), str):
        return value["base64"]
    if isinstance(value, int | float | bool):
        raise fail(
            "invalid_argument.sdk.command",
            f"`{name}` takes text, or an object with base64 for other bytes; put the number in quotes",
            field=name,
        )
    return value


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise fail("invalid_argument.sdk.command", f"`{name}` takes JSON, and this text is none", field=name) from None


def _admits_text(field: dict[str, Any], definitions: dict[str, Any]) -> bool:
    options = [_resolved(option, definitions) for option in field.get("anyOf", [field])]
    return any(
        "enum" in option or option.get("type", "string") == "string" or "string" in option.get("type", ())
        for option in options
    )


# ---- results ----


def _shown(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    schema = _resolved(schema, definitions)
    if value is None:
        return None
    if schema.get("contentEncoding") == "base64" and isinstance(value, str):
        return readable(b64decode(value))
    for option in schema.get("anyOf", ()):
        resolved = _resolved(option, definitions)
        if resolved.get("type") != "null":
            return _shown(value, resolved, definitions)
    if isinstance(value, list) and "items" in schema:
        return [_shown(item, schema["items"], definitions) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {key: _shown(item, known[key], definitions) if key in known else item for key, item in value.items()}
    return value


def readable(value: bytes) -> str | dict[str, Any]:
    """Bytes as text where they are text."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii"), "size": len(value)}


# ---- schemas ----


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
