"""`Json`: documents, their versions, pages and batches."""

from __future__ import annotations

from typing import Any

import pytest
from tests.primitives.support import HOME, refused

from strata_mcp.engine import Engine
from strata_mcp.results.common import MutationEffectKind, Written
from strata_mcp.results.documents import JsonBatchGetItemResult, JsonBatchItemResult

KIND = MutationEffectKind
ID = "invalid_argument.engine.json_document_id"


def counts(written: Written) -> tuple[int, int]:
    """(puts, deletes) of the receipt."""
    assert written.commit is not None
    return written.commit.put_count, written.commit.delete_count


def version_of(engine: Engine, key: str) -> int:
    """Document version at the head; 0 when absent."""
    found = engine.json.get(*HOME, key, "$")
    return 0 if found is None else found.document_version


def test_a_document_is_set_read_and_deleted(engine: Engine) -> None:
    """Spec: effects, receipts, and the version data of the whole document whatever the path."""
    json = engine.json
    made = json.set(*HOME, "d", "a.b", 5)
    assert (made.key, made.effect.kind, counts(made)) == ("d", KIND.CREATED, (1, 0))
    changed = json.set(*HOME, "d", "$.c", [1, None])
    assert (changed.effect.kind, counts(changed)) == (KIND.UPDATED, (1, 0))
    found = json.get(*HOME, "d", "c[1]")
    assert found is not None
    assert changed.commit is not None
    assert (found.value, found.document_version, found.version) == (None, 2, changed.commit.version)
    assert json.get(*HOME, "d", "c[2]") is None
    assert json.exists(*HOME, "d")
    part = json.delete(*HOME, "d", "c[0]")
    assert (part.effect.kind, counts(part)) == (KIND.DELETED, (1, 0))
    assert json.delete(*HOME, "d", "zz").effect.kind is KIND.NOT_FOUND
    whole = json.delete(*HOME, "d", "$")
    assert (whole.effect.kind, counts(whole)) == (KIND.DELETED, (0, 1))
    gone = json.delete(*HOME, "d", "$")
    assert (gone.effect.kind, gone.commit) == (KIND.NOT_FOUND, None)
    assert not json.exists(*HOME, "d")


def test_document_versions_count_and_restart(engine: Engine) -> None:
    """Spec: 1 at first, one more with each change, 1 again after a delete."""
    json = engine.json
    for expected in (1, 2, 3):
        json.set(*HOME, "d", "n", expected)
        assert version_of(engine, "d") == expected
    json.delete(*HOME, "d", "n")
    assert version_of(engine, "d") == 4
    json.delete(*HOME, "d", "nothing")
    assert version_of(engine, "d") == 4
    json.delete(*HOME, "d", "$")
    json.set(*HOME, "d", "$", 1)
    assert version_of(engine, "d") == 1
    history = json.history(*HOME, "d")
    assert history is not None
    assert [item.document_version for item in history] == [1, None, 4, 3, 2, 1]
    assert [item.tombstone for item in history] == [False, True, False, False, False, False]
    assert json.history(*HOME, "never") is None


@pytest.mark.parametrize("key", ["", "a\nb", "a\0b", "x" * 65_536, "\ud800"])
def test_ids_have_rules(engine: Engine, key: str) -> None:
    """Spec: 1 to 65535 bytes without NUL and newline, in every command that takes one."""
    json = engine.json
    for call in (
        lambda: json.set(*HOME, key, "$", 1),
        lambda: json.get(*HOME, key, "$"),
        lambda: json.delete(*HOME, key, "$"),
        lambda: json.exists(*HOME, key),
        lambda: json.history(*HOME, key),
        lambda: json.scan(*HOME, start=key),
    ):
        with refused(ID):
            call()
    for batch in (
        json.batch_set(*HOME, [(key, "$", 1)]),
        json.batch_get(*HOME, [(key, "$")]),
        json.batch_delete(*HOME, [(key, "$"), (key, "$")]),
        json.batch_exists(*HOME, [key]),
    ):
        assert batch.status == "error"
        assert batch[0].error is not None
        assert batch[0].error.code == ID


def test_a_refused_change_leaves_everything_as_it_was(engine: Engine) -> None:
    """Spec: path clashes are typed and write nothing."""
    json = engine.json
    json.set(*HOME, "d", "$", {"a": 1, "l": [1], "n": None})
    before = engine.store.journal.head
    for path, code in (
        ("a.b", "json_path_type"),
        ("l.x", "json_path_type"),
        ("a[0]", "json_path_type"),
        ("l[1]", "json_path_not_found"),
        ("bad[", "json_path"),
    ):
        with refused(f"invalid_argument.engine.{code}"):
            json.set(*HOME, "d", path, 1)
    with refused("invalid_argument.engine.json_path_type"):
        json.delete(*HOME, "d", "n.x")
    assert engine.store.journal.head == before
    assert version_of(engine, "d") == 1


@pytest.mark.parametrize(("steps", "value"), [(101, 1), (256, 1), (100, {}), (100, [])])
def test_a_path_does_not_reach_below_the_deepest_level(engine: Engine, steps: int, value: Any) -> None:
    """Spec, limits: 100 containers, also when the path makes them."""
    with refused("invalid_argument.engine.json_document_too_deep"):
        engine.json.set(*HOME, "d", ".".join("a" * steps), value)
    with refused("invalid_argument.engine.json_document_too_deep"):
        engine.json.batch_set(*HOME, [("d", ".".join("a" * steps), value)])
    engine.json.set(*HOME, "d", ".".join("a" * (steps if steps < 100 else 99)), value)
    assert version_of(engine, "d") == 1


def test_a_document_is_swapped_only_at_its_version(engine: Engine) -> None:
    """Ours: if_version compares the commit number, 0 means absent."""
    json = engine.json
    made = json.set(*HOME, "d", "$", {"a": 1}, if_version=0)
    assert made.commit is not None
    at = made.commit.version
    with refused("conflict.engine.version"):
        json.set(*HOME, "d", "$", 2, if_version=0)
    with refused("conflict.engine.version"):
        json.delete(*HOME, "d", "a", if_version=at + 1)
    json.set(*HOME, "d", "a", 2, if_version=at)
    with refused("conflict.engine.version"):
        json.delete(*HOME, "d", "$", if_version=at)
    assert version_of(engine, "d") == 2


def test_what_was_passed_in_stays_the_callers(engine: Engine) -> None:
    """Design: neither a value passed in nor one read out is shared with the database."""
    value: dict[str, Any] = {"l": [1]}
    engine.json.set(*HOME, "d", "$", value)
    value["l"].append(2)
    read = engine.json.get(*HOME, "d", "$")
    assert read is not None
    assert read.value == {"l": [1]}
    value = read.value  # type: ignore[assignment]  # an object
    value["l"].append(3)
    again = engine.json.get(*HOME, "d", "$")
    assert again is not None
    assert again.value == {"l": [1]}


def test_the_past_stays_readable(engine: Engine) -> None:
    """Issue: every read takes a position."""
    json = engine.json
    first = json.set(*HOME, "d", "$", 1).commit
    assert first is not None
    json.set(*HOME, "d", "$", 2)
    json.set(*HOME, "e", "$", 2)
    was = json.get(*HOME, "d", "$", as_of=first.version)
    assert was is not None
    assert (was.value, was.document_version) == (1, 1)
    assert json.count(*HOME, as_of=first.version) == 1
    assert json.list(*HOME, as_of=first.version).items == ["d"]
    assert json.batch_get(*HOME, [("e", "$")], as_of=first.version)[0].status == "miss"
    assert json.batch_get(*HOME, [("d", "$")], as_of_time=first.committed_at)[0].result.value == 1


def test_documents_come_in_pages(engine: Engine) -> None:
    """Spec: list is exclusive and 100 long by default, scan is inclusive and unlimited."""
    json = engine.json
    json.batch_set(*HOME, [(f"k{n:03}", "$", n) for n in range(120)])
    page = json.list(*HOME)
    assert (len(page.items), page.has_more, page.cursor) == (100, True, "k099")
    rest = json.list(*HOME, cursor=page.cursor)
    assert (rest.items[0], len(rest.items), rest.has_more, rest.cursor) == ("k100", 20, False, None)
    assert json.list(*HOME, prefix="k11", limit=3).items == ["k110", "k111", "k112"]
    assert json.list(*HOME, limit=0).items == []
    assert json.list(*HOME, prefix="\ud800").items == []
    assert len(json.scan(*HOME).items) == 120
    scanned = json.scan(*HOME, start="k010", limit=2)
    assert ([row.key for row in scanned.items], scanned.cursor) == (["k010", "k011"], "k012")
    assert (json.count(*HOME), json.count(*HOME, "k00")) == (120, 10)
    sample = json.sample(*HOME, prefix="k0", count=4)
    assert ([row.value for row in sample], sample.total_count) == ([0, 25, 50, 75], 100)
    for call in (
        lambda: json.list(*HOME, limit=-1),
        lambda: json.scan(*HOME, limit=-1),
        lambda: json.sample(*HOME, count=-1),
        lambda: json.query(*HOME, limit=-1),
        lambda: json.query(*HOME, offset=-1),
    ):
        with refused("invalid_argument.engine.limit"):
            call()


def test_a_batch_is_one_commit_in_order(engine: Engine) -> None:
    """Spec: entries of one document apply in order, a malformed one fails alone."""
    batch = engine.json.batch_set(
        *HOME, [("d", "$", {}), ("d", "a", 1), ("", "$", 1), ("e", "x", 2), ("d", "bad[", 1), ("d", "b.c", 2)]
    )
    assert [item.status for item in batch] == ["ok", "ok", "error", "ok", "error", "ok"]
    assert [item.result for item in batch] == [JsonBatchItemResult(n) for n in (1, 2, None, 1, None, 3)]
    assert (batch.status, batch.applied) == ("partial", True)
    assert batch.commit is not None
    assert (batch.commit.put_count, batch[0].commit, batch[2].commit) == (2, batch.commit, None)
    found = engine.json.batch_get(*HOME, [("d", "$"), ("d", "zz"), ("no", "$"), ("d", "bad[")])
    assert [item.status for item in found] == ["ok", "miss", "miss", "error"]
    assert found[0].result.value == {"a": 1, "b": {"c": 2}}
    assert found[1].result == JsonBatchGetItemResult(False, None)
    assert [item.result and item.result.exists for item in engine.json.batch_exists(*HOME, ["d", "no", ""])] == [
        True,
        False,
        None,
    ]
    assert engine.json.batch_set(*HOME, []).status == "ok"


def test_a_batch_deletes_in_one_commit(engine: Engine) -> None:
    """Spec: absent places are fine, the same place twice is refused, malformed entries fail alone."""
    json = engine.json
    json.batch_set(*HOME, [("d", "$", {"a": 1, "b": 2}), ("e", "$", 1)])
    with refused("invalid_argument.executor.json_batch_duplicate_key"):
        json.batch_delete(*HOME, [("d", "a"), ("d", "a")])
    batch = json.batch_delete(*HOME, [("d", "a"), ("d", "b"), ("e", "$"), ("e", ""), ("no", "$"), ("d", "bad[")])
    assert [item.applied for item in batch] == [True, True, True, False, False, False]
    assert batch.status == "partial"
    assert batch.commit is not None
    assert (batch.commit.put_count, batch.commit.delete_count) == (1, 1)
    assert version_of(engine, "d") == 3
    none = json.batch_delete(*HOME, [("no", "$")])
    assert (none.status, none.commit) == ("ok", None)


def test_a_batch_that_clashes_writes_nothing(engine: Engine) -> None:
    """Spec: a path-type clash fails the whole batch, also inside a transaction that goes on."""
    json = engine.json
    entries = [("new", "$", 1), ("d", "$", 1), ("d", "a", 1)]
    with refused("invalid_argument.engine.json_path_type"):
        json.batch_set(*HOME, entries)
    assert json.count(*HOME) == 0
    with engine.store.transaction("default"):
        json.set(*HOME, "kept", "$", 1)
        with refused("invalid_argument.engine.json_path_type"):
            json.batch_set(*HOME, entries)
        with refused("invalid_argument.engine.json_path_type"):
            json.batch_delete(*HOME, [("kept", "$"), ("kept", "$.a"), ("other", "$"), ("kept", "")][1:2])
    assert json.list(*HOME).items == ["kept"]


def test_a_transaction_is_one_commit_of_its_own_writes(engine: Engine) -> None:
    """Issue: reads inside see the writes before them; all receipts are those of the one commit."""
    json = engine.json
    json.set(*HOME, "d", "$", {"a": 1})
    with engine.store.transaction("default"):
        batch = json.batch_set(*HOME, [("d", "b", 2), ("e", "$", 1)])
        single = json.set(*HOME, "d", "c", 3)
        assert json.list(*HOME).items == ["d", "e"]
        assert [row.key for row in json.query(*HOME, filter={"c": 3}).items] == ["d"]
        removed = json.batch_delete(*HOME, [("e", "$")])
    assert single.commit is not None
    assert batch.commit is single.commit
    assert batch[0].commit is single.commit
    assert removed.commit is single.commit
    assert single.commit.version == engine.store.journal.head
    assert (single.commit.put_count, single.commit.delete_count) == (1, 1)
    assert json.list(*HOME).items == ["d"]


def test_spaces_and_branches_keep_documents_apart(engine: Engine) -> None:
    """Issue: a name means one document per branch and space."""
    json = engine.json
    json.set(*HOME, "d", "$", 1)
    json.set("default", "notes", "d", "$", 2)
    engine.branches.fork("default", "fork")
    json.set("fork", "default", "d", "$", 3)
    values = [json.get(branch, space, "d", "$") for branch in ("default", "fork") for space in ("default", "notes")]
    assert [found and found.value for found in values] == [1, 2, 3, 2]
    assert [found and found.document_version for found in values] == [1, 1, 2, 1]
    with refused("not_found.engine.branch"):
        json.get("nowhere", "default", "d", "$")
    with refused("invalid_argument.engine.product_space_reserved"):
        json.set("default", "_own", "d", "$", 1)
