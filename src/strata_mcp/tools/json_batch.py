"""Batches of JSON documents: `json.batch_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.results.documents import BatchExistsPresence, JsonBatchItemResult
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import Args, PastArgs, ReadArgs, WriteArgs
from strata_mcp.tools.json import CLASH, ID_ERRORS, PATH_ERRORS, VALUE_ERRORS
from strata_mcp.tools.operation import PAST_ERRORS, WRITE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

REPEATED: Final = "invalid_argument.executor.json_batch_duplicate_key"


class SetEntry(Args):
    """One write of `json.batch_set`."""

    key: str
    path: str
    value: Any


class Target(Args):
    """One place in one document."""

    key: str
    path: str


class BatchSetArgs(WriteArgs):
    """Arguments of `json.batch_set`."""

    entries: list[SetEntry] = Field(description="the writes; those of one document apply in order")


class BatchGetArgs(PastArgs):
    """Arguments of `json.batch_get`."""

    entries: list[Target] = Field(description="the places to read")


class BatchDeleteArgs(WriteArgs):
    """Arguments of `json.batch_delete`."""

    entries: list[Target] = Field(description="the places to delete; each once")


class KeysArgs(ReadArgs):
    """Arguments of `json.batch_exists`."""

    keys: list[str] = Field(description="ids of the documents")


def _batch_set(engine: Engine, args: BatchSetArgs, branch: str, space: str) -> object:
    entries = [(entry.key, entry.path, entry.value) for entry in args.entries]
    return engine.json.batch_set(branch, space, entries)


def _batch_get(engine: Engine, args: BatchGetArgs, branch: str, space: str) -> object:
    targets = [(entry.key, entry.path) for entry in args.entries]
    return engine.json.batch_get(branch, space, targets, as_of=args.as_of, as_of_time=args.as_of_time)


def _batch_delete(engine: Engine, args: BatchDeleteArgs, branch: str, space: str) -> object:
    targets = [(entry.key, entry.path) for entry in args.entries]
    return engine.json.batch_delete(branch, space, targets)


def _batch_exists(engine: Engine, args: KeysArgs, branch: str, space: str) -> object:
    return engine.json.batch_exists(branch, space, args.keys)


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="json.batch_set",
        wire="json_batch_set",
        tag="json_batch_results",
        summary="Write many documents or places in one commit.",
        detail="An entry with a faulty id or path fails alone; a path that does not fit its document fails the batch.",
        args=BatchSetArgs,
        result=shapes.Batch[JsonBatchItemResult],
        run=_batch_set,
        access="write",
        transactional=True,
        own_errors=(*PATH_ERRORS, *VALUE_ERRORS, *WRITE_ERRORS, REPEATED),
        example={"type": "json_batch_set", "entries": [{"key": "user:2", "path": "$", "value": {"name": "Bo"}}]},
    ),
    Operation(
        id="json.batch_get",
        wire="json_batch_get",
        tag="json_batch_get_results",
        summary="Read many documents or places, now or at a moment of the past; an absent one is a miss.",
        args=BatchGetArgs,
        result=shapes.Batch[shapes.JsonBatchGetItemResult],
        run=_batch_get,
        transactional=True,
        own_errors=(*PATH_ERRORS, *PAST_ERRORS),
        example={"type": "json_batch_get", "entries": [{"key": "user:2", "path": "name"}]},
    ),
    Operation(
        id="json.batch_delete",
        wire="json_batch_delete",
        tag="json_batch_results",
        summary="Delete many documents or places in one commit.",
        detail="Absent ones are fine; a place given twice fails the whole batch.",
        args=BatchDeleteArgs,
        result=shapes.Batch[JsonBatchItemResult],
        run=_batch_delete,
        access="write",
        destructive=True,
        idempotent=False,
        transactional=True,
        own_errors=(*PATH_ERRORS, *CLASH, *WRITE_ERRORS, REPEATED),
        example={"type": "json_batch_delete", "entries": [{"key": "user:2", "path": "$"}]},
    ),
    Operation(
        id="json.batch_exists",
        wire="json_batch_exists",
        tag="json_batch_exists_results",
        summary="Tell for many documents whether they are there.",
        args=KeysArgs,
        result=shapes.Batch[BatchExistsPresence],
        run=_batch_exists,
        transactional=True,
        own_errors=ID_ERRORS,
        example={"type": "json_batch_exists", "keys": ["user:1"]},
    ),
)
