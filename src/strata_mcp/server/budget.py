"""
Results that fit into what a model takes in.

A page that is too long is read again with a smaller limit, so that its cursor stays right. What has no
pages loses the tail of its lists, and byte values are cut; a notice says what is missing. A JSON value is
never cut, since part of a document looks like a document: such a read is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from strata_mcp.errors import fail
from strata_mcp.server import surface
from strata_mcp.tools.operation import Operation

RESULT_CHARS_MAX: Final = 40_000
"""Longest result a client gets."""
VALUE_CHARS: Final = (32_000, 4_000, 500)
"""What byte values are cut to, tried in this order."""
GOES_ON: Final = {
    "cursor": "pass `cursor` on for the rest",
    "start": "pass `cursor` as `start` for the rest",
    "offset": "ask again with `offset` for the rest",
}

Answer = Mapping[str, Any]


def compact(data: Any) -> str:
    """JSON text without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def fit(operation: Operation[Any], answer: Answer, again: Callable[[int], Answer]) -> tuple[str, dict[str, Any]]:
    """
    Text and structured content of an answer, shortened where it is too long.

    Args:
        operation: what was done.
        answer: what came out, in wire form.
        again: reads the same page with another limit.

    Raises:
        StrataError: `resource_exhausted.executor.result_size` for a read that cannot be shortened.
    """
    shown = surface.data(operation, answer)
    text = compact(shown)
    if len(text) <= RESULT_CHARS_MAX:
        return text, structured(operation, shown)
    notices: list[str] = []
    if operation.access == "read" and "limit" in operation.fields:
        answer = _smaller_page(operation, answer, again, notices)
        shown = surface.data(operation, answer)
    for chars in VALUE_CHARS:
        if _is_long(shown):
            shown = surface.data(operation, answer, chars)
            if not _is_long(shown):
                notices.append(f"values are cut after {chars} characters; the SDK and the CLI read them whole")
    if _is_long(shown):
        _shorten(operation, shown, notices)
    if operation.access == "read" and _is_long(shown):
        raise fail("resource_exhausted.executor.result_size", size=len(text), limit=RESULT_CHARS_MAX)
    body = {**structured(operation, shown), "truncated": True, "notice": "; ".join(notices)}
    return compact(body), body


def structured(operation: Operation[Any], shown: Any) -> dict[str, Any]:
    """The data as an object."""
    return shown if surface.is_object(operation) else {"result": shown}


def _is_long(shown: Any) -> bool:
    return len(compact(shown)) > RESULT_CHARS_MAX


def _smaller_page(
    operation: Operation[Any], answer: Answer, again: Callable[[int], Answer], notices: list[str]
) -> Answer:
    """The page with as many rows as fit, one at least."""
    size = len(compact(surface.data(operation, answer)))
    is_smaller = False
    while size > RESULT_CHARS_MAX and (count := len(answer["data"]["items"])) > 1:
        answer = again(max(1, min(count - 1, count * RESULT_CHARS_MAX * 9 // (size * 10))))
        size = len(compact(surface.data(operation, answer)))
        is_smaller = True
    if is_smaller:
        how = next(text for name, text in GOES_ON.items() if name in operation.fields)
        notices.append(f"only the first {len(answer['data']['items'])} fit here; {how}")
    return answer


def _shorten(operation: Operation[Any], shown: Any, notices: list[str]) -> None:
    """Drop the tail of the longest list until the rest fits. Entries of a batch that failed are kept before others."""
    sizes: dict[str, int] = {}
    left: dict[str, int] = {}
    while _is_long(shown):
        lists = [(place, entries) for place, entries in _lists(operation, shown) if len(entries) > 1]
        if not lists:
            break
        place, entries = max(lists, key=lambda each: len(compact(each[1])))
        if place not in sizes and operation.access == "write":
            entries.sort(key=lambda entry: isinstance(entry, dict) and entry.get("status") == "ok")
        sizes.setdefault(place, len(entries))
        del entries[len(entries) // 2 :]
        left[place] = len(entries)
    notices.extend(f"`{place or 'result'}` shows {left[place]} of {size} entries" for place, size in sizes.items())
    if operation.access == "write":
        notices.append("everything was done, only the report is short")


def _lists(operation: Operation[Any], shown: Any) -> Iterator[tuple[str, list[Any]]]:
    """Every list of a result, none that belongs to a stored value."""
    schema = surface.data_schema(operation)
    yield from _lists_below(shown, schema, schema.get("$defs", {}), "")


def _lists_below(
    value: Any, schema: dict[str, Any], definitions: dict[str, Any], place: str
) -> Iterator[tuple[str, list[Any]]]:
    schema = surface.chosen(schema, definitions)
    if isinstance(value, list) and "items" in schema:
        yield place, value
        for index, item in enumerate(value):
            yield from _lists_below(item, schema["items"], definitions, f"{place}[{index}]")
    elif isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield from _lists_below(value[name], inner, definitions, f"{place}.{name}".lstrip("."))
