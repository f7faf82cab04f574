"""The command index: the catalogue as data, for programs and for the reference."""

from __future__ import annotations

from typing import Any, Final

from strata_mcp import __version__
from strata_mcp.errors import DOCS_PAGE
from strata_mcp.results.common import JsonValue
from strata_mcp.tools import shapes
from strata_mcp.tools.operation import Operation, catalogue
from strata_mcp.tools.schema import type_label

SCHEMA_VERSION: Final = "strata.idl.v1"


def command_index() -> dict[str, JsonValue]:
    """Every command with its names, arguments, result, errors and an example."""
    return {
        "generated": True,
        "schema_version": SCHEMA_VERSION,
        "generator_version": f"strata-mcp {__version__}",
        "commands": [entry(operation) for operation in catalogue().values()],
    }


def entry(operation: Operation[Any]) -> dict[str, JsonValue]:
    """One command of the index."""
    shape = operation.result if isinstance(operation.result, type) else None
    return {
        "id": operation.id,
        "family": operation.family,
        "op": operation.id.partition(".")[2],
        "wire": operation.wire,
        "summary": operation.summary,
        "description": operation.description,
        "access": operation.access,
        "destructive": operation.destructive,
        "idempotent": operation.idempotent,
        "mcp": {"name": operation.tool, "description": operation.description},
        "params": parameters(operation),
        "output": operation.tag,
        "response_model": result_label(operation.result),
        "pagination": "cursor" if shape is not None and issubclass(shape, shapes.Page) else "none",
        "batch": "itemwise" if shape is not None and issubclass(shape, shapes.Batch) else "none",
        "commit": "none" if operation.access == "read" else "commits_on_success",
        "errors": [{"code": code, "docs": f"{DOCS_PAGE}#{code}"} for code in operation.errors],
        "example": operation.example,
    }


def parameters(operation: Operation[Any]) -> list[JsonValue]:
    """Arguments of an operation, in order."""
    schema = operation.input_schema()
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "type": type_label(item, schema.get("$defs", {})),
            "required": name in required,
            "default": item.get("default"),
            "notes": item.get("description", ""),
        }
        for name, item in schema["properties"].items()
    ]


def result_label(kind: Any) -> str:
    """Name of a result type: its class, without modules."""
    if isinstance(kind, type) and "[" not in repr(kind):
        return kind.__name__
    if isinstance(kind, type) and issubclass(kind, shapes.Shape):
        return kind.__name__
    text = repr(kind)
    for word in sorted(set(text.replace("[", " ").replace("]", " ").replace("|", " ").split()), key=len, reverse=True):
        text = text.replace(word, word.rpartition(".")[2] or word)
    return text.replace("NoneType", "null").replace("None", "null")
