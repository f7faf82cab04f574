"""Branches: `branch.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import Field

from strata_mcp.results.branches import (
    BranchComparisonItem,
    BranchItem,
    BranchPreviewItem,
    CommitItem,
    PromotionOutcomeItem,
)
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import Args, Natural, OnBranch, OptionalLimit, OptionalNatural, Signed
from strata_mcp.tools.operation import BRANCH_ERRORS, WRITE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

Strategy: TypeAlias = Literal["strict", "source_wins", "target_wins"]

LOG_LIMIT: Final = 100
SOURCE: Final = Field(description="the branch to take from")
NEW: Final = Field(description="name of the new branch")
STRATEGY: Final[Any] = Field(
    "strict",
    description="when both sides changed a key: strict refuses and writes nothing, source_wins and target_wins decide",
)
HISTORY: Final = "history_unavailable.engine.persistence_history"
TAKEN: Final = "already_exists.engine.branch"
POINT: Final = "invalid_argument.engine.branch_point"
CONFLICT: Final = "conflict.engine.promotion"
COMMIT: Final = "not_found.engine.commit"


class NoArgs(Args):
    """Arguments of `branch.list`: none."""


class GetArgs(Args):
    """Arguments of `branch.get`."""

    branch: str = Field(description="name of the branch")


class CreateArgs(Signed):
    """Arguments of `branch.create`."""

    branch: str = NEW


class DeleteArgs(Signed):
    """Arguments of `branch.delete`."""

    branch: str = Field(description="the branch to remove")


class ForkArgs(Signed):
    """Arguments of `branch.fork`."""

    source: str = SOURCE
    branch: str = NEW


class ForkAtVersionArgs(ForkArgs):
    """Arguments of `branch.fork_at_version`."""

    version: Natural = Field(description="a commit of the source, as branch.log lists them")


class ForkAtTimestampArgs(ForkArgs):
    """Arguments of `branch.fork_at_timestamp`."""

    timestamp: Natural = Field(description="a position of the commit counter within the source's history")


class DiffArgs(Args):
    """Arguments of `branch.diff`."""

    branch_a: str = Field(description="the branch to start from")
    branch_b: str = Field(description="the branch to arrive at")
    at_timestamp: OptionalNatural = Field(None, description="compare both as they were at this commit number")


class PreviewArgs(Args):
    """Arguments of `branch.preview`."""

    source: str = SOURCE
    target: str = Field(description="the branch that would get the changes")
    strategy: Strategy = STRATEGY


class MergeArgs(Signed):
    """Arguments of `branch.merge`."""

    source: str = SOURCE
    target: str = Field(description="the branch that gets the changes")
    strategy: Strategy = STRATEGY


class LogArgs(OnBranch):
    """Arguments of `branch.log`."""

    limit: OptionalLimit = Field(None, description=f"commits per page; {LOG_LIMIT} without it")
    cursor: OptionalNatural = Field(None, description="cursor of the page before; older commits follow")


class RevertArgs(Signed, OnBranch):
    """Arguments of `branch.revert`."""

    version: Natural = Field(description="the commit to undo")
    strategy: Strategy = STRATEGY


class CherryPickArgs(Signed, OnBranch):
    """Arguments of `branch.cherry_pick`."""

    source: str = SOURCE
    version: Natural = Field(description="the commit of the source to apply")
    strategy: Strategy = STRATEGY


def _list(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.branches.list()


def _get(engine: Engine, args: GetArgs, _branch: str, _space: str) -> object:
    return engine.branches.get(args.branch)


def _create(engine: Engine, args: CreateArgs, _branch: str, _space: str) -> object:
    return engine.branches.create(args.branch)


def _delete(engine: Engine, args: DeleteArgs, _branch: str, _space: str) -> object:
    return engine.branches.delete(args.branch)


def _fork(engine: Engine, args: ForkArgs, _branch: str, _space: str) -> object:
    return engine.branches.fork(args.source, args.branch)


def _fork_at_version(engine: Engine, args: ForkAtVersionArgs, _branch: str, _space: str) -> object:
    return engine.branches.fork_at_version(args.source, args.branch, args.version)


def _fork_at_timestamp(engine: Engine, args: ForkAtTimestampArgs, _branch: str, _space: str) -> object:
    return engine.branches.fork_at_timestamp(args.source, args.branch, args.timestamp)


def _diff(engine: Engine, args: DiffArgs, _branch: str, _space: str) -> object:
    return engine.branches.diff(args.branch_a, args.branch_b, args.at_timestamp)


def _preview(engine: Engine, args: PreviewArgs, _branch: str, _space: str) -> object:
    return engine.branches.preview(args.source, args.target, args.strategy)


def _merge(engine: Engine, args: MergeArgs, _branch: str, _space: str) -> object:
    return engine.branches.merge(args.source, args.target, args.strategy)


def _log(engine: Engine, args: LogArgs, branch: str, _space: str) -> object:
    return engine.branches.log(branch, LOG_LIMIT if args.limit is None else args.limit, args.cursor)


def _revert(engine: Engine, args: RevertArgs, branch: str, _space: str) -> object:
    return engine.branches.revert(branch, args.version, args.strategy)


def _cherry_pick(engine: Engine, args: CherryPickArgs, branch: str, _space: str) -> object:
    return engine.branches.cherry_pick(args.source, args.version, branch, args.strategy)


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="branch.list",
        wire="branch_list",
        tag="branches",
        summary="List every branch by name, with where it was forked from.",
        args=NoArgs,
        result=shapes.Page[BranchItem, str],
        run=_list,
        example={"type": "branch_list"},
    ),
    Operation(
        id="branch.get",
        wire="branch_get",
        tag="branch",
        summary="Describe one branch.",
        args=GetArgs,
        result=BranchItem,
        run=_get,
        own_errors=BRANCH_ERRORS,
        example={"type": "branch_get", "branch": "default"},
    ),
    Operation(
        id="branch.create",
        wire="branch_create",
        tag="branch",
        summary="Make an empty branch, related to no other.",
        detail="To try something out on existing data, use branch.fork.",
        args=CreateArgs,
        result=BranchItem,
        run=_create,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, TAKEN),
        example={"type": "branch_create", "branch": "scratch"},
    ),
    Operation(
        id="branch.fork",
        wire="branch_fork_current",
        tag="branch",
        summary="Make a branch that starts as another one is now.",
        detail="Nothing is copied: it takes the same instant whatever the size. Bring changes back with branch.merge.",
        args=ForkArgs,
        result=BranchItem,
        run=_fork,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, TAKEN),
        example={"type": "branch_fork_current", "source": "default", "branch": "try"},
    ),
    Operation(
        id="branch.fork_at_version",
        wire="branch_fork_at_version",
        tag="branch",
        summary="Make a branch that starts as another one was behind one of its commits.",
        args=ForkAtVersionArgs,
        result=BranchItem,
        run=_fork_at_version,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, TAKEN, HISTORY),
        example={"type": "branch_fork_at_version", "source": "default", "branch": "before", "version": 1},
    ),
    Operation(
        id="branch.fork_at_timestamp",
        wire="branch_fork_at_timestamp",
        tag="branch",
        summary="Make a branch that starts as another one was at a position of the commit counter.",
        args=ForkAtTimestampArgs,
        result=BranchItem,
        run=_fork_at_timestamp,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, TAKEN, HISTORY),
        example={"type": "branch_fork_at_timestamp", "source": "default", "branch": "then", "timestamp": 1},
    ),
    Operation(
        id="branch.delete",
        wire="branch_delete",
        tag="branch_delete_result",
        summary="Remove a branch; it cannot be read afterwards, not in the past either.",
        detail="A database on disk refuses while forks of it are alive.",
        args=DeleteArgs,
        result=shapes.BranchDeleteResult,
        run=_delete,
        access="write",
        destructive=True,
        idempotent=False,
        own_errors=(
            *BRANCH_ERRORS,
            "failed_precondition.engine.branch_has_children",
            "invalid_argument.engine.branch_delete",
        ),
        example={"type": "branch_delete", "branch": "try"},
    ),
    Operation(
        id="branch.diff",
        wire="branch_diff",
        tag="branch_comparison",
        summary="List the keys that were added, removed and modified from one branch to another.",
        detail="Identities are base64 of the key.",
        args=DiffArgs,
        result=BranchComparisonItem,
        run=_diff,
        own_errors=(*BRANCH_ERRORS, HISTORY),
        example={"type": "branch_diff", "branch_a": "default", "branch_b": "default"},
    ),
    Operation(
        id="branch.preview",
        wire="branch_preview",
        tag="branch_preview",
        summary="Show the conflicts a merge would meet, without merging.",
        args=PreviewArgs,
        result=BranchPreviewItem,
        run=_preview,
        own_errors=(*BRANCH_ERRORS, POINT),
        example={"type": "branch_preview", "source": "try", "target": "default"},
    ),
    Operation(
        id="branch.merge",
        wire="branch_merge",
        tag="branch_merge",
        summary="Bring what changed on one branch onto a related one, in one commit.",
        detail="Three-way, by key. Look at branch.preview first when others write too.",
        args=MergeArgs,
        result=PromotionOutcomeItem,
        run=_merge,
        access="write",
        own_errors=(*BRANCH_ERRORS, *WRITE_ERRORS, POINT, CONFLICT),
        example={"type": "branch_merge", "source": "try", "target": "default"},
    ),
    Operation(
        id="branch.log",
        wire="branch_log",
        tag="commits",
        summary="List the commits of a branch, newest first: who, when, why, and which keys.",
        detail="Inherited commits are included. Pass `cursor` on while `has_more`.",
        args=LogArgs,
        result=shapes.Page[CommitItem, int],
        run=_log,
        own_errors=BRANCH_ERRORS,
        example={"type": "branch_log", "limit": 10},
    ),
    Operation(
        id="branch.revert",
        wire="branch_revert",
        tag="branch_revert",
        summary="Undo one commit by a new commit that restores what it changed.",
        detail="Later changes of other keys stay; a later change of the same key is a conflict.",
        args=RevertArgs,
        result=PromotionOutcomeItem,
        run=_revert,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, *WRITE_ERRORS, COMMIT, "conflict.engine.revert"),
        example={"type": "branch_revert", "version": 3},
    ),
    Operation(
        id="branch.cherry_pick",
        wire="branch_cherry_pick",
        tag="branch_cherry_pick",
        summary="Apply one commit of a branch to another branch, as a new commit.",
        detail="`branch` is the one that gets it.",
        args=CherryPickArgs,
        result=PromotionOutcomeItem,
        run=_cherry_pick,
        access="write",
        idempotent=False,
        own_errors=(*BRANCH_ERRORS, *WRITE_ERRORS, COMMIT, CONFLICT),
        example={"type": "branch_cherry_pick", "source": "default", "version": 3, "branch": "try"},
    ),
)
