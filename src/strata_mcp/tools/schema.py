"""JSON schemas of arguments and results, in wire form and without noise."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from strata_mcp.tools.fields import BASE64_SCHEMA, TRAILING
from strata_mcp.tools.wire import LEFT_OUT, RENAMED

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import core_schema


class WireSchema(GenerateJsonSchema):
    """Bytes are base64 text on the wire."""

    def bytes_schema(self, schema: core_schema.BytesSchema) -> dict[str, Any]:
        """Schema of a bytes field."""
        return dict(BASE64_SCHEMA)


def arguments_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Schema of what a command takes besides `type`."""
    schema: dict[str, Any] = _tidy(model.model_json_schema(schema_generator=WireSchema))
    properties = schema.setdefault("properties", {})
    ordered = in_order(properties, schema.get("required", ()))
    schema["properties"] = {name: _without_null(properties[name]) for name in ordered}
    schema.pop("description", None)
    return schema


def result_schema(kind: Any) -> dict[str, Any]:
    """Schema of `data` in the answer."""
    schema = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=WireSchema)
    for definition in (schema, *schema.get("$defs", {}).values()):
        _as_sent(definition)
    tidied: dict[str, Any] = _tidy(schema)
    return tidied


def in_order(names: Iterable[str], required: Collection[str]) -> list[str]:
    """An operation's own fields and required ones first, shared ones behind them."""
    known = list(names)
    shared = [name for name in TRAILING if name in known and name not in required]
    return [name for name in known if name not in shared] + shared


def type_label(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """A short name of a field's type, for tables."""
    if "$ref" in schema:
        return type_label(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in schema:
        labels = dict.fromkeys(type_label(option, definitions) for option in schema["anyOf"])
        return "bytes" if "base64" in labels else " or ".join(labels)
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {type_label(schema.get('items', {}), definitions)}"
    if kind == "object" and "properties" in schema:
        inner = (f"{name}: {type_label(item, definitions)}" for name, item in schema["properties"].items())
        return "{" + ", ".join(inner) + "}"
    if kind == "string":
        return "base64" if schema.get("contentEncoding") else "text"
    names = {"integer": "u64", "number": "number", "boolean": "bool", "object": "object", "null": "null"}
    return names.get(str(kind), "any JSON")


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """An optional field as models should see it: leave it out rather than send null, which is taken too."""
    options = [option for option in field.get("anyOf", []) if option != {"type": "null"}]
    if len(options) != 1:
        return field
    return {**options[0], **{name: item for name, item in field.items() if name != "anyOf"}}


def _as_sent(definition: dict[str, Any]) -> None:
    """Say which fields may be absent, and use the wire's names."""
    title = str(definition.get("title", "")).partition("[")[0]
    definition.pop("description", None)
    for old, new in RENAMED.get(title, {}).items():
        properties = definition["properties"]
        definition["properties"] = {new if name == old else name: item for name, item in properties.items()}
        definition["required"] = [new if name == old else name for name in definition["required"]]
    if title in LEFT_OUT and "required" in definition:
        definition["required"] = [name for name in definition["required"] if name not in LEFT_OUT[title]]


def _tidy(schema: Any) -> Any:
    """Drop generated titles and null defaults; properties may bear these names."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied: dict[str, Any] = {}
    for name, item in schema.items():
        if name in ("properties", "$defs"):
            tidied[name] = {key: _tidy(each) for key, each in item.items()}
        elif name in ("enum", "const", "required", "examples"):
            tidied[name] = item
        elif not (name == "title" or (name == "default" and item is None)):
            tidied[name] = _tidy(item)
    return tidied
