"""JSON documents: `json.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.tools import shapes
from strata_mcp.tools.fields import (
    AtMoment,
    CheckedArgs,
    InSpace,
    OptionalLimit,
    OptionalText,
    OptionalTexts,
    PastArgs,
    ReadArgs,
)
from strata_mcp.tools.operation import CHECKED_ERRORS, PAST_ERRORS, SCOPE_ERRORS, Operation

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

KEY: Final = Field(description="id of the document")
PATH: Final = Field(description='place in the document, such as `a.b[0]` or `["odd name"]`; "$" is all of it')
PREFIX: Final[Any] = Field(None, description="only ids that start with it")
LIST_LIMIT: Final = 100
SAMPLE_COUNT: Final = 10

ID_ERRORS: Final = (*SCOPE_ERRORS, "invalid_argument.engine.json_document_id")
PATH_ERRORS: Final = (
    *ID_ERRORS,
    "invalid_argument.engine.json_path",
    "invalid_argument.engine.json_path_too_long",
)
CLASH: Final = ("invalid_argument.engine.json_path_type",)
VALUE_ERRORS: Final = (
    *CLASH,
    "invalid_argument.engine.json_array_too_large",
    "invalid_argument.engine.json_document_too_deep",
    "invalid_argument.engine.json_document_too_large",
    "invalid_argument.engine.json_path_not_found",
    "invalid_argument.engine.json_value",
)


class SetArgs(CheckedArgs):
    """Arguments of `json.set`."""

    key: str = KEY
    path: str = PATH
    value: Any = Field(description="any JSON value, null included")


class GetArgs(PastArgs):
    """Arguments of `json.get`."""

    key: str = KEY
    path: str = PATH


class DeleteArgs(CheckedArgs):
    """Arguments of `json.delete`."""

    key: str = KEY
    path: str = PATH


class KeyArgs(ReadArgs):
    """Arguments of reads of one document."""

    key: str = KEY


class CountArgs(PastArgs):
    """Arguments of `json.count`."""

    prefix: OptionalText = PREFIX


class ListArgs(PastArgs):
    """Arguments of `json.list`."""

    prefix: OptionalText = PREFIX
    cursor: OptionalText = Field(None, description="last id of the page before; ids behind it follow")
    limit: OptionalLimit = Field(None, description=f"ids per page; {LIST_LIMIT} without it")


class ScanArgs(ReadArgs):
    """Arguments of `json.scan`."""

    start: OptionalText = Field(None, description="first id to read, or the cursor of the page before")
    limit: OptionalLimit = Field(None, description="documents per page; all of them without it")


class SampleArgs(ReadArgs):
    """Arguments of `json.sample`."""

    prefix: OptionalText = PREFIX
    count: OptionalLimit = Field(None, description=f"documents to draw; {SAMPLE_COUNT} without it")


class QueryArgs(InSpace, AtMoment):
    """Arguments of `json.query`."""

    filter: dict[str, Any] | None = Field(
        None, description='conditions on paths that must all hold, as in {"plan": "pro", "age": {"$gte": 18}}'
    )
    order: OptionalTexts = Field(None, description="path or paths to order by; a leading - reverses; by id without it")
    limit: OptionalLimit = Field(None, description="documents at most; all of them without it")
    offset: OptionalLimit = Field(None, description="documents to leave out first")
    projection: list[str] | None = Field(None, description="paths to keep of each document; all of it without them")


def _set(engine: Engine, args: SetArgs, branch: str, space: str) -> object:
    return engine.json.set(branch, space, args.key, args.path, args.value, if_version=args.if_version)


def _get(engine: Engine, args: GetArgs, branch: str, space: str) -> object:
    found = engine.json.get(branch, space, args.key, args.path, as_of=args.as_of, as_of_time=args.as_of_time)
    return {"found": found is not None, "value": found}


def _delete(engine: Engine, args: DeleteArgs, branch: str, space: str) -> object:
    return engine.json.delete(branch, space, args.key, args.path, if_version=args.if_version)


def _exists(engine: Engine, args: KeyArgs, branch: str, space: str) -> object:
    return engine.json.exists(branch, space, args.key)


def _history(engine: Engine, args: KeyArgs, branch: str, space: str) -> object:
    return engine.json.history(branch, space, args.key)


def _count(engine: Engine, args: CountArgs, branch: str, space: str) -> object:
    return engine.json.count(branch, space, args.prefix, as_of=args.as_of, as_of_time=args.as_of_time)


def _list(engine: Engine, args: ListArgs, branch: str, space: str) -> object:
    return engine.json.list(
        branch,
        space,
        prefix=args.prefix,
        cursor=args.cursor,
        limit=LIST_LIMIT if args.limit is None else args.limit,
        as_of=args.as_of,
        as_of_time=args.as_of_time,
    )


def _scan(engine: Engine, args: ScanArgs, branch: str, space: str) -> object:
    return engine.json.scan(branch, space, start=args.start, limit=args.limit)


def _sample(engine: Engine, args: SampleArgs, branch: str, space: str) -> object:
    count = SAMPLE_COUNT if args.count is None else args.count
    return engine.json.sample(branch, space, prefix=args.prefix, count=count)


def _query(engine: Engine, args: QueryArgs, branch: str, space: str) -> object:
    return engine.json.query(
        branch,
        space,
        filter=args.filter,
        order=args.order,
        limit=args.limit,
        offset=args.offset or 0,
        projection=args.projection,
        as_of=args.as_of,
        as_of_time=args.as_of_time,
    )


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="json.set",
        wire="json_set",
        tag="json_write_result",
        summary="Write a document, or one place in it.",
        detail="Missing parents become objects; arrays never grow. `if_version` makes it a compare-and-set.",
        args=SetArgs,
        result=shapes.Written[str],
        run=_set,
        access="write",
        transactional=True,
        own_errors=(*PATH_ERRORS, *VALUE_ERRORS, *CHECKED_ERRORS),
        example={"type": "json_set", "key": "user:1", "path": "$", "value": {"name": "Ada"}},
    ),
    Operation(
        id="json.get",
        wire="json_get",
        tag="json_versioned_value",
        summary="Read a document or one place in it, now or at a moment of the past.",
        detail="`found` tells an absent place from a stored null. Versions are those of the whole document.",
        args=GetArgs,
        result=shapes.Maybe[shapes.JsonVersionedValue],
        run=_get,
        transactional=True,
        own_errors=(*PATH_ERRORS, *PAST_ERRORS),
        example={"type": "json_get", "key": "user:1", "path": "name"},
    ),
    Operation(
        id="json.delete",
        wire="json_delete",
        tag="json_delete_result",
        summary="Delete a document, or one place in it; an absent one changes nothing.",
        detail="Items behind a deleted array item move up. The history keeps everything.",
        args=DeleteArgs,
        result=shapes.Written[str],
        run=_delete,
        access="write",
        destructive=True,
        idempotent=False,
        transactional=True,
        own_errors=(*PATH_ERRORS, *CLASH, *CHECKED_ERRORS),
        example={"type": "json_delete", "key": "user:1", "path": "$"},
    ),
    Operation(
        id="json.exists",
        wire="json_exists",
        tag="bool",
        summary="Tell whether a document is there.",
        args=KeyArgs,
        result=bool,
        run=_exists,
        transactional=True,
        own_errors=ID_ERRORS,
        example={"type": "json_exists", "key": "user:1"},
    ),
    Operation(
        id="json.history",
        wire="json_history",
        tag="json_version_history",
        summary="List every version of a document, newest first, deletions included.",
        detail="Null when it was never written.",
        args=KeyArgs,
        result=list[shapes.JsonHistoryItem] | None,
        run=_history,
        own_errors=ID_ERRORS,
        example={"type": "json_history", "key": "user:1"},
    ),
    Operation(
        id="json.count",
        wire="json_count",
        tag="uint",
        summary="Count documents, now or at a moment of the past.",
        args=CountArgs,
        result=int,
        run=_count,
        transactional=True,
        own_errors=(*ID_ERRORS, *PAST_ERRORS),
        example={"type": "json_count"},
    ),
    Operation(
        id="json.list",
        wire="json_list",
        tag="json_list_result",
        summary="List ids of documents in byte order, now or at a moment of the past.",
        detail="Pass `cursor` on while `has_more`. With contents: json.scan.",
        args=ListArgs,
        result=shapes.Page[str, str],
        run=_list,
        transactional=True,
        own_errors=(*ID_ERRORS, *PAST_ERRORS),
        example={"type": "json_list", "limit": 10},
    ),
    Operation(
        id="json.scan",
        wire="json_scan",
        tag="json_scan_result",
        summary="Read documents in the order of their ids.",
        detail="Set a limit; `cursor` is the `start` of the next page. To find some by content: json.query.",
        args=ScanArgs,
        result=shapes.Page[shapes.JsonSampleItem, str],
        run=_scan,
        transactional=True,
        own_errors=ID_ERRORS,
        example={"type": "json_scan", "limit": 10},
    ),
    Operation(
        id="json.sample",
        wire="json_sample",
        tag="json_sample_result",
        summary="Look at a few documents spread evenly over the ids, and learn how many there are.",
        detail="The way to get to know a space without reading all of it.",
        args=SampleArgs,
        result=shapes.Sample[shapes.JsonSampleItem, str],
        run=_sample,
        transactional=True,
        own_errors=ID_ERRORS,
        example={"type": "json_sample", "count": 5},
    ),
    Operation(
        id="json.query",
        wire="json_query",
        tag="json_query_result",
        summary="Find documents by their content.",
        detail=(
            "Compare with $eq $ne $gt $gte $lt $lte $in $nin $exists $prefix $contains; combine with $and, $or, $not. "
            "A missing field compares with nothing."
        ),
        args=QueryArgs,
        result=shapes.Page[shapes.JsonSampleItem, str],
        run=_query,
        transactional=True,
        own_errors=(*SCOPE_ERRORS, *PAST_ERRORS, "invalid_argument.engine.query"),
        example={"type": "json_query", "filter": {"plan": "pro"}, "order": "-age", "limit": 10},
    ),
)
