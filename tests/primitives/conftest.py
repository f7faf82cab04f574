"""Databases for the tests of the primitives, closed at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.primitives.support import HandClock

from strata_mcp.engine import Engine


@pytest.fixture
def clock() -> HandClock:
    """The clock of `engine`."""
    return HandClock()


@pytest.fixture
def engine(clock: HandClock) -> Iterator[Engine]:
    """An empty database in memory."""
    opened = Engine.open(None, cache=True, clock=clock)
    yield opened
    opened.close()
