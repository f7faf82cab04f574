"""What the tests of the primitives share: where they write, a clock they move, JSON values to draw, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import strategies as st

from strata_mcp.errors import StrataError

HOME = ("default", "default")
"""Branch and space."""

INTEGERS = st.integers(-(2**63), 2**64 - 1)
NAMES = st.sampled_from(["a", "b", "c", "odd name", "é", "0"])
SCALARS = st.one_of(
    st.none(), st.booleans(), INTEGERS, st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=4)
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


class HandClock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        """Start somewhere."""
        self.at_us = 1_700_000_000_000_000

    def now_us(self) -> int:
        """The instant."""
        return self.at_us


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[StrataError]]:
    """The block must raise a StrataError with exactly this code."""
    with pytest.raises(StrataError) as caught:
        yield caught
    assert caught.value.code == code


def same(left: Any, right: Any) -> bool:
    """Equal as JSON text would be: types count, and so does the sign of zero."""
    return bool(repr(ordered(left)) == repr(ordered(right)))


def ordered(value: Any) -> Any:
    """The value with the keys of its objects in order."""
    if isinstance(value, dict):
        return {name: ordered(value[name]) for name in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list | tuple) else value
