"""Paging and sampling, the same for every family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from strata_mcp.errors import fail
from strata_mcp.results.common import Page

T = TypeVar("T")


def check_limit(limit: int | None) -> None:
    """Refuse a negative limit; any size is fine, nothing is reserved for it."""
    if limit is not None and limit < 0:
        raise fail("invalid_argument.engine.limit", limit=limit)


def check_count(count: int) -> None:
    """Refuse a negative sample size."""
    if count < 0:
        raise fail("invalid_argument.engine.limit", count=count)


def page_of(found: list[T], limit: int | None, cursor_of: Callable[[T], Any]) -> Page[T]:
    """Cut a list that was read with one item too many; the cursor is the last item's."""
    if limit is None or len(found) <= limit:
        return Page(found)
    items = found[:limit]
    return Page(items, True, cursor_of(items[-1]) if items else None)


def sample_positions(total: int, count: int) -> list[int]:
    """Positions floor(i * n / count) for i below count, or all of them when there are fewer."""
    if total <= count:
        return list(range(total))
    return [position * total // count for position in range(count)]
