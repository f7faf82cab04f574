"""`db.branches`, `db.spaces`, `db.tags`, `db.admin` and transactions."""

from __future__ import annotations

from contextlib import suppress

import pytest
from tests.sdk.refusals import refused

import stratadb
from stratadb import PromotionStrategy, Strata
from stratadb.errors import NotFoundError

COMMAND = "invalid_argument.sdk.command"


def test_branches_can_be_made_found_and_deleted(cache_db: Strata) -> None:
    """Spec: create, fork, get, list, iteration and membership."""
    created = cache_db.branches.create("empty")
    assert (created.name, created.parent) == ("empty", None)
    forked = cache_db.branches.fork("default", "child")
    assert forked.parent is not None
    assert forked.parent.name == "default"
    assert list(cache_db.branches) == ["child", "default", "empty"]
    assert [item.name for item in cache_db.branches.list()] == ["child", "default", "empty"]
    assert "child" in cache_db.branches
    assert cache_db.branches.get("nowhere") is None
    assert "nowhere" not in cache_db.branches
    result = cache_db.branches.delete("child")
    assert (result.deleted, result["branch"].name) == (True, "child")
    assert "child" not in cache_db.branches


def test_forks_can_start_in_the_past(cache_db: Strata) -> None:
    """Spec: at a version or at a timestamp, by either spelling, never both."""
    first = cache_db.kv.put("k", "1").commit
    cache_db.kv.put("k", "2")
    assert first is not None
    cache_db.branches.fork("default", "a", version=first.version)
    cache_db.branches.fork("default", "b", timestamp=first.timestamp)
    cache_db.branches.fork_at_version("default", "c", first.version)
    cache_db.branches.fork_at_timestamp("default", "d", first.timestamp)
    assert [cache_db.at(branch=name).kv.get("k") for name in "abcd"] == [b"1"] * 4
    with refused("invalid_argument.sdk.fork_ambiguous"):
        cache_db.branches.fork("default", "e", version=1, timestamp=1)
    for wrong in (True, "3", -3):
        with refused(COMMAND):
            cache_db.branches.fork("default", "e", version=wrong)  # type: ignore[arg-type]  # that is the point


def test_names_must_be_text(cache_db: Strata) -> None:
    """Spec: a name of another type is refused, also by `in`."""
    branches, spaces, tags = cache_db.branches, cache_db.spaces, cache_db.tags
    for call in (
        lambda: branches.create(3),  # type: ignore[arg-type]
        lambda: branches.get(3),  # type: ignore[arg-type]
        lambda: branches.delete(None),  # type: ignore[arg-type]
        lambda: branches.diff("default", 3),  # type: ignore[arg-type]
        lambda: 3 in branches,
        lambda: spaces.create(3),  # type: ignore[arg-type]
        lambda: spaces.delete("s", force=3),  # type: ignore[arg-type]
        lambda: 3 in spaces,
        lambda: tags.create(3),  # type: ignore[arg-type]
        lambda: 3 in tags,
        lambda: cache_db.at(branch=3),  # type: ignore[arg-type]
        lambda: cache_db.admin.config_value(3),  # type: ignore[arg-type]
        lambda: cache_db.admin.storage(audit=3),  # type: ignore[arg-type]
        lambda: cache_db.admin.describe(space=3),  # type: ignore[arg-type]
    ):
        with refused(COMMAND):
            call()
    with refused("invalid_argument.engine.branch_name"):
        _ = "" in branches


def test_diff_compares_two_branches(cache_db: Strata) -> None:
    """Spec: what turns the first into the second, now or at a commit number; ours: a time is a typed refusal."""
    before = cache_db.kv.put("gone", "1").commit
    cache_db.kv.put("kept", "1")
    cache_db.branches.fork("default", "child")
    child = cache_db.at(branch="child")
    child.kv.put("kept", "2")
    child.kv.put("new", "1")
    child.kv.delete("gone")
    (space,) = cache_db.branches.diff("default", "child").spaces
    assert [[item.identity for item in part] for part in (space.added, space.modified, space.removed)] == [
        [b"new"],
        [b"kept"],
        [b"gone"],
    ]
    assert before is not None
    assert cache_db.branches.diff("default", "default", as_of=before.version).spaces == []
    with refused(COMMAND):
        cache_db.branches.diff("default", "child", as_of="1")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(stratadb.errors.InvalidArgumentError, match="log"):
        cache_db.branches.diff("default", "child", as_of_time=1)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("source_wins", b"source"),
        ("source-wins", b"source"),
        (PromotionStrategy.SOURCE_WINS, b"source"),
        ("target_wins", b"target"),
        ("target-wins", b"target"),
    ],
)
def test_strategies_settle_conflicts(cache_db: Strata, strategy: str, expected: bytes) -> None:
    """Spec: source_wins in every spelling; ours: target_wins. Strict refuses, and preview writes nothing."""
    cache_db.branches.fork("default", "child")
    cache_db.at(branch="child").kv.put("k", "source")
    cache_db.kv.put("k", "target")
    with refused("conflict.engine.promotion"):
        cache_db.branches.merge("child", "default")
    assert len(cache_db.branches.preview("child", "default", strategy=strategy).conflicts) == 1
    assert cache_db.kv.get("k") == b"target"
    outcome = cache_db.branches.merge("child", "default", strategy=strategy)
    assert len(outcome.conflicts) == 1
    assert cache_db.kv.get("k") == expected


@pytest.mark.parametrize("strategy", ["bogus", "STRICT", None, 3])
def test_unknown_strategies_are_refused(cache_db: Strata, strategy: str) -> None:
    """Spec: invalid_argument.sdk.command, for merge and preview."""
    cache_db.branches.fork("default", "child")
    for call in (cache_db.branches.merge, cache_db.branches.preview):
        with refused(COMMAND):
            call("child", "default", strategy=strategy)


def test_the_log_tells_who_did_what(cache_db: Strata) -> None:
    """Ours: newest first, of the view's branch or a named one, in pages."""
    for number in range(5):
        cache_db.kv.put("k", str(number))
    with cache_db.transaction(message="why", author="me") as transaction:
        cache_db.kv.put("k", "last")
    newest = cache_db.branches.log("default", 1)[0]
    assert transaction.commit is not None
    assert (newest.version, newest.message, newest.author) == (transaction.commit.version, "why", "me")
    page = cache_db.branches.log(limit=2)
    assert page.has_more
    following = cache_db.branches.log(limit=2, cursor=page.cursor)
    versions = [item.version for item in (*page.items, *following.items)]
    assert versions == sorted(versions, reverse=True)
    assert len(set(versions)) == 4
    assert len(cache_db.branches.log(limit=None).all()) >= 6


def test_commits_can_be_undone_and_carried_over(cache_db: Strata) -> None:
    """Ours: revert restores what one commit changed, cherry_pick applies one commit elsewhere."""
    cache_db.kv.put("k", "1")
    second = cache_db.kv.put("k", "2").commit
    assert second is not None
    cache_db.branches.revert("default", second.version)
    assert cache_db.kv.get("k") == b"1"
    cache_db.branches.fork("default", "child")
    change = cache_db.at(branch="child").kv.put("n", "new").commit
    assert change is not None
    cache_db.branches.cherry_pick("child", change.version, "default")
    assert cache_db.kv.get("n") == b"new"


def test_tags_name_moments(cache_db: Strata) -> None:
    """Ours: a tag keeps its commit while the branch moves on."""
    cache_db.kv.put("k", "1")
    tag = cache_db.tags.create("before", message="a good state")
    cache_db.kv.put("k", "2")
    found = cache_db.tags.get("before")
    assert found == tag
    assert (tag.branch, tag.message) == ("default", "a good state")
    assert cache_db.kv.get("k", as_of=tag.version) == b"1"
    assert [item.name for item in cache_db.tags.list()] == list(cache_db.tags) == ["before"]
    assert "before" in cache_db.tags
    cache_db.tags.delete("before")
    assert cache_db.tags.get("before") is None
    assert "before" not in cache_db.tags


def test_spaces_separate_keys(cache_db: Strata) -> None:
    """Spec: made by create or by the first write; a space that holds something goes by force only."""
    made = cache_db.spaces.create("s")
    assert (made.space, made.effect.kind) == ("s", "created")
    assert cache_db.spaces.create("s").commit is None
    cache_db.at(space="s").kv.put("k", "v")
    assert cache_db.kv.get("k") is None
    assert cache_db.spaces.list() == list(cache_db.spaces) == ["default", "s"]
    assert "s" in cache_db.spaces
    assert not cache_db.spaces.exists("t")
    with refused("failed_precondition.engine.space_not_empty"):
        cache_db.spaces.delete("s")
    gone = cache_db.spaces.delete("s", force=True)
    assert (gone["space"], gone.force, gone.deleted_rows) == ("s", True, 1)
    assert "s" not in cache_db.spaces


def test_transactions_commit_everything_or_nothing(cache_db: Strata) -> None:
    """Ours: one commit over families and spaces; an exception drops it; reads see the block's writes."""
    with cache_db.transaction(message="both") as transaction:
        cache_db.kv.put("k", "1")
        cache_db.at(space="s").json.set("d", {"a": 1})
        assert cache_db.kv.get("k") == b"1"
        assert cache_db.kv.keys().all() == [b"k"]
        pending = transaction.commit
    assert pending is None
    receipt = transaction.commit
    assert receipt is not None
    assert receipt.put_count == 2
    entry = cache_db.kv.get_entry("k")
    assert entry is not None
    assert entry.version == receipt.version
    with suppress(ZeroDivisionError), cache_db.transaction():
        cache_db.kv.put("k", "2")
        _ = 1 / 0
    assert cache_db.kv.get("k") == b"1"
    with cache_db.transaction() as nothing:
        cache_db.kv.get("k")
    assert nothing.commit is None


def test_transactions_conflict_on_what_they_read(fresh_db: Strata, db_path: str) -> None:
    """Ours: another writer's change to a key that was read refuses the commit."""
    fresh_db.kv.put("k", "1")

    def overtaken(other: Strata) -> None:
        with fresh_db.transaction():
            seen = fresh_db.kv.get("k")
            other.kv.put("k", "2")
            fresh_db.kv.put("copy", seen or b"")

    with stratadb.open(db_path) as other, refused("conflict.engine.persistence"):
        overtaken(other)
    assert fresh_db.kv.get("copy") is None


def test_admin_describes_the_database(cache_db: Strata) -> None:
    """Spec: the admin calls and their shapes; a view's branch and space do not matter."""
    cache_db.kv.put("k", "v")
    cache_db.json.set("d", 1)
    admin = cache_db.at(branch="nowhere", space="s").admin
    assert admin.ping().version == stratadb.__version__
    assert (admin.info().target, admin.info().durable, admin.info().branch_count) == ("cache", False, 1)
    assert admin.health().status == "healthy"
    assert admin.metrics().space_count == 1
    described = admin.describe()
    assert (described.primitives.kv_count, described.primitives.json_count) == (1, 1)
    assert admin.describe(space="empty").primitives.kv_count == 0
    assert admin.config().default_branch == "default"
    assert (admin.config_value("target"), admin.config_value("nothing")) == ("cache", None)
    assert admin.ipc_status().hosting is False
    assert admin.ipc_stop().stopped is False
    with refused("unsupported.engine.persistence_capability"):
        admin.storage()


def test_admin_moves_the_journal_into_tables(fresh_db: Strata) -> None:
    """Ours: checkpoint and compact, and what storage says afterwards."""
    fresh_db.kv.put("k", "v")
    assert fresh_db.admin.storage().live_table_bytes == 0
    fresh_db.admin.checkpoint()
    assert fresh_db.admin.storage(audit=True).live_table_bytes > 0
    fresh_db.admin.compact()
    assert fresh_db.kv.get("k") == b"v"
    assert fresh_db.admin.ipc_stop().stopped is True
    assert fresh_db.admin.ipc_status().hosting is False


def test_missing_branches_raise_where_they_are_needed(cache_db: Strata) -> None:
    """Spec: a missing branch is swallowed by get alone."""
    with pytest.raises(NotFoundError):
        cache_db.branches.fork("nowhere", "child")
    with pytest.raises(NotFoundError):
        cache_db.branches.diff("default", "nowhere")
    with pytest.raises(NotFoundError):
        cache_db.branches.log("nowhere")
