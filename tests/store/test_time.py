"""Reading in the past by either clock, the edges of what a branch remembers, and clocks that misbehave."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.support import SECOND, START_US, HandClock, delete, in_thread, keys, put, refused, time_of, value

from strata_mcp.engine import Engine

OUTSIDE = "history_unavailable.engine.persistence_history"


def test_positions_show_the_commit_they_cover(engine: Engine) -> None:
    """Spec: a position between two commits of the branch means the earlier one, whoever took the numbers between."""
    first = put(engine, "k", "1")
    engine.branches.create("other")
    put(engine, "k", "elsewhere", branch="other")
    second = put(engine, "k", "2")
    third = delete(engine, "k")
    for position in range(first, second):
        assert value(engine, "k", as_of=position) == "1"
    assert value(engine, "k", as_of=second) == "2"
    assert value(engine, "k", as_of=third) is None
    assert keys(engine, as_of=second) == ["k"]
    assert value(engine, "k", as_of=1) is None


def test_the_range_of_positions_is_closed(engine: Engine) -> None:
    """Spec: default is readable from 1 to its newest commit; 0 and the next number are refused with a reason."""
    newest = put(engine, "k", "1")
    for outside in (0, -1, newest + 1, 1 << 62):
        with refused(OUTSIDE) as caught:
            value(engine, "k", as_of=outside)
        assert caught.value.details["reason"]
    put(engine, "k", "2")
    assert value(engine, "k", as_of=newest + 1) == "2"


def test_a_created_branch_begins_with_itself(engine: Engine) -> None:
    """Spec: a root created at c is readable from c + 1 on."""
    created = engine.branches.create("work").created_at
    assert created is not None
    assert value(engine, "k", branch="work", as_of=created + 1) is None
    for outside in (created, created + 2):
        with refused(OUTSIDE):
            value(engine, "k", branch="work", as_of=outside)


def test_a_fork_begins_where_its_source_does(engine: Engine) -> None:
    """Spec: inherited history is readable, up to the fork's own creation, and not what the source did later."""
    first = put(engine, "k", "1")
    created = engine.branches.fork("default", "side").created_at
    later = put(engine, "k", "2")
    assert created is not None
    assert value(engine, "k", branch="side", as_of=1) is None
    assert value(engine, "k", branch="side", as_of=first) == "1"
    assert value(engine, "k", branch="side", as_of=created + 1) == "1"
    for outside in (created + 2, later):
        with refused(OUTSIDE):
            value(engine, "k", branch="side", as_of=outside)
    put(engine, "other", "1", branch="side")
    assert value(engine, "k", branch="side", as_of=later) == "1"


@pytest.mark.parametrize("reloaded", [False, True], ids=["memory", "tables"])
def test_instants_show_the_newest_commit_before_them(durable: Engine, clock: HandClock, reloaded: bool) -> None:
    """Spec: closed at both ends, no clamping: before the first commit and after the newest is refused."""
    kv = durable.kv
    first = time_of(kv.put("default", "default", b"k", b"1"))
    clock.at_us += SECOND
    second = time_of(kv.put("default", "default", b"k", b"2"))
    assert (first, second) == (START_US, START_US + SECOND)
    if reloaded:
        durable.checkpoint()
        durable.store.reload()
    for at, expected in ((first, b"1"), (second - 1, b"1"), (second, b"2")):
        found = kv.get("default", "default", b"k", as_of_time=at)
        assert found is not None
        assert found.value == expected
        assert kv.count("default", "default", as_of_time=at) == 1
    clock.at_us += SECOND
    for outside in (first - 1, second + 1, clock.now_us()):
        with refused(OUTSIDE):
            kv.get("default", "default", b"k", as_of_time=outside)


def test_instants_reach_into_inherited_history(engine: Engine, clock: HandClock) -> None:
    """Ours: before a fork was made an instant means its source, up to the fork point only."""
    kv = engine.kv
    first = time_of(kv.put("default", "default", b"k", b"1"))
    clock.at_us += SECOND
    version = put(engine, "k", "2")
    clock.at_us += SECOND
    put(engine, "k", "3")
    clock.at_us += SECOND
    engine.branches.fork_at_version("default", "side", version)
    for at, expected in ((first, b"1"), (first + SECOND, b"2"), (first + 2 * SECOND, b"2"), (clock.now_us(), b"2")):
        found = kv.get("side", "default", b"k", as_of_time=at)
        assert found is not None
        assert found.value == expected


def test_one_clock_at_a_time(engine: Engine) -> None:
    """Spec: both clocks in one read are refused, also when they agree."""
    written = engine.kv.put("default", "default", b"k", b"1")
    at = time_of(written)
    for read in (engine.kv.get, lambda *where, **when: engine.json.get(*where[:2], "d", "$", **when)):
        with refused("invalid_argument.executor.as_of_conflict"):
            read("default", "default", b"k", as_of=3, as_of_time=at)


def test_a_fresh_database_has_no_instants(engine: Engine, clock: HandClock) -> None:
    """Spec: without a dated commit every instant is outside; position 1 is not."""
    for at in (0, clock.now_us()):
        with refused(OUTSIDE):
            engine.kv.get("default", "default", b"k", as_of_time=at)
    assert value(engine, "k", as_of=1) is None


def test_the_past_is_shown_inside_a_transaction(engine: Engine) -> None:
    """Ours: as_of reads what was committed, not what is staged."""
    version = put(engine, "k", "1")
    with engine.store.transaction("default"):
        engine.kv.put("default", "default", b"k", b"2")
        assert value(engine, "k", as_of=version) == "1"
        assert keys(engine, as_of=version) == ["k"]


def test_instants_only_grow_when_the_clock_stands_or_goes_back(engine: Engine, clock: HandClock) -> None:
    """Spec: committed_at is strictly increasing, whatever kind of commit and whatever the clock does."""
    times = [time_of(engine.kv.put("default", "default", b"k", b"1")) for _ in range(3)]
    clock.at_us -= 3600 * SECOND
    times.append(time_of(engine.kv.put("default", "default", b"k", b"1")))
    times.append(time_of(engine.json.set("default", "default", "d", "$", 1)))
    batch = engine.kv.batch_put("default", "default", [(b"a", b"1")]).commit
    assert batch is not None
    assert batch.committed_at is not None
    times.append(batch.committed_at)
    engine.branches.fork("default", "side")
    with engine.store.transaction("side") as staged:
        engine.kv.put("side", "default", b"k", b"2")
    assert staged.receipt is not None
    assert staged.receipt.committed_at is not None
    times.append(staged.receipt.committed_at)
    in_thread(lambda: times.append(time_of(engine.kv.put("default", "default", b"k", b"3"))) or True)
    assert times == sorted(set(times))
    assert [item.committed_at for item in engine.branches.log("default").items][::-1] == [*times[:6], times[7]]
    clock.at_us = START_US + 10 * SECOND
    assert time_of(engine.kv.put("default", "default", b"k", b"4")) == clock.at_us


@pytest.mark.parametrize("checkpoints", [False, True])
def test_instants_grow_across_handles_and_reopening(db_path: Path, clock: HandClock, checkpoints: bool) -> None:
    """Spec: a handle whose clock is behind continues after what others committed."""
    engine = Engine.open(db_path, clock=clock)
    newest = time_of(engine.kv.put("default", "default", b"k", b"1"))
    other = Engine.open(db_path, clock=HandClock(START_US - 5 * SECOND))
    after = time_of(other.kv.put("default", "default", b"k", b"2"))
    assert after == newest + 1
    other.close(checkpoint=False)
    engine.close(checkpoint=checkpoints)
    reopened = Engine.open(db_path, clock=HandClock(0))
    assert time_of(reopened.kv.put("default", "default", b"k", b"3")) == after + 1
    reopened.close(checkpoint=False)


def test_numbers_continue_after_checkpoint_and_reopening(db_path: Path) -> None:
    """Spec: the first commit is 3, reopening takes no number, and none is given twice."""
    versions = []
    for _ in range(4):
        engine = Engine.open(db_path)
        versions.append(put(engine, "k", "1"))
        engine.close(checkpoint=len(versions) % 2 == 0)
    assert versions == [3, 4, 5, 6]
