"""Pages of results: the first is there at once, the following are read when somebody gets to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeAlias, TypeVar, overload

from strata_mcp.results import common
from strata_mcp.sdk.arguments import page_limit

T = TypeVar("T")

Cursor: TypeAlias = "str | bytes | int | None"
"""Where a page ended; hand it back as it is."""

PAGE_SIZE: Final = 256


class Page(Generic[T]):
    """
    Rows of a listing, in order.

    Iterating walks every page when the listing was asked for without a limit, and this page alone
    otherwise. `len()` and `[]` look at this page only. `cursor` continues a listing later, and is None
    when nothing follows.
    """

    __slots__ = ("_fetch", "cursor", "has_more", "items")

    def __init__(
        self,
        items: list[T],
        has_more: bool = False,
        cursor: Cursor = None,
        fetch: Callable[[Cursor], common.Page[T]] | None = None,
    ) -> None:
        """`fetch` reads the page behind a cursor; without it iteration ends with this page."""
        self.items = items
        self.has_more = has_more
        self.cursor: Cursor = cursor
        self._fetch = fetch

    def pages(self) -> Iterator[Page[T]]:
        """This page and those that follow it, each read when it is reached."""
        page = self
        yield page
        while page.has_more and page._fetch is not None:
            found = page._fetch(page.cursor)
            page = Page(found.items, found.has_more, found.cursor, page._fetch)
            yield page

    def all(self) -> list[T]:
        """Every row of every page, as a list."""
        return list(self)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Page | common.Page):
            return NotImplemented
        return (self.items, self.has_more, self.cursor) == (other.items, other.has_more, other.cursor)

    __hash__ = None  # type: ignore[assignment]  # pages compare by value and hold mutable rows

    def __repr__(self) -> str:
        return f"Page(items={self.items!r}, has_more={self.has_more!r}, cursor={self.cursor!r})"


def read(fetch: Callable[[Cursor, int], common.Page[T]], cursor: Cursor = None, limit: object = None) -> Page[T]:
    """
    Read the first page of a listing.

    Args:
        fetch: reads one page of at most so many rows behind a cursor.
        cursor: where to start.
        limit: rows of a single page; None reads on, page by page, as the caller iterates.
    """
    if limit is not None:
        found = fetch(cursor, page_limit(limit))
        return Page(found.items, found.has_more, found.cursor)
    found = fetch(cursor, PAGE_SIZE)
    return Page(found.items, found.has_more, found.cursor, lambda following: fetch(following, PAGE_SIZE))
