"""Transactions: all or nothing, reading their own writes, and refused when the ground moved under them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.support import HandClock, delete, in_thread, keys, put, refused, value

from strata_mcp.engine import Engine
from strata_mcp.results.common import CommitDurability


def test_writes_of_all_families_are_one_commit(engine: Engine) -> None:
    """Issue: values and documents written in a transaction share one version."""
    with engine.store.transaction("default"):
        put_receipt = engine.kv.put("default", "default", b"k", b"v").commit
        engine.json.set("default", "default", "doc", "$.a", 1)
        engine.kv.batch_put("default", "notes", [(b"x", b"1"), (b"y", b"2")])
        assert in_thread(lambda: (value(engine, "k"), engine.json.exists("default", "default", "doc"))) == (None, False)
    document = engine.json.get("default", "default", "doc", "$")
    entry = engine.kv.get("default", "default", b"k")
    note = engine.kv.get("default", "notes", b"x")
    assert document is not None
    assert entry is not None
    assert note is not None
    assert put_receipt is not None
    assert {document.version, entry.version, note.version} == {put_receipt.version}
    assert len(engine.branches.log("default").items) == 1


def test_a_transaction_reads_its_own_writes(engine: Engine) -> None:
    """Issue: gets, counts, lists and scans inside see what was staged, puts and deletions alike."""
    for key in ("a", "b", "d"):
        put(engine, key, "old")
    with engine.store.transaction("default"):
        engine.kv.put("default", "default", b"c", b"new")
        engine.kv.put("default", "default", b"b", b"changed")
        engine.kv.delete("default", "default", b"d")
        assert value(engine, "b") == "changed"
        assert value(engine, "d") is None
        assert engine.kv.exists("default", "default", b"c")
        assert keys(engine) == ["a", "b", "c"]
        assert engine.kv.count("default", "default") == 3
        rows = engine.kv.scan("default", "default", start=b"b", limit=2)
        assert [(item.key, item.value) for item in rows.items] == [(b"b", b"changed"), (b"c", b"new")]
        assert engine.kv.get_value("default", "default", b"c") == b"new"
        assert [item.result.exists for item in engine.kv.batch_exists("default", "default", [b"c", b"d"])] == [1, 0]
    assert keys(engine) == ["a", "b", "c"]


def test_an_exception_drops_everything(engine: Engine) -> None:
    """Issue: what was staged before the exception is gone, and the next transaction starts clean."""
    put(engine, "k", "before")

    def fail_halfway() -> None:
        with engine.store.transaction("default"):
            engine.kv.put("default", "default", b"k", b"staged")
            engine.json.set("default", "fresh", "doc", "$", {})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert value(engine, "k") == "before"
    assert engine.spaces.list("default").items == ["default"]
    assert len(engine.branches.log("default").items) == 1
    with engine.store.transaction("default"):
        assert value(engine, "k") == "before"


def test_a_failed_batch_drops_only_itself(engine: Engine) -> None:
    """Ours: a command refused inside a transaction leaves what was staged before it."""
    with engine.store.transaction("default"):
        engine.kv.put("default", "default", b"first", b"1")
        with refused("invalid_argument.engine.persistence"):
            engine.kv.batch_put("default", "default", [(b"second", b"2"), (b"k" * 70_000, b"")])
    assert keys(engine) == ["first"]


@pytest.mark.parametrize("way", ["get", "exists", "put", "delete", "json", "scan"])
def test_a_change_by_another_handle_is_a_conflict(durable: Engine, db_path: Path, way: str) -> None:
    """Issue: a key read, scanned or written here and changed elsewhere meanwhile refuses the commit."""
    put(durable, "k", "1")
    durable.json.set("default", "default", "doc", "$.a", 1)
    other = Engine.open(db_path)

    def interrupted() -> None:
        with durable.store.transaction("default"):
            if way == "get":
                assert value(durable, "k") == "1"
            elif way == "exists":
                durable.kv.exists("default", "default", b"k")
            elif way == "put":
                durable.kv.put("default", "default", b"k", b"mine")
            elif way == "delete":
                durable.kv.delete("default", "default", b"k")
            elif way == "scan":
                durable.kv.scan("default", "default")
            else:
                durable.json.get("default", "default", "doc", "$.a")
            durable.kv.put("default", "default", b"result", b"computed")
            if way == "json":
                other.json.set("default", "default", "doc", "$.b", 2)
            else:
                other.kv.put("default", "default", b"k", b"theirs")

    with refused("conflict.engine.persistence") as caught:
        interrupted()
    assert caught.value.retryable
    assert caught.value.commit_outcome == "definitely_not_committed"
    assert value(durable, "result") is None
    other.close(checkpoint=False)


def test_an_absent_key_that_appears_is_a_conflict(durable: Engine, db_path: Path) -> None:
    """Ours: "it was not there" is something read, too."""
    other = Engine.open(db_path)

    def create_unless_there() -> None:
        with durable.store.transaction("default"):
            assert value(durable, "k") is None
            durable.kv.put("default", "default", b"mine", b"")
            put(other, "k", "theirs")

    with refused("conflict.engine.persistence"):
        create_unless_there()
    other.close(checkpoint=False)


def test_a_transaction_survives_commits_to_other_keys(engine: Engine) -> None:
    """Issue: it reads its snapshot while other threads commit, and commits if they left its keys alone."""
    put(engine, "mine", "1")
    put(engine, "other", "1")
    with engine.store.transaction("default"):
        assert value(engine, "mine") == "1"
        in_thread(lambda: put(engine, "other", "2"))
        in_thread(lambda: put(engine, "late", "1"))
        assert engine.kv.count("default", "default", b"l") == 0
        assert value(engine, "mine") == "1"
        engine.kv.put("default", "default", b"mine", b"2")
    assert [value(engine, key) for key in ("mine", "other", "late")] == ["2", "2", "1"]


def test_a_transaction_survives_checkpoint_and_reload(durable: Engine) -> None:
    """Ours: dropping the memory of what was checkpointed does not disturb an open transaction."""
    put(durable, "k", "1")
    with durable.store.transaction("default"):
        durable.kv.put("default", "default", b"k", b"2")
        in_thread(durable.checkpoint)
        in_thread(durable.store.reload)
        assert value(durable, "k") == "2"
        assert keys(durable) == ["k"]
    assert value(durable, "k") == "2"


def test_transactions_do_not_nest(engine: Engine) -> None:
    """Issue: a second one in the same thread is refused, in another thread it is not."""
    with engine.store.transaction("default"):
        with refused("failed_precondition.engine.transaction_open"), engine.store.transaction("default"):
            pass
        engine.kv.put("default", "default", b"k", b"v")

        def elsewhere() -> bool:
            with engine.store.transaction("default"):
                return engine.kv.exists("default", "default", b"k")

        assert in_thread(elsewhere) is False
    assert value(engine, "k") == "v"


def test_a_transaction_stays_on_its_branch(engine: Engine) -> None:
    """Issue: writes on another branch and commands that commit by themselves are refused; reads are fine."""
    put(engine, "k", "1")
    engine.branches.fork("default", "side")
    with engine.store.transaction("default"):
        with refused("invalid_argument.engine.transaction"):
            engine.kv.put("side", "default", b"k", b"2")
        with refused("invalid_argument.engine.transaction"):
            engine.kv.batch_put("side", "default", [(b"k", b"2")])
        for command in (
            lambda: engine.branches.fork("default", "more"),
            lambda: engine.branches.merge("side", "default"),
            lambda: engine.spaces.create("default", "more"),
            lambda: engine.tags.create("more", "default"),
        ):
            with refused("failed_precondition.engine.transaction_open"):
                command()
        assert value(engine, "k", branch="side") == "1"
        engine.kv.put("default", "default", b"k", b"3")
    assert [value(engine, "k", branch=branch) for branch in ("default", "side")] == ["3", "1"]


def test_receipts_are_filled_in_at_the_end(engine: Engine) -> None:
    """Issue: a receipt handed out inside tells version, instant, counts and durability once it is committed."""
    with engine.store.transaction("default") as staged:
        receipt = engine.kv.put("default", "default", b"a", b"1").commit
        assert receipt is not None
        assert (receipt.version, receipt.durability) == (0, CommitDurability.UNCERTAIN)
        engine.kv.put("default", "default", b"b", b"1")
        engine.kv.put("default", "default", b"b", b"2")
        engine.kv.delete("default", "default", b"a")
    assert staged.receipt is receipt
    assert (receipt.put_count, receipt.delete_count) == (1, 1)
    assert receipt.version == receipt.timestamp == engine.branches.log("default").items[0].version
    assert receipt.durability in (CommitDurability.STANDARD, CommitDurability.NOT_DURABLE)
    assert receipt.committed_at == engine.branches.log("default").items[0].committed_at


def test_a_transaction_without_writes_commits_nothing(engine: Engine) -> None:
    """Ours: reading in a transaction leaves no trace."""
    put(engine, "k", "1")
    with engine.store.transaction("default") as staged:
        assert value(engine, "k") == "1"
        engine.kv.delete("default", "default", b"absent")
    assert staged.receipt is None
    assert len(engine.branches.log("default").items) == 1


def test_a_new_space_is_registered_by_the_transaction(engine: Engine) -> None:
    """Ours: the space shows once the transaction is committed, and counts for nothing in the receipt."""
    with engine.store.transaction("default") as staged:
        engine.kv.put("default", "fresh", b"k", b"v")
    assert engine.spaces.list("default").items == ["default", "fresh"]
    assert staged.receipt is not None
    assert staged.receipt.put_count == 1


def test_if_version_inside_means_the_version_before(engine: Engine, clock: HandClock) -> None:
    """Ours: compare-and-set in a transaction compares with the committed state, expired keys counting as absent."""
    version = put(engine, "k", "1")
    engine.kv.put("default", "default", b"brief", b"1", expires_in_us=1)
    clock.at_us += 10
    with engine.store.transaction("default"):
        engine.kv.put("default", "default", b"k", b"2", if_version=version)
        engine.kv.put("default", "default", b"k", b"3", if_version=version)
        with refused("conflict.engine.version"):
            engine.kv.put("default", "default", b"k", b"4", if_version=version - 1)
        engine.kv.put("default", "default", b"new", b"1", if_version=0)
        engine.kv.put("default", "default", b"brief", b"2", if_version=0)
    assert [value(engine, key) for key in ("k", "new", "brief")] == ["3", "1", "2"]


def test_a_branch_deleted_meanwhile_refuses_the_commit(durable: Engine, db_path: Path) -> None:
    """Ours: writes never land on another branch that took over the name."""
    durable.branches.create("work")
    other = Engine.open(db_path)

    def write_while_it_is_replaced() -> None:
        with durable.store.transaction("work"):
            durable.kv.put("work", "default", b"k", b"v")
            other.branches.delete("work")
            other.branches.create("work")

    with refused("conflict.engine.branch_generation"):
        write_while_it_is_replaced()
    assert keys(durable, branch="work") == []
    other.close(checkpoint=False)


def test_a_signed_transaction_shows_in_the_log(engine: Engine) -> None:
    """Issue: author and message belong to the whole transaction."""
    put(engine, "gone", "1")
    with engine.store.transaction("default", author="ada", message="tidy up"):
        put(engine, "k", "1")
        delete(engine, "gone")
    item = engine.branches.log("default").items[0]
    assert (item.author, item.message) == ("ada", "tidy up")
    assert [(change.identity, change.deleted) for change in item.changes] == [(b"gone", True), (b"k", False)]
