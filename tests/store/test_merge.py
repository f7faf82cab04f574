"""Merges: field by field where the data allows it, and never silently over somebody's change."""

from __future__ import annotations

from typing import Any

import pytest
from tests.store.support import SECOND, HandClock, delete, keys, put, refused, value

from strata_mcp.engine import Engine
from strata_mcp.results.branches import ConflictKind, ConflictStrategyResult


def document(engine: Engine, key: str = "d", branch: str = "default") -> Any:
    """Read a whole document."""
    found = engine.json.get(branch, "default", key, "$")
    return None if found is None else found.value


def diverged(engine: Engine) -> None:
    """Branch `side` and `default` changed k both, and one of them removed what the other changed."""
    for key in ("k", "source-removed", "target-removed"):
        put(engine, key, "base")
    engine.branches.fork("default", "side")
    put(engine, "k", "source", branch="side")
    put(engine, "k", "target")
    delete(engine, "source-removed", branch="side")
    put(engine, "source-removed", "target")
    put(engine, "target-removed", "source", branch="side")
    delete(engine, "target-removed")
    put(engine, "only source", "1", branch="side")


def test_fields_changed_apart_merge(engine: Engine) -> None:
    """Issue: two sides that changed different fields of one document do not disagree."""
    engine.json.set("default", "default", "d", "$", {"a": 1, "b": {"x": 1, "y": 1}, "c": 1})
    engine.branches.fork("default", "side")
    engine.json.set("side", "default", "d", "$.b.x", 2)
    engine.json.set("side", "default", "d", "$.new", [1])
    engine.json.set("default", "default", "d", "$.b.y", 2)
    engine.json.delete("default", "default", "d", "$.c")
    assert engine.branches.merge("side", "default").conflicts == []
    assert document(engine) == {"a": 1, "b": {"x": 2, "y": 2}, "new": [1]}


@pytest.mark.parametrize(("strategy", "expected"), [("source_wins", 2), ("target_wins", 3)])
def test_a_disputed_field_leaves_the_others_alone(engine: Engine, strategy: str, expected: int) -> None:
    """Ours: a strategy decides the field in dispute; what only one side changed is kept from that side."""
    engine.json.set("default", "default", "d", "$", {"a": 1, "b": 1, "c": 1})
    engine.branches.fork("default", "side")
    engine.json.set("side", "default", "d", "$", {"a": 2, "b": 2, "c": 1})
    engine.json.set("default", "default", "d", "$", {"a": 3, "b": 1, "c": 3})
    with refused("conflict.engine.promotion"):
        engine.branches.merge("side", "default")
    outcome = engine.branches.merge("side", "default", strategy)
    assert [item.kind for item in outcome.conflicts] == [ConflictKind.VALUE_DIVERGENCE]
    assert document(engine) == {"a": expected, "b": 2, "c": 3}


def test_strict_refuses_and_writes_nothing(engine: Engine) -> None:
    """Spec: one disagreement refuses the whole merge; the error says how many there are."""
    diverged(engine)
    newest = engine.branches.log("default").items[0].version
    with refused("conflict.engine.promotion") as caught:
        engine.branches.merge("side", "default")
    assert caught.value.retry_policy == "after_state_change"
    assert caught.value.details["conflicts"] == "3"
    assert engine.branches.log("default").items[0].version == newest
    assert value(engine, "only source") is None


def test_preview_names_every_conflict(engine: Engine) -> None:
    """Spec: kind, both values and what the strategy would do, without writing anything."""
    diverged(engine)
    for strategy, result in (
        ("strict", ConflictStrategyResult.REFUSED),
        ("source_wins", ConflictStrategyResult.SOURCE_WINS),
        ("target_wins", ConflictStrategyResult.TARGET_WINS),
    ):
        found = engine.branches.preview("side", "default", strategy)
        assert [(item.identity, item.kind, item.source_value, item.target_value) for item in found.conflicts] == [
            (b"k", ConflictKind.VALUE_DIVERGENCE, b"source", b"target"),
            (b"source-removed", ConflictKind.MODIFY_DELETE_DIVERGENCE, None, b"target"),
            (b"target-removed", ConflictKind.MODIFY_DELETE_DIVERGENCE, b"source", None),
        ]
        assert {item.strategy_result for item in found.conflicts} == {result}
    assert value(engine, "only source") is None


def test_source_wins_takes_the_source_side(engine: Engine) -> None:
    """Spec: the source's values and deletions are applied, and the conflicts are still listed."""
    diverged(engine)
    outcome = engine.branches.merge("side", "default", "source_wins")
    assert len(outcome.conflicts) == 3
    assert [item.identity for item in outcome.deleted] == [b"source-removed"]
    assert [value(engine, key) for key in ("k", "source-removed", "target-removed")] == ["source", None, "source"]
    assert value(engine, "only source") == "1"
    assert engine.branches.diff("side", "default").spaces == []


def test_target_wins_keeps_the_target_side(engine: Engine) -> None:
    """Issue: what the target changed stays as it is; what only the source changed still comes over."""
    diverged(engine)
    outcome = engine.branches.merge("side", "default", "target_wins")
    assert len(outcome.conflicts) == 3
    assert [item.identity for item in outcome.applied] == [b"only source"]
    assert [value(engine, key) for key in ("k", "source-removed", "target-removed")] == ["target", "target", None]
    again = engine.branches.merge("side", "default", "strict")
    assert (again.conflicts, again.applied, again.target_version) == ([], [], None)


def test_the_same_change_on_both_sides_is_no_conflict(engine: Engine) -> None:
    """Spec: equal values and deletions on both sides leave nothing to do."""
    put(engine, "gone", "1")
    engine.branches.fork("default", "side")
    for branch in ("default", "side"):
        put(engine, "k", "same", branch=branch)
        delete(engine, "gone", branch=branch)
    outcome = engine.branches.merge("side", "default")
    assert (outcome.conflicts, outcome.applied, outcome.deleted, outcome.target_version) == ([], [], [], None)


def test_a_merge_is_one_commit_and_remembered(engine: Engine) -> None:
    """Spec: promoted rows carry the merge's version, and the target names what it was merged from."""
    engine.branches.fork("default", "side")
    put(engine, "a", "1", branch="side")
    engine.json.set("side", "default", "d", "$", {})
    outcome = engine.branches.merge("side", "default")
    assert outcome.target_version is not None
    history = engine.kv.history("default", "default", b"a")
    found = engine.json.get("default", "default", "d", "$")
    assert history is not None
    assert found is not None
    assert [history[0].version, found.version] == [outcome.target_version] * 2
    merged = engine.branches.get("default").merge_parent
    assert merged is not None
    assert (merged.source_name, merged.merged_at) == ("side", outcome.target_version)
    engine.branches.delete("side")
    assert engine.branches.get("default").merge_parent == merged
    assert value(engine, "a") == "1"


def test_spaces_follow(engine: Engine) -> None:
    """Spec: a space made on the source comes along, one emptied and removed there goes."""
    put(engine, "k", "1", space="old")
    put(engine, "k", "1", space="kept")
    engine.branches.fork("default", "side")
    put(engine, "k", "1", branch="side", space="fresh")
    engine.spaces.create("side", "empty")
    engine.spaces.delete("side", "old", force=True)
    engine.spaces.delete("side", "kept", force=True)
    put(engine, "more", "1", space="kept")
    engine.branches.merge("side", "default")
    assert engine.spaces.list("default").items == ["default", "empty", "fresh", "kept"]
    assert keys(engine, space="kept") == ["more"]
    assert value(engine, "k", space="fresh") == "1"


def test_a_life_time_is_carried(engine: Engine, clock: HandClock) -> None:
    """Ours: a promoted value expires when it would have expired on its own branch."""
    engine.branches.fork("default", "side")
    engine.kv.put("side", "default", b"k", b"v", expires_in_us=10 * SECOND)
    clock.at_us += 5 * SECOND
    engine.branches.merge("side", "default")
    assert value(engine, "k") == "v"
    clock.at_us += 5 * SECOND
    assert value(engine, "k") is None


def test_document_version_continues_on_the_target(engine: Engine) -> None:
    """Spec: the merge counts as one change of the target's document, whatever happened on the source."""
    engine.json.set("default", "default", "d", "$", {"a": 1})
    engine.branches.fork("default", "side")
    for number in range(5):
        engine.json.set("side", "default", "d", "$.a", number + 2)
    engine.json.set("side", "default", "new", "$", 1)
    engine.json.set("side", "default", "new", "$", 2)
    engine.json.set("default", "default", "d", "$.b", 1)
    engine.branches.merge("side", "default")
    versions = {}
    for key in ("d", "new"):
        found = engine.json.get("default", "default", key, "$")
        assert found is not None
        versions[key] = found.document_version
    assert versions == {"d": 3, "new": 1}


def test_branches_without_shared_history_do_not_merge(engine: Engine) -> None:
    """Spec: unrelated branches and a branch with itself are refused; unknown ones are not found."""
    engine.branches.create("alone")
    for source, target in (("alone", "default"), ("default", "alone"), ("default", "default")):
        for command in (engine.branches.merge, engine.branches.preview):
            with refused("invalid_argument.engine.branch_point"):
                command(source, target)
    with refused("not_found.engine.branch"):
        engine.branches.merge("unknown", "default")


def test_a_merge_of_thousands_of_keys_is_whole(durable: Engine) -> None:
    """Ours: the limit on the entries of one write does not cut a merge, and it survives a reopening of the tables."""
    durable.branches.fork("default", "side")
    for start in range(0, 6000, 1000):
        entries = [(b"%05d" % number, b"v") for number in range(start, start + 1000)]
        durable.kv.batch_put("side", "default", entries)
    outcome = durable.branches.merge("side", "default")
    assert len(outcome.applied) == 6000
    durable.checkpoint()
    durable.store.reload()
    assert durable.kv.count("default", "default") == 6000
    assert durable.branches.diff("side", "default").spaces == []


def test_merges_work_over_checkpointed_rows(durable: Engine) -> None:
    """Ours: base, source and target may each lie in the tables."""
    diverged(durable)
    durable.json.set("side", "default", "d", "$.a", 1)
    durable.checkpoint()
    durable.store.reload()
    assert len(durable.branches.preview("side", "default").conflicts) == 3
    durable.branches.merge("side", "default", "source_wins")
    durable.checkpoint()
    durable.store.reload()
    assert durable.branches.diff("side", "default").spaces == []
    assert durable.branches.merge("side", "default").target_version is None
