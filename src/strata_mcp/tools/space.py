"""Spaces: `space.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.tools import shapes
from strata_mcp.tools.fields import OnBranch, Signed
from strata_mcp.tools.operation import BRANCH_ERRORS, SCOPE_ERRORS, WRITE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

SPACE: Final = Field(description="name of the space")


class ListArgs(OnBranch):
    """Arguments of `space.list`."""


class ExistsArgs(OnBranch):
    """Arguments of `space.exists`."""

    space: str = SPACE


class CreateArgs(Signed, OnBranch):
    """Arguments of `space.create`."""

    space: str = SPACE


class DeleteArgs(Signed, OnBranch):
    """Arguments of `space.delete`."""

    space: str = SPACE
    force: bool = Field(False, description="remove what the space holds with it")


def _list(engine: Engine, _args: ListArgs, branch: str, _space: str) -> object:
    return engine.spaces.list(branch)


def _exists(engine: Engine, args: ExistsArgs, branch: str, _space: str) -> object:
    return engine.spaces.exists(branch, args.space)


def _create(engine: Engine, args: CreateArgs, branch: str, _space: str) -> object:
    return engine.spaces.create(branch, args.space)


def _delete(engine: Engine, args: DeleteArgs, branch: str, _space: str) -> object:
    return engine.spaces.delete(branch, args.space, args.force)


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="space.list",
        wire="space_list",
        tag="space_list",
        summary="List the spaces of a branch by name.",
        args=ListArgs,
        result=shapes.Page[str, str],
        run=_list,
        own_errors=BRANCH_ERRORS,
        example={"type": "space_list"},
    ),
    Operation(
        id="space.exists",
        wire="space_exists",
        tag="bool",
        summary="Tell whether a branch has a space.",
        args=ExistsArgs,
        result=bool,
        run=_exists,
        own_errors=SCOPE_ERRORS,
        example={"type": "space_exists", "space": "notes"},
    ),
    Operation(
        id="space.create",
        wire="space_create",
        tag="space_create_result",
        summary="Make a space; one that is there already is left alone.",
        detail="The first write into a space makes it too.",
        args=CreateArgs,
        result=shapes.SpaceCreateResult,
        run=_create,
        access="write",
        own_errors=(*SCOPE_ERRORS, *WRITE_ERRORS),
        example={"type": "space_create", "space": "notes"},
    ),
    Operation(
        id="space.delete",
        wire="space_delete",
        tag="space_delete_result",
        summary="Remove a space; with force also what it holds.",
        detail="Reads of the past still show it. `default` cannot be removed.",
        args=DeleteArgs,
        result=shapes.SpaceDeleteResult,
        run=_delete,
        access="write",
        destructive=True,
        own_errors=(
            *SCOPE_ERRORS,
            *WRITE_ERRORS,
            "failed_precondition.engine.space_not_empty",
            "invalid_argument.engine.space_delete_default",
        ),
        example={"type": "space_delete", "space": "notes", "force": True},
    ),
)
