"""Indexes over JSON documents: `json.index.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from strata_mcp.results.documents import JsonIndexDefinition
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import ReadArgs, WriteArgs
from strata_mcp.tools.json import PATH_ERRORS
from strata_mcp.tools.operation import SCOPE_ERRORS, WRITE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

INDEX_NAME: Final = (
    "invalid_argument.engine.json_index_name",
    "invalid_argument.engine.json_index_name_reserved",
)


class CreateIndexArgs(WriteArgs):
    """Arguments of `json.index.create`."""

    name: str = Field(description="name of the index, unique in the space")
    field_path: str = Field(description="the path to index")
    index_type: Literal["numeric", "tag", "text"] = Field(description="what kind of values the path holds")


class DropIndexArgs(WriteArgs):
    """Arguments of `json.index.drop`."""

    name: str = Field(description="name of the index")


class SpaceArgs(ReadArgs):
    """Arguments of `json.index.list`."""


def _create_index(engine: Engine, args: CreateIndexArgs, branch: str, space: str) -> object:
    return engine.json.create_index(branch, space, args.name, args.field_path, args.index_type)


def _drop_index(engine: Engine, args: DropIndexArgs, branch: str, space: str) -> object:
    return engine.json.drop_index(branch, space, args.name)


def _list_indexes(engine: Engine, _args: SpaceArgs, branch: str, space: str) -> object:
    return engine.json.list_indexes(branch, space)


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="json.index.create",
        wire="json_create_index",
        tag="json_index_definition",
        summary="Declare an index over one path of a space's documents.",
        args=CreateIndexArgs,
        result=JsonIndexDefinition,
        run=_create_index,
        access="write",
        idempotent=False,
        own_errors=(*PATH_ERRORS, *INDEX_NAME, *WRITE_ERRORS, "already_exists.engine.json_index"),
        example={"type": "json_create_index", "name": "by_plan", "field_path": "plan", "index_type": "tag"},
    ),
    Operation(
        id="json.index.drop",
        wire="json_drop_index",
        tag="bool",
        summary="Remove an index, never the documents; false when there was none.",
        args=DropIndexArgs,
        result=bool,
        run=_drop_index,
        access="write",
        destructive=True,
        own_errors=(*SCOPE_ERRORS, *INDEX_NAME, *WRITE_ERRORS),
        example={"type": "json_drop_index", "name": "by_plan"},
    ),
    Operation(
        id="json.index.list",
        wire="json_list_indexes",
        tag="json_index_list",
        summary="List the indexes of a space.",
        args=SpaceArgs,
        result=shapes.Page[JsonIndexDefinition, str],
        run=_list_indexes,
        own_errors=SCOPE_ERRORS,
        example={"type": "json_list_indexes"},
    ),
)
