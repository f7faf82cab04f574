"""Tags: `tag.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.results.branches import TagItem
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import Args, OnBranch, OptionalNatural, Signed
from strata_mcp.tools.operation import BRANCH_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

TAG: Final = Field(description="name of the tag")
NAME: Final = "invalid_argument.engine.tag_name"


class NoArgs(Args):
    """Arguments of `tag.list`: none."""


class GetArgs(Args):
    """Arguments of `tag.get`."""

    tag: str = TAG


class CreateArgs(Signed, OnBranch):
    """Arguments of `tag.create`."""

    tag: str = TAG
    version: OptionalNatural = Field(None, description="the commit number to name; the branch's newest without it")


class DeleteArgs(Signed):
    """Arguments of `tag.delete`."""

    tag: str = TAG


def _list(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.tags.list()


def _get(engine: Engine, args: GetArgs, _branch: str, _space: str) -> object:
    return engine.tags.get(args.tag)


def _create(engine: Engine, args: CreateArgs, branch: str, _space: str) -> object:
    return engine.tags.create(args.tag, branch, args.version, args.message or "")


def _delete(engine: Engine, args: DeleteArgs, _branch: str, _space: str) -> object:
    return engine.tags.delete(args.tag)


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="tag.list",
        wire="tag_list",
        tag="tags",
        summary="List every tag by name.",
        args=NoArgs,
        result=shapes.Page[TagItem, str],
        run=_list,
        example={"type": "tag_list"},
    ),
    Operation(
        id="tag.get",
        wire="tag_get",
        tag="tag",
        summary="Look up a tag: its branch and commit number.",
        detail="Read at it with `as_of` set to its version.",
        args=GetArgs,
        result=TagItem,
        run=_get,
        own_errors=(NAME, "not_found.engine.tag"),
        example={"type": "tag_get", "tag": "v1"},
    ),
    Operation(
        id="tag.create",
        wire="tag_create",
        tag="tag",
        summary="Give a moment of a branch a name that never moves.",
        detail="Good before a risky change: reads and forks can go back to it.",
        args=CreateArgs,
        result=TagItem,
        run=_create,
        access="write",
        idempotent=False,
        own_errors=(
            *BRANCH_ERRORS,
            NAME,
            "already_exists.engine.tag",
            "history_unavailable.engine.persistence_history",
        ),
        example={"type": "tag_create", "tag": "v1"},
    ),
    Operation(
        id="tag.delete",
        wire="tag_delete",
        tag="bool",
        summary="Remove a tag, never the commit it names; false when there was none.",
        args=DeleteArgs,
        result=bool,
        run=_delete,
        access="write",
        destructive=True,
        own_errors=(NAME,),
        example={"type": "tag_delete", "tag": "v1"},
    ),
)
