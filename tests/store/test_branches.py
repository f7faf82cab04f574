"""Branches: pointers into a shared past, however many there are and however deep they stand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.journal.doubles import CountingIo
from tests.store.support import HandClock, delete, keys, put, refused, value

from strata_mcp.engine import Engine
from strata_mcp.results.branches import BranchStatus

DEPTH = 300
MANY = 2000


def test_a_deep_chain_reads_what_each_link_saw(durable: Engine) -> None:
    """Issue: 300 forks of forks inherit every key up to each fork point, before and after a checkpoint."""
    put(durable, "shared", "0")
    parent = "default"
    for depth in range(1, DEPTH + 1):
        durable.branches.fork(parent, f"b{depth}")
        put(durable, "shared", f"later {depth}", branch=parent)
        put(durable, "after", "1", branch=parent)
        parent = f"b{depth}"
        put(durable, f"k{depth:03}", str(depth), branch=parent)
        if depth % 100 == 0:
            put(durable, "shared", str(depth), branch=parent)
    for reloaded in (False, True):
        if reloaded:
            durable.checkpoint()
            durable.store.reload()
        expected = [f"k{depth:03}" for depth in range(1, DEPTH + 1)]
        assert keys(durable, branch=parent) == [*expected, "shared"]
        assert durable.kv.count(parent, "default") == DEPTH + 1
        assert [value(durable, key, branch=parent) for key in ("k001", "k150", "k300")] == ["1", "150", "300"]
        assert value(durable, "shared", branch=parent) == "300"
        assert value(durable, "after", branch=parent) is None
        assert value(durable, "shared", branch="b99") == "later 100"
        assert keys(durable, branch="b2") == ["after", "k001", "k002", "shared"]
        assert len(durable.branches.log(parent, limit=1000).items) == 2 * DEPTH + 4


def test_deletions_in_a_deep_chain_hide_what_lies_below(engine: Engine) -> None:
    """Ours: a tombstone of any ancestor hides the key from its descendants only."""
    put(engine, "k", "1")
    parent = "default"
    for depth in range(1, 41):
        engine.branches.fork(parent, f"b{depth}")
        parent = f"b{depth}"
        if depth == 20:
            delete(engine, "k", branch=parent)
    assert value(engine, "k", branch="b19") == "1"
    assert value(engine, "k", branch="b40") is None
    assert keys(engine, branch="b40") == []


def test_many_branches_cost_what_one_costs(db_path: Path) -> None:
    """Issue: the 2000th fork makes the calls and writes the bytes the first one made, and reads find their branch."""
    io = CountingIo()
    engine = Engine.open(db_path, io=io)
    put(engine, "k", "base")
    costs = []
    for number in range(MANY):
        before, calls = engine.journal.size_bytes(), sum(io.calls.values())
        engine.branches.fork("default", f"agent-{number:04}")
        costs.append((engine.journal.size_bytes() - before, sum(io.calls.values()) - calls))
    assert costs[-1][0] <= costs[0][0] + 16
    assert max(calls for _, calls in costs[-100:]) <= max(costs[0][1], 1)
    assert len(engine.branches.list().items) == MANY + 1
    put(engine, "k", "mine", branch="agent-1234")
    assert value(engine, "k", branch="agent-1234") == "mine"
    assert value(engine, "k", branch="agent-1999") == "base"
    assert len(os.listdir(db_path / "journal")) <= 4
    engine.close(checkpoint=False)


def test_branches_are_isolated(engine: Engine) -> None:
    """Issue: writes, deletions and spaces of one branch do not show on the other, either way."""
    put(engine, "k", "1")
    put(engine, "gone", "1")
    engine.branches.fork("default", "side")
    put(engine, "k", "2", branch="side")
    delete(engine, "gone", branch="side")
    put(engine, "n", "1", branch="side", space="notes")
    put(engine, "new", "1")
    assert (value(engine, "k"), value(engine, "gone"), engine.spaces.list("default").items) == ("1", "1", ["default"])
    assert keys(engine, branch="side") == ["k"]


def test_siblings_and_grandparents_merge(engine: Engine) -> None:
    """Issue: any two branches that share history merge, in any direction."""
    put(engine, "k", "1")
    engine.branches.fork("default", "left")
    engine.branches.fork("default", "right")
    engine.branches.fork("right", "deep")
    put(engine, "left", "1", branch="left")
    put(engine, "right", "1", branch="right")
    put(engine, "deep", "1", branch="deep")
    delete(engine, "k", branch="deep")
    engine.branches.merge("left", "right")
    assert keys(engine, branch="right") == ["k", "left", "right"]
    engine.branches.merge("deep", "default")
    assert keys(engine) == ["deep"]
    engine.branches.merge("deep", "left")
    assert keys(engine, branch="left") == ["deep", "left"]


def test_two_way_merges_find_no_false_conflict(engine: Engine) -> None:
    """Issue: branches that keep exchanging changes only ever see what is new."""
    put(engine, "k", "0")
    engine.branches.fork("default", "side")
    for number in range(6):
        put(engine, "k", f"side {number}", branch="side")
        put(engine, f"main {number}", "1")
        assert engine.branches.merge("side", "default").conflicts == []
        outcome = engine.branches.merge("default", "side")
        assert outcome.conflicts == []
        assert [item.identity for item in outcome.applied] == [b"main %d" % number]
        put(engine, "k", f"main {number}")
        assert engine.branches.merge("default", "side").conflicts == []
        assert value(engine, "k", branch="side") == f"main {number}"
    assert engine.branches.diff("default", "side").spaces == []
    assert engine.branches.merge("side", "default").target_version is None


def test_a_recreated_branch_starts_empty(engine: Engine) -> None:
    """Issue: a new life of a name shows nothing of the former one, neither rows nor spaces nor its past."""
    first = engine.branches.create("work")
    old = put(engine, "k", "1", branch="work")
    put(engine, "n", "1", branch="work", space="notes")
    result = engine.branches.delete("work")
    assert result.branch.status is BranchStatus.DELETED
    with refused("not_found.engine.branch"):
        value(engine, "k", branch="work")
    with refused("not_found.engine.branch"):
        put(engine, "k", "2", branch="work")
    second = engine.branches.create("work")
    assert (first.generation, second.generation) == (1, 2)
    assert first.branch_id == second.branch_id
    assert keys(engine, branch="work") == []
    assert engine.kv.history("work", "default", b"k") is None
    assert engine.spaces.list("work").items == ["default"]
    with refused("history_unavailable.engine.persistence_history"):
        value(engine, "k", branch="work", as_of=old)
    put(engine, "k", "2", branch="work")
    assert value(engine, "k", branch="work") == "2"


def test_a_fork_of_a_recreated_branch_sees_the_new_life(engine: Engine) -> None:
    """Ours: bound readers and writers follow the name to its present life."""
    engine.branches.create("work")
    put(engine, "k", "old", branch="work")
    assert engine.kv.get_value("work", "default", b"k") == b"old"
    engine.branches.delete("work")
    engine.branches.fork("default", "work")
    assert engine.kv.get_value("work", "default", b"k") is None
    put(engine, "k", "new", branch="work")
    engine.branches.fork("work", "more")
    assert engine.kv.get_value("more", "default", b"k") == b"new"


def test_forks_start_at_a_version(engine: Engine) -> None:
    """Issue: a fork at a commit shows that commit's state; what is no commit of the source is refused."""
    first = put(engine, "k", "1")
    engine.branches.create("other")
    second = put(engine, "k", "2")
    put(engine, "k", "3")
    item = engine.branches.fork_at_version("default", "at-first", first)
    assert value(engine, "k", branch="at-first") == "1"
    assert item.parent is not None
    assert (item.parent.fork_version, item.parent.fork_timestamp, item.parent.name) == (first, None, "default")
    for wrong in (0, second - 1, second + 100):
        with refused("history_unavailable.engine.persistence_history"):
            engine.branches.fork_at_version("default", "never", wrong)
    engine.branches.fork_at_version("at-first", "inherited", first)
    assert value(engine, "k", branch="inherited") == "1"
    assert [item.name for item in engine.branches.list().items] == ["at-first", "default", "inherited", "other"]


def test_forks_start_at_a_position(engine: Engine) -> None:
    """Issue: a fork at a position resolves down to the commit that covers it and records both numbers."""
    first = put(engine, "k", "1")
    engine.branches.create("other")
    second = put(engine, "k", "2")
    item = engine.branches.fork_at_timestamp("default", "between", second - 1)
    assert item.parent is not None
    assert (item.parent.fork_version, item.parent.fork_timestamp) == (first, second - 1)
    assert value(engine, "k", branch="between") == "1"
    with refused("history_unavailable.engine.persistence_history"):
        engine.branches.fork_at_timestamp("default", "never", second + 1)


def test_a_durable_branch_with_children_stays(durable: Engine, db_path: Path) -> None:
    """Spec: deleting it is refused while a live fork exists, also for a handle that did not make the fork."""
    durable.branches.fork("default", "parent")
    durable.branches.fork("parent", "child")
    other = Engine.open(db_path)
    for engine in (durable, other):
        with refused("failed_precondition.engine.branch_has_children"):
            engine.branches.delete("parent")
    other.branches.delete("child")
    durable.branches.delete("parent")
    assert [item.name for item in durable.branches.list().items] == ["default"]
    other.close(checkpoint=False)


def test_a_cache_branch_with_children_goes_and_they_live_on(clock: HandClock) -> None:
    """Spec: in memory the parent may go; the child keeps what it inherited."""
    engine = Engine.open(cache=True, clock=clock)
    engine.branches.fork("default", "parent")
    put(engine, "k", "1", branch="parent")
    engine.branches.fork("parent", "child")
    engine.branches.delete("parent")
    assert value(engine, "k", branch="child") == "1"
    engine.branches.create("parent")
    assert keys(engine, branch="parent") == []
    assert value(engine, "k", branch="child") == "1"
    with refused("invalid_argument.engine.branch_point"):
        engine.branches.merge("child", "parent")
    engine.close()


def test_default_stays(engine: Engine) -> None:
    """Spec: the default branch can be neither created nor deleted, and unknown ones cannot be deleted."""
    with refused("already_exists.engine.branch"):
        engine.branches.create("default")
    for name in ("default", "unknown"):
        with refused("invalid_argument.engine.branch_delete"):
            engine.branches.delete(name)


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "\x7f", "x" * 256, "é" * 128, "00000000-0000-0000-0000-000000000000"]
)
def test_names_no_branch_can_have(engine: Engine, name: str) -> None:
    """Spec: 1 to 255 bytes, not blank, no control characters, not the id of the default branch."""
    for command in (engine.branches.create, lambda name: engine.branches.fork("default", name)):
        with refused("invalid_argument.engine.branch_name"):
            command(name)


def test_names_a_branch_can_have(engine: Engine) -> None:
    """Spec: slashes, dots, spaces, case and any script are fine; names are listed by their bytes."""
    names = ["a/b", "A", "a b", "..", "x" * 255, "é" * 127, "日本"]
    for name in names:
        engine.branches.create(name)
    found = [item.name for item in engine.branches.list().items]
    assert found == sorted([*names, "default"], key=str.encode)
    with refused("invalid_argument.engine.branch_name_reserved"):
        engine.branches.create("_x")


def test_a_branch_made_by_another_handle_shows_at_once(durable: Engine, db_path: Path) -> None:
    """Issue: branches follow other handles as rows do, through deletion and re-creation."""
    other = Engine.open(db_path)
    other.branches.create("work")
    put(other, "k", "1", branch="work")
    assert value(durable, "k", branch="work") == "1"
    other.branches.delete("work")
    with refused("not_found.engine.branch"):
        value(durable, "k", branch="work")
    other.branches.fork("default", "work")
    assert value(durable, "k", branch="work") is None
    put(durable, "k", "2", branch="work")
    assert value(other, "k", branch="work") == "2"
    other.close(checkpoint=False)
