"""Pages read on only when somebody gets there."""

from __future__ import annotations

import pytest

from strata_mcp.errors import InvalidArgumentError
from strata_mcp.results import common
from strata_mcp.sdk.pages import PAGE_SIZE, Cursor, Page, read


class Listing:
    """Numbers from zero, handed out in pages; remembers what was asked for."""

    def __init__(self, total: int) -> None:
        """`total` numbers in all."""
        self.total = total
        self.asked: list[tuple[Cursor, int]] = []

    def __call__(self, cursor: Cursor, size: int) -> common.Page[int]:
        """One page of at most `size` numbers behind the cursor."""
        self.asked.append((cursor, size))
        start = cursor if isinstance(cursor, int) else 0
        items = list(range(start, min(start + size, self.total)))
        more = start + size < self.total
        return common.Page(items, more, start + size if more else None)


def test_without_limit_iteration_reads_every_page_lazily() -> None:
    """Spec: 256 rows per fetch, the next fetch when the iteration gets there."""
    listing = Listing(600)
    page = read(listing)
    assert listing.asked == [(None, PAGE_SIZE)]
    rows = iter(page)
    for expected in range(PAGE_SIZE):
        assert next(rows) == expected
    assert len(listing.asked) == 1
    assert list(rows) == list(range(PAGE_SIZE, 600))
    assert listing.asked == [(None, 256), (256, 256), (512, 256)]


def test_with_limit_iteration_ends_with_the_page() -> None:
    """Spec: a limit means one bounded page with a cursor to continue."""
    listing = Listing(600)
    page = read(listing, limit=10)
    assert page.all() == list(range(10))
    assert (page.has_more, page.cursor) == (True, 10)
    assert read(listing, page.cursor, 5).items == [10, 11, 12, 13, 14]
    assert listing.asked == [(None, 10), (10, 5)]


def test_length_and_index_look_at_the_first_page() -> None:
    """Spec: `len()` and `[]` never fetch."""
    listing = Listing(300)
    page = read(listing)
    assert len(page) == 256
    assert page[255] == 255
    assert page[:2] == [0, 1]
    assert len(listing.asked) == 1
    with pytest.raises(IndexError):
        _ = page[256]


def test_pages_can_be_walked_one_by_one() -> None:
    """Spec: `pages()` yields pages, and walking twice gives the same."""
    page = read(Listing(600))
    assert [len(part) for part in page.pages()] == [256, 256, 88]
    assert page.all() == page.all() == list(range(600))


def test_equality_compares_rows_and_position() -> None:
    """Spec: items, has_more and cursor decide."""
    assert Page([1], True, "a") == Page([1], True, "a")
    assert Page([1], True, "a") == common.Page([1], True, "a")
    assert Page([1], True, "a") != Page([1], True, "b")
    assert Page([1]) != [1]
    assert repr(Page([1], True, "a")) == "Page(items=[1], has_more=True, cursor='a')"


@pytest.mark.parametrize("limit", [0, -1, True, "1", 1.0])
def test_a_limit_must_be_a_whole_number_from_one(limit: object) -> None:
    """Spec: anything else is invalid_argument.sdk.limit, before anything is read."""
    listing = Listing(3)
    with pytest.raises(InvalidArgumentError) as caught:
        read(listing, limit=limit)
    assert caught.value.code == "invalid_argument.sdk.limit"
    assert listing.asked == []
