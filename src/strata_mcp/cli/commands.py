"""Commands of one database, one per operation: required fields are arguments, the others options."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from strata_mcp.cli.session import Session, instant
from strata_mcp.tools.operation import Operation, catalogue

JSON_OPTION: Final = Annotated[bool, typer.Option("--json", help="print JSON, errors too")]


def add_operations(app: typer.Typer) -> None:
    """Give an app a group per family and a command per operation."""
    groups: dict[str, typer.Typer] = {}
    for operation in catalogue().values():
        family, *rest = operation.id.split(".")
        group = groups.get(family)
        if group is None:
            group = groups[family] = typer.Typer(no_args_is_help=True, help=f"Commands of the family {family}.")
            app.add_typer(group, name=family)
        group.command("-".join(rest).replace("_", "-"), help=operation.description)(_command(operation))


def _command(operation: Operation[Any]) -> Callable[..., None]:
    schema = operation.input_schema()
    required = set(schema.get("required", ()))
    parameters = [inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    has_bytes = False
    for name, field in schema["properties"].items():
        has_bytes = has_bytes or "contentEncoding" in json.dumps(field)
        parameters.append(_parameter(name, field, is_required=name in required))
    if has_bytes:
        option = Annotated[bool, typer.Option("--base64", help="keys and values are base64 text")]
        parameters.append(inspect.Parameter("base64", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option))
    parameters.append(
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JSON_OPTION)
    )

    def run(context: typer.Context, **given: Any) -> None:
        session: Session = context.obj
        session.as_json = bool(given.pop("as_json", False)) or session.as_json
        is_base64 = bool(given.pop("base64", False))
        arguments = {
            name: _value(value, schema["properties"][name], is_base64=is_base64)
            for name, value in given.items()
            if value is not None and value != []
        }
        if "as_of_time" in arguments:
            arguments["as_of_time"] = instant(arguments["as_of_time"])
        raise typer.Exit(session.run(operation, arguments))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads the signature
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = operation.description
    return run


def _parameter(name: str, field: dict[str, Any], *, is_required: bool) -> inspect.Parameter:
    help_text = field.get("description", "")
    kind = field.get("type")
    if kind == "boolean":
        info = typer.Option(f"--{name.replace('_', '-')}/--no-{name.replace('_', '-')}", help=help_text)
        annotation: Any = Annotated[bool | None, info]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    is_list = (
        kind == "array" and field.get("items", {}).get("type") != "object" and "$ref" not in field.get("items", {})
    )
    if is_required:
        annotation = Annotated[list[str] if is_list else str, typer.Argument(help=help_text)]
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
    annotation = Annotated[list[str] | None if is_list else str | None, typer.Option(help=help_text)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _value(value: Any, field: dict[str, Any], *, is_base64: bool) -> Any:
    if isinstance(value, list):
        return [_value(item, field.get("items", {}), is_base64=is_base64) for item in value]
    if not isinstance(value, str):
        return value
    if "contentEncoding" in json.dumps(field.get("anyOf", field)):
        return {"base64": value} if is_base64 else value
    if not any(name in field for name in ("type", "anyOf", "enum", "$ref")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
