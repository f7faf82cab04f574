"""
What every test may use: effort profiles, one seed for the whole run, and databases that are always closed.

Seed: STRATA_SEED when given, a fresh one otherwise (a fixed one in CI, so that a red build repeats).
It is printed at the start and, on failure, again at the end. Profiles set the effort of hypothesis
tests and no single test may override them: `dev`, `ci` (fewer examples), `nightly` (many, with --full).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from stratadb import Strata

T = TypeVar("T")

CI_SEED = 1
MODULE_LINES_AIM = 300
FULL = os.environ.get("STRATA_FULL") == "1"
IN_CI = os.environ.get("CI") == "true"
PROFILE = os.environ.get("STRATA_PROFILE") or ("nightly" if FULL else "ci" if IN_CI else "dev")

# Set before the workers start, so that all of them draw from the same seed.
SEED = int(os.environ.setdefault("STRATA_SEED", str(CI_SEED if IN_CI else random.SystemRandom().randrange(1, 2**31))))

# Shared machines stall for seconds at a time: no deadlines, and no complaint about slow inputs.
_common: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("dev", max_examples=40, stateful_step_count=30, **_common)
settings.register_profile("ci", max_examples=25, stateful_step_count=25, database=None, print_blob=True, **_common)
settings.register_profile("nightly", max_examples=1000, stateful_step_count=80, print_blob=True, **_common)
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    """Give hypothesis the run's seed, unless the command line names one."""
    if config.getoption("--hypothesis-seed") is None:
        from hypothesis import core

        core.global_force_seed = SEED


def pytest_report_header() -> str:
    """Say how to replay this run."""
    return f"strata: STRATA_SEED={SEED} profile={PROFILE}{' full' if FULL else ''}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests to --full, and keep serial ones together on one worker."""
    kept: list[pytest.Item] = []
    slow: list[pytest.Item] = []
    for item in items:
        if item.get_closest_marker("serial") is not None:
            item.add_marker(pytest.mark.xdist_group("serial"))
        (slow if not FULL and item.get_closest_marker("slow") is not None else kept).append(item)
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """Repeat what matters above the closing line: how to replay, and whether lint and types passed."""
    long = [f"{path.name} {size}" for path, size in module_sizes() if size > MODULE_LINES_AIM]
    if long:
        terminalreporter.write_line(
            f"modules over {MODULE_LINES_AIM} lines (an aim; 500 is the limit): {', '.join(long)}"
        )
    check = os.environ.get("STRATA_CHECK")
    if exitstatus != 0:
        terminalreporter.write_line(f"replay with STRATA_SEED={SEED}" + (" and --full" if FULL else ""))
    if check is not None:
        terminalreporter.write_line(f"lint and types: {check}")


def module_sizes() -> list[tuple[Path, int]]:
    """Lines of each module of the package."""
    source = Path(__file__).resolve().parent.parent / "src"
    return [(path, len(path.read_text(encoding="utf-8").splitlines())) for path in sorted(source.rglob("*.py"))]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Randomness of one test: differs between tests, the same again under the same seed."""
    return random.Random(f"{SEED}:{request.node.nodeid}")


@pytest.fixture
def sweep(rng: random.Random) -> Callable[[Sequence[T], int], Sequence[T]]:
    """
    Thin out a long sweep: `sweep(points, 40)` gives all points with --full, else about 40 of them.

    The first and the last five always stay, the rest is drawn with the run's seed.
    """

    def choose(points: Sequence[T], keep: int) -> Sequence[T]:
        if FULL or len(points) <= keep:
            return points
        ends = {*range(5), *range(len(points) - 5, len(points))}
        inner = [index for index in range(len(points)) if index not in ends]
        chosen = ends.union(rng.sample(inner, max(0, keep - len(ends))))
        return [points[index] for index in sorted(chosen)]

    return choose


@pytest.fixture
def db_path(tmp_path: Path) -> Path:
    """Where a test's database goes; nothing is there yet."""
    return tmp_path / "app.strata"


@pytest.fixture
def fresh_db(db_path: Path) -> Iterator[Strata]:
    """An empty durable database, closed at the end."""
    import stratadb

    with stratadb.open(db_path) as db:
        yield db


@pytest.fixture
def cache_db() -> Iterator[Strata]:
    """An empty database that lives in memory only, closed at the end."""
    import stratadb

    with stratadb.open(cache=True) as db:
        yield db
