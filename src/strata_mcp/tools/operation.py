"""An operation: everything the surfaces need to offer one command. And the list of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from strata_mcp.errors import StrataError, fail
from strata_mcp.tools.fields import Args, Signed
from strata_mcp.tools.schema import arguments_schema, in_order, result_schema
from strata_mcp.tools.wire import encode

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from strata_mcp.engine import Engine
    from strata_mcp.results.common import JsonValue

A = TypeVar("A", bound=Args)

ALWAYS: Final = (
    "failed_precondition.sdk.handle_closed",
    "invalid_argument.executor.json_number",
    "invalid_argument.sdk.command",
)
"""Codes any command may answer with."""
BRANCH_ERRORS: Final = (
    "invalid_argument.engine.branch_name",
    "invalid_argument.engine.branch_name_reserved",
    "not_found.engine.branch",
)
SCOPE_ERRORS: Final = (
    *BRANCH_ERRORS,
    "invalid_argument.engine.product_space",
    "invalid_argument.engine.product_space_reserved",
)
PAST_ERRORS: Final = (
    "history_unavailable.engine.persistence_history",
    "invalid_argument.executor.as_of_conflict",
)
WRITE_ERRORS: Final = ("invalid_argument.engine.persistence",)
"""Keys, rows and commits over the limits."""
CHECKED_ERRORS: Final = (*WRITE_ERRORS, "conflict.engine.version")


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[A]):
    """
    One command.

    Attributes:
        id: `family.name`, the same on every surface.
        wire: its `type` in `db.execute`.
        tag: `type` of the answer.
        summary: one sentence.
        detail: what else a caller should know; when to use something else.
        args: what it takes.
        result: type of the answer's `data`, for the schema.
        run: does it, given the engine, the arguments and the branch and space to work in.
        access: `read` never writes.
        destructive: removes something from the present (the past stays readable).
        idempotent: doing it twice leaves what doing it once leaves.
        transactional: may be a step of `transaction.run`.
        errors: codes it may answer with, besides those of every command.
        example: a command that works on an empty database.
    """

    id: str
    wire: str
    tag: str
    summary: str
    args: type[A]
    result: Any
    run: Callable[[Engine, A, str, str], Any]
    example: dict[str, JsonValue]
    detail: str = ""
    access: Literal["read", "write"] = "read"
    destructive: bool = False
    idempotent: bool = True
    transactional: bool = False
    own_errors: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """First part of the id."""
        return self.id.partition(".")[0]

    @property
    def tool(self) -> str:
        """Name over MCP."""
        return "strata_" + self.id.replace(".", "_")

    @property
    def description(self) -> str:
        """Summary and detail."""
        return f"{self.summary} {self.detail}".strip()

    @property
    def errors(self) -> tuple[str, ...]:
        """Every code the command may answer with, sorted."""
        return tuple(sorted({*ALWAYS, *self.own_errors}))

    @property
    def fields(self) -> list[str]:
        """Names of the arguments, own ones first."""
        known = self.args.model_fields
        return in_order(known, [name for name, field in known.items() if field.is_required()])

    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return arguments_schema(self.args)

    def output_schema(self) -> dict[str, Any]:
        """JSON schema of the answer's `data`."""
        return result_schema(self.result)

    def parse(self, values: Mapping[str, JsonValue]) -> A:
        """
        Typed arguments of plain values.

        Raises:
            StrataError: `invalid_argument.sdk.command`, naming the field and what it takes.
        """
        try:
            return self.args.model_validate(dict(values))
        except ValidationError as error:
            raise self._refusal(error.errors(include_url=False)[0]) from None

    def call(self, engine: Engine, args: A, branch: str, space: str) -> Any:
        """Do it where the arguments say, or else on the given branch and space; the raw result."""
        branch = _chosen(args, "branch", branch)
        space = _chosen(args, "space", space)
        if isinstance(args, Signed) and (args.author is not None or args.message is not None):
            with engine.store.attribution(args.author, args.message):
                return self.run(engine, args, branch, space)
        return self.run(engine, args, branch, space)

    def answer(self, result: object) -> dict[str, JsonValue]:
        """A raw result in wire form."""
        return {"type": self.tag, "data": encode(result)}

    def _refusal(self, problem: ErrorDetails) -> StrataError:
        place = problem["loc"]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
        owner, fields = self._owner(place)
        name = str(place[-1]) if place else ""
        if problem["type"] == "missing":
            text = f"`{path}` is missing"
        elif problem["type"] == "extra_forbidden":
            close = get_close_matches(name, fields, 1)
            text = f"there is no field `{path}`" + (f"; did you mean `{close[0]}`?" if close else "")
        else:
            text = f"`{path}` takes {_expected(problem)}, not {_given(problem['input'])}"
        listed = ", ".join(fields) or "no fields"
        return fail("invalid_argument.sdk.command", f"{text} ({owner} takes {listed})", field=path, command=self.wire)

    def _owner(self, place: tuple[int | str, ...]) -> tuple[str, list[str]]:
        """Who refuses and which fields it has: the command, or an entry of one of its lists."""
        if len(place) == 3:
            for kind in get_args(self.args.model_fields[str(place[0])].annotation):
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    return "each entry", list(kind.model_fields)
        return self.wire, self.fields


def _chosen(args: Args, name: str, default: str) -> str:
    value = getattr(args, name, None)
    return value if isinstance(value, str) else default


EXPECTED: Final = {
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number from 0 to 2**64-1",
    "greater_than_equal": "a whole number from 0 to 2**64-1",
    "list_type": "an array",
    "string_type": "text",
    "dict_type": "an object",
    "model_type": "an object",
}


def _expected(problem: ErrorDetails) -> str:
    if problem["type"] == "literal_error":
        return f"one of {problem['ctx']['expected']}"
    return EXPECTED.get(problem["type"], problem["msg"])


def _given(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "...")
    return "an array" if isinstance(value, list) else "an object"


@cache
def catalogue() -> dict[str, Operation[Any]]:
    """Every operation by its wire name, sorted by id."""
    from strata_mcp.tools import admin, branch, json, json_batch, json_index, kv, space, tag, transaction

    families = (kv, json, json_batch, json_index, branch, space, tag, admin, transaction)
    operations = sorted((each for family in families for each in family.OPERATIONS), key=lambda each: each.id)
    return {each.wire: each for each in operations}


def find(wire: object) -> Operation[Any]:
    """
    The operation of a wire name.

    Raises:
        StrataError: `invalid_argument.sdk.command` when there is none.
    """
    known = catalogue()
    found = known.get(wire) if isinstance(wire, str) else None
    if found is not None:
        return found
    if wire is None:
        text = "`type` is missing; it names the command"
    elif not isinstance(wire, str):
        text = f"`type` takes the name of a command, not {_given(wire)}"
    else:
        close = get_close_matches(wire, known, 3)
        text = f"there is no command {_given(wire)}"
        text += f"; did you mean {', '.join(close)}?" if close else f"; there are {', '.join(known)}"
    raise fail("invalid_argument.sdk.command", text, field="type")
