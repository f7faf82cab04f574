"""Life times: gone at the head once they have passed, still there in the past."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.support import SECOND, HandClock, delete, keys, put, refused, value, version_of

from strata_mcp.engine import Engine
from strata_mcp.results.common import MutationEffectKind


def brief(engine: Engine, key: str = "brief", seconds: int = 10, branch: str = "default") -> int:
    """Write a value with a life time."""
    return version_of(engine.kv.put(branch, "default", key.encode(), b"v", expires_in_us=seconds * SECOND))


def test_it_lives_until_the_last_microsecond(engine: Engine, clock: HandClock) -> None:
    """Issue: a value is there for its whole life time and gone the moment it has passed."""
    brief(engine)
    clock.at_us += 10 * SECOND - 1
    assert value(engine, "brief") == "v"
    clock.at_us += 1
    assert value(engine, "brief") is None


def test_every_read_of_the_head_agrees(engine: Engine, clock: HandClock) -> None:
    """Issue: get, exists, count, list, scan, sample and batch reads leave an expired key out."""
    put(engine, "a", "1")
    brief(engine, "b")
    put(engine, "c", "1")
    kv = engine.kv
    assert keys(engine) == ["a", "b", "c"]
    clock.at_us += 10 * SECOND
    assert kv.get("default", "default", b"b") is None
    assert kv.get_value("default", "default", b"b") is None
    assert not kv.exists("default", "default", b"b")
    assert kv.count("default", "default") == 2
    assert kv.count("default", "default", b"b") == 0
    assert keys(engine) == ["a", "c"]
    assert [item.key for item in kv.scan("default", "default", limit=2).items] == [b"a", b"c"]
    assert not kv.scan("default", "default", limit=2).has_more
    assert kv.sample("default", "default").total_count == 2
    assert [item.result.found for item in kv.batch_get("default", "default", [b"a", b"b"])] == [True, False]
    assert [item.result.exists for item in kv.batch_exists("default", "default", [b"a", b"b"])] == [True, False]
    with engine.store.transaction("default"):
        assert value(engine, "b") is None
        assert keys(engine) == ["a", "c"]


def test_the_past_still_shows_it(engine: Engine, clock: HandClock) -> None:
    """Issue: as_of and history are not changed by the passing of time."""
    version = brief(engine)
    newest = put(engine, "other", "1")
    clock.at_us += 100 * SECOND
    assert value(engine, "brief", as_of=version) == "v"
    assert value(engine, "brief", as_of=newest) == "v"
    assert keys(engine, as_of=newest) == ["brief", "other"]
    assert engine.kv.count("default", "default", as_of=newest) == 2
    history = engine.kv.history("default", "default", b"brief")
    assert history is not None
    assert [(item.version, item.value, item.tombstone) for item in history] == [(version, b"v", False)]


def test_a_put_revives_it_for_good(engine: Engine, clock: HandClock) -> None:
    """Issue: writing an expired key creates it; without a life time it stays."""
    brief(engine)
    clock.at_us += 10 * SECOND
    assert engine.kv.put("default", "default", b"brief", b"new").effect.kind is MutationEffectKind.CREATED
    clock.at_us += 1000 * SECOND
    assert value(engine, "brief") == "new"
    assert engine.kv.count("default", "default") == 1


def test_a_put_replaces_the_life_time(engine: Engine, clock: HandClock) -> None:
    """Issue: each put decides anew; one without a life time before the old one ended takes it away."""
    brief(engine, "longer")
    brief(engine, "forever")
    clock.at_us += 5 * SECOND
    brief(engine, "longer")
    put(engine, "forever", "v")
    clock.at_us += 5 * SECOND
    assert keys(engine) == ["forever", "longer"]
    clock.at_us += 5 * SECOND
    assert keys(engine) == ["forever"]


def test_compare_and_set_sees_it_as_absent(engine: Engine, clock: HandClock) -> None:
    """Issue: if_version 0 matches an expired key, its old version no longer does."""
    version = brief(engine)
    clock.at_us += 10 * SECOND
    with refused("conflict.engine.version"):
        engine.kv.put("default", "default", b"brief", b"2", if_version=version)
    engine.kv.put("default", "default", b"brief", b"2", if_version=0)
    assert value(engine, "brief") == "2"


def test_deleting_an_expired_key_is_a_no_op(engine: Engine, clock: HandClock) -> None:
    """Ours: there is nothing left to delete, so nothing is committed."""
    brief(engine)
    brief(engine, "other")
    delete(engine, "other")
    clock.at_us += 10 * SECOND
    written = engine.kv.delete("default", "default", b"brief")
    assert written.commit is None
    assert written.effect.kind is MutationEffectKind.NOT_FOUND


def test_forks_inherit_it(engine: Engine, clock: HandClock) -> None:
    """Ours: an inherited value expires at the same instant on both branches, a new put on one revives it there only."""
    brief(engine)
    engine.branches.fork("default", "side")
    clock.at_us += 10 * SECOND
    assert value(engine, "brief", branch="side") is None
    assert keys(engine, branch="side") == []
    put(engine, "brief", "again", branch="side")
    assert [value(engine, "brief", branch=branch) for branch in ("default", "side")] == [None, "again"]


def test_it_expires_after_checkpoint_and_reopening(durable: Engine, db_path: Path, clock: HandClock) -> None:
    """Issue: the tables keep the instant of expiry."""
    version = brief(durable)
    put(durable, "stays", "1")
    durable.checkpoint()
    durable.store.reload()
    assert keys(durable) == ["brief", "stays"]
    clock.at_us += 10 * SECOND
    assert keys(durable) == ["stays"]
    assert durable.kv.count("default", "default") == 1
    other = Engine.open(db_path, clock=clock)
    assert value(other, "brief") is None
    assert value(other, "brief", as_of=version) == "v"
    other.close(checkpoint=False)


@pytest.mark.parametrize("life_us", [0, -1])
def test_a_life_time_is_positive(engine: Engine, life_us: int) -> None:
    """Issue: nothing can be written that is gone already."""
    with refused("invalid_argument.engine.expires_in"):
        engine.kv.put("default", "default", b"k", b"v", expires_in_us=life_us)


def test_a_life_time_of_any_length_is_fine(engine: Engine, clock: HandClock) -> None:
    """Ours: longer than any clock runs means for ever."""
    engine.kv.put("default", "default", b"k", b"v", expires_in_us=1 << 70)
    clock.at_us = 1 << 60
    assert value(engine, "k") == "v"
