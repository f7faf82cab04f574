"""Databases for the store's tests: one in memory and one on disk, both on a clock the test turns by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.support import HandClock

from strata_mcp.engine import Engine


@pytest.fixture
def clock() -> HandClock:
    """A clock that stands until the test moves it."""
    return HandClock()


@pytest.fixture(params=["cache", "durable"])
def engine(request: pytest.FixtureRequest, db_path: Path, clock: HandClock) -> Iterator[Engine]:
    """An empty database of each kind."""
    engine = Engine.open(cache=True, clock=clock) if request.param == "cache" else Engine.open(db_path, clock=clock)
    yield engine
    engine.close(checkpoint=False)


@pytest.fixture
def durable(db_path: Path, clock: HandClock) -> Iterator[Engine]:
    """An empty database on disk."""
    engine = Engine.open(db_path, clock=clock)
    yield engine
    engine.close(checkpoint=False)
