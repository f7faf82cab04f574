"""Key-value pairs: `kv.*`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.results.common import BatchResult
from strata_mcp.results.kv import (
    BatchExistsItemResult,
    BatchGetItemResult,
    BatchItemResult,
    HistoryItem,
    SampleItem,
    ScanItem,
    VersionedValue,
)
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import (
    Args,
    Bytes,
    CheckedArgs,
    OptionalBytes,
    OptionalLimit,
    PastArgs,
    ReadArgs,
    WriteArgs,
)
from strata_mcp.tools.operation import CHECKED_ERRORS, PAST_ERRORS, SCOPE_ERRORS, WRITE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

KEY: Final = Field(description="the key, at least one byte")
KEYS: Final = Field(description="the keys")
PREFIX: Final[Any] = Field(None, description="only keys that start with it; at least one byte")
SAMPLE_COUNT: Final = 10
SECOND_US: Final = 1_000_000
EXPIRY_MAX_S: Final = 1e12

KEY_ERRORS: Final = (*SCOPE_ERRORS, "invalid_argument.engine.kv_key")
BATCH_ERRORS: Final = (*SCOPE_ERRORS, "invalid_argument.executor.kv_batch_duplicate_key")


class PutArgs(CheckedArgs):
    """Arguments of `kv.put`."""

    key: Bytes = KEY
    value: Bytes = Field(description="the value, any bytes")
    expires_in: float | None = Field(None, description="seconds until the key is gone; it stays without it")


class KeyArgs(ReadArgs):
    """Arguments of reads of one key."""

    key: Bytes = KEY


class GetArgs(PastArgs):
    """Arguments of `kv.get`."""

    key: Bytes = KEY


class DeleteArgs(CheckedArgs):
    """Arguments of `kv.delete`."""

    key: Bytes = KEY


class CountArgs(PastArgs):
    """Arguments of `kv.count`."""

    prefix: OptionalBytes = PREFIX


class ListArgs(PastArgs):
    """Arguments of `kv.list`."""

    prefix: OptionalBytes = PREFIX
    cursor: OptionalBytes = Field(None, description="last key of the page before; keys behind it follow")
    limit: OptionalLimit = Field(None, description="keys per page; all of them without it")


class ScanArgs(ReadArgs):
    """Arguments of `kv.scan`."""

    start: OptionalBytes = Field(None, description="first key to read, or the cursor of the page before")
    limit: OptionalLimit = Field(None, description="rows per page; all of them without it")


class SampleArgs(ReadArgs):
    """Arguments of `kv.sample`."""

    prefix: OptionalBytes = PREFIX
    count: OptionalLimit = Field(None, description=f"rows to draw; {SAMPLE_COUNT} without it")


class PutEntry(Args):
    """One pair of `kv.batch_put`."""

    key: Bytes
    value: Bytes


class BatchPutArgs(WriteArgs):
    """Arguments of `kv.batch_put`."""

    entries: list[PutEntry] = Field(description="the pairs; each key once")


class BatchDeleteArgs(WriteArgs):
    """Arguments of `kv.batch_delete`."""

    keys: list[Bytes] = KEYS


class KeysArgs(ReadArgs):
    """Arguments of batch reads."""

    keys: list[Bytes] = KEYS


def _put(engine: Engine, args: PutArgs, branch: str, space: str) -> object:
    seconds = args.expires_in
    expires_in_us = None if seconds is None else int(max(min(seconds, EXPIRY_MAX_S), -1.0) * SECOND_US)
    return engine.kv.put(branch, space, args.key, args.value, expires_in_us=expires_in_us, if_version=args.if_version)


def _get(engine: Engine, args: GetArgs, branch: str, space: str) -> object:
    found = engine.kv.get(branch, space, args.key, as_of=args.as_of, as_of_time=args.as_of_time)
    return {"found": found is not None, "value": found}


def _delete(engine: Engine, args: DeleteArgs, branch: str, space: str) -> object:
    return engine.kv.delete(branch, space, args.key, if_version=args.if_version)


def _exists(engine: Engine, args: KeyArgs, branch: str, space: str) -> object:
    return engine.kv.exists(branch, space, args.key)


def _history(engine: Engine, args: KeyArgs, branch: str, space: str) -> object:
    items = engine.kv.history(branch, space, args.key)
    return None if items is None else {"items": items}


def _count(engine: Engine, args: CountArgs, branch: str, space: str) -> object:
    return engine.kv.count(branch, space, args.prefix, as_of=args.as_of, as_of_time=args.as_of_time)


def _list(engine: Engine, args: ListArgs, branch: str, space: str) -> object:
    return engine.kv.list(
        branch,
        space,
        prefix=args.prefix,
        cursor=args.cursor,
        limit=args.limit,
        as_of=args.as_of,
        as_of_time=args.as_of_time,
    )


def _scan(engine: Engine, args: ScanArgs, branch: str, space: str) -> object:
    return engine.kv.scan(branch, space, start=args.start, limit=args.limit)


def _sample(engine: Engine, args: SampleArgs, branch: str, space: str) -> object:
    count = SAMPLE_COUNT if args.count is None else args.count
    return engine.kv.sample(branch, space, prefix=args.prefix, count=count)


def _batch_put(engine: Engine, args: BatchPutArgs, branch: str, space: str) -> object:
    pairs = [(entry.key, entry.value) for entry in args.entries]
    return _named(engine.kv.batch_put(branch, space, pairs), [key for key, _ in pairs], BatchItemResult)


def _batch_delete(engine: Engine, args: BatchDeleteArgs, branch: str, space: str) -> object:
    return _named(engine.kv.batch_delete(branch, space, args.keys), args.keys, BatchItemResult)


def _batch_get(engine: Engine, args: KeysArgs, branch: str, space: str) -> object:
    found = engine.kv.batch_get(branch, space, args.keys)
    return _named(found, args.keys, lambda key: BatchGetItemResult(False, key))


def _batch_exists(engine: Engine, args: KeysArgs, branch: str, space: str) -> object:
    found = engine.kv.batch_exists(branch, space, args.keys)
    return _named(found, args.keys, lambda key: BatchExistsItemResult(False, key))


def _named(batch: BatchResult, keys: Sequence[bytes], result: Callable[[bytes], object]) -> BatchResult:
    """Entries that failed name their key too."""
    for item in batch.items:
        if item.result is None:
            item.result = result(keys[item.index])
    return batch


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="kv.put",
        wire="kv_put",
        tag="write_result",
        summary="Store a value under a key.",
        detail="The value before stays in the history. `if_version` compares before it sets; kv.batch_put takes many.",
        args=PutArgs,
        result=shapes.Written[bytes],
        run=_put,
        access="write",
        transactional=True,
        own_errors=(*KEY_ERRORS, *CHECKED_ERRORS, "invalid_argument.engine.expires_in"),
        example={"type": "kv_put", "key": "Y2l0eQ==", "value": "T3Nsbw=="},
    ),
    Operation(
        id="kv.get",
        wire="kv_get",
        tag="kv_versioned_value",
        summary="Read the value of a key, now or at a moment of the past.",
        detail="`found` tells an absent key from an empty value. `version` is the commit that wrote it.",
        args=GetArgs,
        result=shapes.Maybe[VersionedValue],
        run=_get,
        transactional=True,
        own_errors=(*KEY_ERRORS, *PAST_ERRORS),
        example={"type": "kv_get", "key": "Y2l0eQ=="},
    ),
    Operation(
        id="kv.delete",
        wire="kv_delete",
        tag="delete_result",
        summary="Remove a key; removing an absent one changes nothing and makes no commit.",
        detail="Reads of the past and the history still show it.",
        args=DeleteArgs,
        result=shapes.Written[bytes],
        run=_delete,
        access="write",
        destructive=True,
        transactional=True,
        own_errors=(*KEY_ERRORS, *CHECKED_ERRORS),
        example={"type": "kv_delete", "key": "Y2l0eQ=="},
    ),
    Operation(
        id="kv.exists",
        wire="kv_exists",
        tag="bool",
        summary="Tell whether a key has a value.",
        args=KeyArgs,
        result=bool,
        run=_exists,
        transactional=True,
        own_errors=KEY_ERRORS,
        example={"type": "kv_exists", "key": "Y2l0eQ=="},
    ),
    Operation(
        id="kv.history",
        wire="kv_history",
        tag="version_history",
        summary="List every version of a key, newest first, deletions included.",
        detail="Null when the key was never written.",
        args=KeyArgs,
        result=shapes.Items[HistoryItem] | None,
        run=_history,
        own_errors=KEY_ERRORS,
        example={"type": "kv_history", "key": "Y2l0eQ=="},
    ),
    Operation(
        id="kv.count",
        wire="kv_count",
        tag="uint",
        summary="Count keys, now or at a moment of the past.",
        args=CountArgs,
        result=int,
        run=_count,
        transactional=True,
        own_errors=(*KEY_ERRORS, *PAST_ERRORS),
        example={"type": "kv_count"},
    ),
    Operation(
        id="kv.list",
        wire="kv_list",
        tag="keys_page",
        summary="List keys in byte order, now or at a moment of the past.",
        detail="Set a limit and pass `cursor` on while `has_more`. With values: kv.scan.",
        args=ListArgs,
        result=shapes.Page[bytes, bytes],
        run=_list,
        transactional=True,
        own_errors=(*KEY_ERRORS, *PAST_ERRORS),
        example={"type": "kv_list", "limit": 10},
    ),
    Operation(
        id="kv.scan",
        wire="kv_scan",
        tag="kv_scan_result",
        summary="Read keys and values in byte order.",
        detail="Set a limit; `cursor` is the `start` of the next page.",
        args=ScanArgs,
        result=shapes.Page[ScanItem, bytes],
        run=_scan,
        transactional=True,
        own_errors=KEY_ERRORS,
        example={"type": "kv_scan", "limit": 10},
    ),
    Operation(
        id="kv.sample",
        wire="kv_sample",
        tag="sample_result",
        summary="Look at a few rows spread evenly over the keys, and learn how many rows there are.",
        detail="The way to get to know a space without reading all of it.",
        args=SampleArgs,
        result=shapes.Sample[SampleItem, bytes],
        run=_sample,
        transactional=True,
        own_errors=KEY_ERRORS,
        example={"type": "kv_sample", "count": 5},
    ),
    Operation(
        id="kv.batch_put",
        wire="kv_batch_put",
        tag="batch_results",
        summary="Store many values in one commit.",
        detail="A faulty entry fails alone; a key given twice fails the whole batch.",
        args=BatchPutArgs,
        result=shapes.Batch[BatchItemResult],
        run=_batch_put,
        access="write",
        transactional=True,
        own_errors=(*BATCH_ERRORS, *WRITE_ERRORS),
        example={"type": "kv_batch_put", "entries": [{"key": "YQ==", "value": "MQ=="}, {"key": "Yg==", "value": ""}]},
    ),
    Operation(
        id="kv.batch_get",
        wire="kv_batch_get",
        tag="batch_get_results",
        summary="Read many keys; an absent one is a miss.",
        args=KeysArgs,
        result=shapes.Batch[BatchGetItemResult],
        run=_batch_get,
        transactional=True,
        own_errors=SCOPE_ERRORS,
        example={"type": "kv_batch_get", "keys": ["YQ==", "Yg=="]},
    ),
    Operation(
        id="kv.batch_delete",
        wire="kv_batch_delete",
        tag="batch_results",
        summary="Remove many keys in one commit.",
        detail="Absent keys are fine; a key given twice fails the whole batch.",
        args=BatchDeleteArgs,
        result=shapes.Batch[BatchItemResult],
        run=_batch_delete,
        access="write",
        destructive=True,
        transactional=True,
        own_errors=(*BATCH_ERRORS, *WRITE_ERRORS),
        example={"type": "kv_batch_delete", "keys": ["YQ=="]},
    ),
    Operation(
        id="kv.batch_exists",
        wire="kv_batch_exists",
        tag="batch_exists_results",
        summary="Tell for many keys whether they have a value.",
        args=KeysArgs,
        result=shapes.Batch[BatchExistsItemResult],
        run=_batch_exists,
        transactional=True,
        own_errors=SCOPE_ERRORS,
        example={"type": "kv_batch_exists", "keys": ["YQ=="]},
    ),
)
