"""`Kv`: pairs, pages, batches, life times."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.primitives.support import HOME, HandClock, refused

from strata_mcp.engine import Engine
from strata_mcp.results.common import MutationEffectKind, Written
from strata_mcp.results.kv import BatchGetItemResult, SampleItem, ScanItem

KIND = MutationEffectKind
KEY = "invalid_argument.engine.kv_key"
KEYS = st.binary(min_size=1, max_size=3)
SECOND = 1_000_000


def version(written: Written) -> int:
    """Commit number of a write that happened."""
    assert written.commit is not None
    return written.commit.version


def test_a_pair_is_put_read_and_deleted(engine: Engine) -> None:
    """Spec: effects, receipts and versions."""
    kv = engine.kv
    first = kv.put(*HOME, b"k", b"1")
    second = kv.put(*HOME, b"k", b"")
    assert (first.key, first.effect.kind, second.effect.kind) == (b"k", KIND.CREATED, KIND.UPDATED)
    assert version(second) == version(first) + 1
    found = kv.get(*HOME, b"k")
    assert found is not None
    assert (found.value, found.version, found.timestamp) == (b"", version(second), version(second))
    assert kv.get_value(*HOME, b"k") == b""
    assert kv.exists(*HOME, b"k")
    gone = kv.delete(*HOME, b"k")
    assert gone.commit is not None
    assert (gone.effect.kind, gone.commit.put_count, gone.commit.delete_count) == (KIND.DELETED, 0, 1)
    again = kv.delete(*HOME, b"k")
    assert (again.effect.kind, again.commit) == (KIND.NOT_FOUND, None)
    assert kv.get(*HOME, b"k") is None
    assert kv.get_value(*HOME, b"k") is None
    history = kv.history(*HOME, b"k")
    assert history is not None
    assert [(item.tombstone, item.value) for item in history] == [(True, None), (False, b""), (False, b"1")]
    assert kv.history(*HOME, b"never") is None


@given(st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)), max_size=20), KEYS, st.integers(0, 5))
def test_pairs_are_a_sorted_dict(changes: list[tuple[bytes, bytes | None]], probe: bytes, limit: int) -> None:
    """Design: whatever is written, reads in order agree with a dict, page by page."""
    model: dict[bytes, bytes] = {}
    engine = Engine.open(None, cache=True)
    kv = engine.kv
    for key, value in changes:
        if value is None:
            kv.delete(*HOME, key)
            model.pop(key, None)
        else:
            kv.put(*HOME, key, value)
            model[key] = value
    keys = sorted(model)
    below = [key for key in keys if key.startswith(probe)]
    assert kv.list(*HOME).items == keys
    assert kv.list(*HOME, prefix=probe).items == below
    assert (kv.count(*HOME), kv.count(*HOME, probe)) == (len(keys), len(below))
    assert [(row.key, row.value) for row in kv.scan(*HOME, start=probe).items] == [
        (key, model[key]) for key in keys if key >= probe
    ]
    listed: list[bytes] = []
    cursor = None
    while True:
        page = kv.list(*HOME, cursor=cursor, limit=limit + 1)
        listed += page.items
        if not page.has_more:
            break
        cursor = page.cursor
    assert listed == keys
    sample = kv.sample(*HOME, count=limit)
    assert sample.total_count == len(keys)
    assert len(sample) == min(limit, len(keys))
    for key in {*keys, probe}:
        assert kv.get_value(*HOME, key) == model.get(key)
    engine.close()


def test_pages_and_samples(engine: Engine) -> None:
    """Spec: list cursors are exclusive, scan cursors inclusive, samples evenly spread."""
    kv = engine.kv
    made = kv.batch_put(*HOME, [(f"{n:02}".encode(), b"v") for n in range(10)])
    assert made.commit is not None
    at = made.commit.version
    page = kv.list(*HOME, limit=4)
    assert (page.items[-1], page.has_more, page.cursor) == (b"03", True, b"03")
    assert kv.list(*HOME, cursor=b"03", limit=100).items[0] == b"04"
    assert kv.list(*HOME, limit=0).items == []
    scan = kv.scan(*HOME, start=b"03", limit=2)
    assert scan.items == [ScanItem(b"03", at, b"v", at), ScanItem(b"04", at, b"v", at)]
    assert (scan.has_more, scan.cursor) == (True, b"05")
    assert kv.sample(*HOME, count=2).items == [SampleItem(b"00", at, b"v", at), SampleItem(b"05", at, b"v", at)]
    assert len(kv.sample(*HOME, count=0)) == 0
    for call in (
        lambda: kv.list(*HOME, limit=-1),
        lambda: kv.scan(*HOME, limit=-1),
        lambda: kv.sample(*HOME, count=-1),
    ):
        with refused("invalid_argument.engine.limit"):
            call()


def test_an_empty_key_is_refused_everywhere(engine: Engine) -> None:
    """Spec: a key has at least one byte; in a batch only its entry fails."""
    kv = engine.kv
    calls: list[Any] = [
        lambda: kv.put(*HOME, b"", b"1"),
        lambda: kv.put(*HOME, b"", b"1", if_version=0),
        lambda: kv.get(*HOME, b""),
        lambda: kv.get_value(*HOME, b""),
        lambda: kv.delete(*HOME, b""),
        lambda: kv.exists(*HOME, b""),
        lambda: kv.history(*HOME, b""),
        lambda: kv.count(*HOME, b""),
        lambda: kv.list(*HOME, prefix=b""),
        lambda: kv.scan(*HOME, start=b""),
    ]
    for call in calls:
        with refused(KEY):
            call()
    for batch in (
        kv.batch_put(*HOME, [(b"", b"1"), (b"k", b"1"), (b"", b"2")]),
        kv.batch_get(*HOME, [b"", b"k"]),
        kv.batch_exists(*HOME, [b"", b"k"]),
        kv.batch_delete(*HOME, [b"", b"k"]),
    ):
        assert batch.status == "partial"
        assert batch[0].error is not None
        assert (batch[0].error.code, batch[1].status) == (KEY, "ok")


def test_keys_and_rows_have_limits(engine: Engine) -> None:
    """Spec: an encoded key of 64 KiB, a row of 16 MiB; nothing is written beyond."""
    kv = engine.kv
    kv.put(*HOME, b"k" * 65_000, b"1")
    for key, value in ((b"k" * 65_536, b"1"), (b"k", bytes(16_777_216))):
        with refused("invalid_argument.engine.persistence"):
            kv.put(*HOME, key, value)
    assert kv.count(*HOME) == 1


def test_batches_are_one_commit(engine: Engine) -> None:
    """Spec: one shared receipt; absent keys are misses of a read and no effect of a delete."""
    kv = engine.kv
    made = kv.batch_put(*HOME, [(b"a", b"1"), (b"b", b"2")])
    assert made.commit is not None
    assert (made.status, made.commit.put_count, made[1].commit) == ("ok", 2, made.commit)
    found = kv.batch_get(*HOME, [b"a", b"x", b"a"])
    at = made.commit.version
    assert [item.status for item in found] == ["ok", "miss", "ok"]
    assert found[0].result == BatchGetItemResult(True, b"a", at, b"1", at)
    assert found.status == "partial"
    present = kv.batch_exists(*HOME, [b"a", b"x"])
    assert (present.status, [item.result.exists for item in present]) == ("ok", [True, False])
    removed = kv.batch_delete(*HOME, [b"a", b"x"])
    assert removed.commit is not None
    assert (removed.status, removed.commit.delete_count) == ("partial", 1)
    assert [item.effect and item.effect.kind for item in removed] == [KIND.DELETED, KIND.NOT_FOUND]
    for repeated in (lambda: kv.batch_put(*HOME, [(b"a", b"1")] * 2), lambda: kv.batch_delete(*HOME, [b"a", b"a"])):
        with refused("invalid_argument.executor.kv_batch_duplicate_key"):
            repeated()
    assert kv.batch_put(*HOME, []).commit is None


def test_a_batch_in_a_transaction_has_its_receipt(engine: Engine) -> None:
    """Issue: all writes of a transaction share the commit, whichever call made them."""
    with engine.store.transaction("default"):
        batch = engine.kv.batch_put(*HOME, [(b"a", b"1")])
        single = engine.kv.put(*HOME, b"b", b"2")
        nothing = engine.kv.batch_delete(*HOME, [b"x"])
    assert batch.commit is single.commit
    assert batch[0].commit is single.commit
    assert single.commit is not None
    assert (single.commit.put_count, single.commit.version) == (2, engine.store.journal.head)
    assert nothing.commit is None


def test_a_pair_is_swapped_only_at_its_version(engine: Engine) -> None:
    """Ours: if_version compares the commit number, 0 means absent."""
    kv = engine.kv
    at = version(kv.put(*HOME, b"k", b"1", if_version=0))
    for call in (
        lambda: kv.put(*HOME, b"k", b"2", if_version=0),
        lambda: kv.put(*HOME, b"k", b"2", if_version=at - 1),
        lambda: kv.delete(*HOME, b"k", if_version=at + 1),
    ):
        with refused("conflict.engine.version"):
            call()
    assert kv.put(*HOME, b"k", b"2", if_version=at).effect.kind is KIND.UPDATED
    assert kv.get_value(*HOME, b"k") == b"2"


def test_a_pair_lives_as_long_as_it_was_given(engine: Engine, clock: HandClock) -> None:
    """Ours: gone at the head once its time has passed, still there in the past and in the history."""
    kv = engine.kv
    at = version(kv.put(*HOME, b"k", b"1", expires_in_us=SECOND))
    kv.put(*HOME, b"stays", b"2")
    clock.at_us += SECOND - 2
    assert kv.get_value(*HOME, b"k") == b"1"
    clock.at_us += 2
    assert kv.get_value(*HOME, b"k") is None
    assert kv.get(*HOME, b"k") is None
    assert not kv.exists(*HOME, b"k")
    assert (kv.list(*HOME).items, kv.count(*HOME), len(kv.scan(*HOME).items)) == ([b"stays"], 1, 1)
    assert kv.batch_get(*HOME, [b"k"])[0].status == "miss"
    past = kv.get(*HOME, b"k", as_of=at)
    assert past is not None
    assert past.value == b"1"
    assert kv.count(*HOME, as_of=at) == 1
    history = kv.history(*HOME, b"k")
    assert history is not None
    assert history[0].value == b"1"
    assert kv.delete(*HOME, b"k").commit is None
    assert kv.put(*HOME, b"k", b"3", if_version=0).effect.kind is KIND.CREATED
    clock.at_us += 100 * SECOND
    assert kv.get_value(*HOME, b"k") == b"3"


@pytest.mark.parametrize("life_us", [0, -1])
def test_a_life_time_is_positive(engine: Engine, life_us: int) -> None:
    """Ours: nothing is born dead."""
    with refused("invalid_argument.engine.expires_in"):
        engine.kv.put(*HOME, b"k", b"1", expires_in_us=life_us)
    assert engine.kv.count(*HOME) == 0


def test_bound_calls_follow_branches(engine: Engine) -> None:
    """Design: the fast paths stay right when a branch is forked, deleted and made again."""
    kv = engine.kv
    kv.put(*HOME, b"k", b"1")
    for life in (b"2", b"3"):
        engine.branches.fork("default", "f")
        assert kv.get_value("f", "default", b"k") == b"1"
        kv.put("f", "default", b"k", life)
        assert (kv.get_value("f", "default", b"k"), kv.get_value(*HOME, b"k")) == (life, b"1")
        engine.branches.delete("f")
        with refused("not_found.engine.branch"):
            kv.get_value("f", "default", b"k")
        with refused("not_found.engine.branch"):
            kv.put("f", "default", b"k", b"x")


def test_bound_calls_respect_a_transaction(engine: Engine) -> None:
    """Design: inside a transaction both fast paths see and stage its writes; a rollback drops them."""
    kv = engine.kv
    kv.put(*HOME, b"k", b"1")
    assert kv.get_value(*HOME, b"k") == b"1"

    def change_and_fail() -> None:
        kv.put(*HOME, b"k", b"2")
        assert kv.get_value(*HOME, b"k") == b"2"
        kv.put(*HOME, b"", b"3")

    with refused(KEY), engine.store.transaction("default"):
        change_and_fail()
    assert kv.get_value(*HOME, b"k") == b"1"
