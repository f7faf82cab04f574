"""The database as a whole: `admin.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from pydantic import Field

from strata_mcp.errors import fail
from strata_mcp.results.admin import (
    AdminConfig,
    AdminDatabaseInfo,
    AdminDescribe,
    AdminHealth,
    AdminIpcStatus,
    AdminIpcStop,
    AdminMetrics,
    AdminPing,
    AdminStorage,
    AdminVerify,
)
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import Args, InSpace, OnBranch, OptionalText
from strata_mcp.tools.operation import BRANCH_ERRORS, SCOPE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

NOT_ON_DISK: Final = "unsupported.engine.persistence_capability"


class NoArgs(Args):
    """No arguments."""


class BranchArgs(OnBranch):
    """Arguments of reports about a branch."""


class DescribeArgs(InSpace):
    """Arguments of `admin.describe`."""


class ConfigKeyArgs(Args):
    """Arguments of `admin.config_key`."""

    key: str = Field(description="target, created, durable or default_branch")


class StorageArgs(OnBranch):
    """Arguments of `admin.storage`."""

    audit: bool = Field(False, description="look at every file; slower, and tells more")


class HubCloneArgs(Args):
    """Arguments of `admin.hub_clone`."""

    dataset: str = Field(description="name of the data set")
    dest: str = Field(description="folder for the copy")
    hub_url: OptionalText = Field(None, description="address of the hub; the configured one without it")
    branch: OptionalText = Field(None, description="branch of the data set; its main one without it")


def _ping(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.ping()


def _info(engine: Engine, _args: BranchArgs, branch: str, _space: str) -> object:
    return engine.admin.info(branch)


def _health(engine: Engine, _args: BranchArgs, branch: str, _space: str) -> object:
    return engine.admin.health(branch)


def _metrics(engine: Engine, _args: BranchArgs, branch: str, _space: str) -> object:
    return engine.admin.metrics(branch)


def _describe(engine: Engine, _args: DescribeArgs, branch: str, space: str) -> object:
    return engine.admin.describe(branch, space)


def _config(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.config()


def _config_key(engine: Engine, args: ConfigKeyArgs, _branch: str, _space: str) -> object:
    return engine.admin.config_value(args.key)


def _storage(engine: Engine, args: StorageArgs, branch: str, _space: str) -> object:
    return engine.admin.storage(branch, audit=args.audit)


def _ipc_status(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.ipc_status()


def _ipc_stop(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.ipc_stop()


def _remote(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return {"origin": engine.admin.remote()}


def _checkpoint(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.checkpoint()


def _compact(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.compact()


def _verify(engine: Engine, _args: NoArgs, _branch: str, _space: str) -> object:
    return engine.admin.verify()


def _hub_clone(_engine: Engine, args: HubCloneArgs, _branch: str, _space: str) -> NoReturn:
    if not args.dataset.strip():
        raise fail("invalid_argument.executor.hub_dataset", field="dataset")
    if args.branch is not None and not args.branch.strip():
        raise fail("invalid_argument.executor.hub_branch", field="branch")
    raise fail("unsupported.executor.hub_feature_disabled")


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="admin.ping",
        wire="ping",
        tag="pong",
        summary="Answer with the version of Strata.",
        args=NoArgs,
        result=AdminPing,
        run=_ping,
        example={"type": "ping"},
    ),
    Operation(
        id="admin.info",
        wire="info",
        tag="database_info",
        summary="Tell what kind of database this is, how many branches and spaces it has, and its memory budget.",
        args=BranchArgs,
        result=AdminDatabaseInfo,
        run=_info,
        own_errors=BRANCH_ERRORS,
        example={"type": "info"},
    ),
    Operation(
        id="admin.health",
        wire="health",
        tag="health",
        summary="Tell whether the parts of the database are sound.",
        detail="A branch that does not exist is reported as unhealthy; it is no error here.",
        args=BranchArgs,
        result=AdminHealth,
        run=_health,
        example={"type": "health"},
    ),
    Operation(
        id="admin.metrics",
        wire="metrics",
        tag="metrics",
        summary="Give the counts that monitoring wants.",
        args=BranchArgs,
        result=AdminMetrics,
        run=_metrics,
        own_errors=BRANCH_ERRORS,
        example={"type": "metrics"},
    ),
    Operation(
        id="admin.describe",
        wire="describe",
        tag="described",
        summary="Tell what is here: branches, spaces, how much of what, and what this release can do.",
        detail="The first call to make on a database you do not know.",
        args=DescribeArgs,
        result=AdminDescribe,
        run=_describe,
        own_errors=SCOPE_ERRORS,
        example={"type": "describe"},
    ),
    Operation(
        id="admin.config",
        wire="config_get",
        tag="config",
        summary="Tell how the database was opened.",
        args=NoArgs,
        result=AdminConfig,
        run=_config,
        example={"type": "config_get"},
    ),
    Operation(
        id="admin.config_key",
        wire="configure_get_key",
        tag="config_value",
        summary="Give one value of the configuration as text; null for an unknown key.",
        args=ConfigKeyArgs,
        result=str | None,
        run=_config_key,
        own_errors=("invalid_argument.engine.config_key",),
        example={"type": "configure_get_key", "key": "target"},
    ),
    Operation(
        id="admin.storage",
        wire="storage",
        tag="storage",
        summary="Tell what the database takes up on disk.",
        args=StorageArgs,
        result=AdminStorage,
        run=_storage,
        own_errors=(*BRANCH_ERRORS, NOT_ON_DISK),
        example={"type": "storage"},
    ),
    Operation(
        id="admin.ipc_status",
        wire="ipc_status",
        tag="ipc_status",
        summary="Tell who serves the database to other processes.",
        detail="Every process opens it by itself, so each is its own owner.",
        args=NoArgs,
        result=AdminIpcStatus,
        run=_ipc_status,
        example={"type": "ipc_status"},
    ),
    Operation(
        id="admin.ipc_stop",
        wire="ipc_stop",
        tag="ipc_stop",
        summary="Stop saying that this handle serves other processes; they go on unhindered.",
        args=NoArgs,
        result=AdminIpcStop,
        run=_ipc_stop,
        access="write",
        example={"type": "ipc_stop"},
    ),
    Operation(
        id="admin.remote",
        wire="remote_get",
        tag="remote_origin_result",
        summary="Tell where the database was cloned from; null for one that was made here.",
        args=NoArgs,
        result=shapes.Origin,
        run=_remote,
        example={"type": "remote_get"},
    ),
    Operation(
        id="admin.hub_clone",
        wire="hub_clone",
        tag="hub_clone_result",
        summary="Copy a data set from a hub into a new folder. Not in this release: it always refuses.",
        args=HubCloneArgs,
        result=None,
        run=_hub_clone,
        access="write",
        idempotent=False,
        own_errors=(
            "invalid_argument.executor.hub_branch",
            "invalid_argument.executor.hub_dataset",
            "unsupported.executor.hub_feature_disabled",
        ),
        example={"type": "hub_clone", "dataset": "titanic", "dest": "titanic.strata"},
    ),
    Operation(
        id="admin.checkpoint",
        wire="checkpoint",
        tag="checkpoint",
        summary="Move what the journal holds into the Lance tables now, and wait for it.",
        detail="Happens by itself; ask for it before reading the tables with another program.",
        args=NoArgs,
        result=shapes.Upkeep,
        run=_checkpoint,
        access="write",
        own_errors=(NOT_ON_DISK,),
        example={"type": "checkpoint"},
    ),
    Operation(
        id="admin.compact",
        wire="compact",
        tag="compact",
        summary="Rewrite the Lance tables into few sorted files, and wait for it.",
        args=NoArgs,
        result=shapes.Upkeep,
        run=_compact,
        access="write",
        own_errors=(NOT_ON_DISK,),
        example={"type": "compact"},
    ),
    Operation(
        id="admin.verify",
        wire="verify",
        tag="verify",
        summary="Read every byte of the Lance tables and compare it with what was written.",
        detail="Slow on purpose; admin.health is the quick look.",
        args=NoArgs,
        result=AdminVerify,
        run=_verify,
        own_errors=(NOT_ON_DISK,),
        example={"type": "verify"},
    ),
)
