"""What was: the log, undoing and repeating single commits, and names for moments."""

from __future__ import annotations

import pytest
from tests.store.support import delete, keys, put, refused, value

from strata_mcp.engine import Engine


def test_revert_undoes_one_commit_and_keeps_the_rest(engine: Engine) -> None:
    """Issue: values come back, what was created goes, what was deleted returns; later commits stay."""
    put(engine, "changed", "old")
    put(engine, "removed", "old")
    with engine.store.transaction("default") as staged:
        put_all = {b"changed": b"new", b"created": b"new"}
        for key, content in put_all.items():
            engine.kv.put("default", "default", key, content)
        engine.kv.delete("default", "default", b"removed")
    assert staged.receipt is not None
    put(engine, "later", "1")
    outcome = engine.branches.revert("default", staged.receipt.version)
    assert [value(engine, key) for key in ("changed", "created", "removed", "later")] == ["old", None, "old", "1"]
    assert outcome.target_version == engine.branches.log("default").items[0].version
    assert value(engine, "changed", as_of=staged.receipt.version) == "new"


def test_revert_refuses_to_undo_what_was_built_on(engine: Engine) -> None:
    """Issue: a key changed since is a conflict, unless a strategy says who wins."""
    put(engine, "k", "1")
    version = put(engine, "k", "2")
    put(engine, "k", "3")
    with refused("conflict.engine.revert"):
        engine.branches.revert("default", version)
    assert value(engine, "k") == "3"
    engine.branches.revert("default", version, "target_wins")
    assert value(engine, "k") == "3"
    engine.branches.revert("default", version, "source_wins")
    assert value(engine, "k") == "1"


def test_revert_of_a_revert_brings_it_back(engine: Engine) -> None:
    """Ours: a revert is a commit like any other."""
    put(engine, "k", "1")
    version = put(engine, "k", "2")
    first = engine.branches.revert("default", version).target_version
    assert first is not None
    assert value(engine, "k") == "1"
    engine.branches.revert("default", first)
    assert value(engine, "k") == "2"


def test_revert_of_fields_leaves_other_fields(engine: Engine) -> None:
    """Ours: undoing a change of one field keeps later changes of others."""
    engine.json.set("default", "default", "d", "$", {"a": 1, "b": 1})
    written = engine.json.set("default", "default", "d", "$.a", 2)
    assert written.commit is not None
    engine.json.set("default", "default", "d", "$.b", 2)
    engine.branches.revert("default", written.commit.version)
    found = engine.json.get("default", "default", "d", "$")
    assert found is not None
    assert (found.value, found.document_version) == ({"a": 1, "b": 2}, 4)


def test_a_fork_reverts_what_it_inherited(engine: Engine) -> None:
    """Ours: an inherited commit can be undone on the fork alone."""
    version = put(engine, "k", "1")
    engine.branches.fork("default", "side")
    engine.branches.revert("side", version)
    assert [value(engine, "k", branch=branch) for branch in ("default", "side")] == ["1", None]
    later = put(engine, "k", "2")
    with refused("not_found.engine.commit"):
        engine.branches.revert("side", later)


def test_cherry_pick_takes_one_commit(engine: Engine) -> None:
    """Issue: only what that commit changed comes over, as one commit."""
    engine.branches.fork("default", "side")
    put(engine, "before", "1", branch="side")
    version = put(engine, "picked", "1", branch="side", space="notes")
    put(engine, "after", "1", branch="side")
    outcome = engine.branches.cherry_pick("side", version, "default")
    assert [item.identity for item in outcome.applied] == [b"picked"]
    assert keys(engine) == []
    assert value(engine, "picked", space="notes") == "1"
    assert "notes" in engine.spaces.list("default").items
    assert engine.branches.cherry_pick("side", version, "default").target_version is None


def test_cherry_pick_refuses_a_disagreement(engine: Engine) -> None:
    """Issue: a key that is different on the target is a conflict; unrelated branches may pick from each other."""
    engine.branches.create("alone")
    version = put(engine, "k", "theirs", branch="alone")
    put(engine, "k", "mine")
    with refused("conflict.engine.promotion"):
        engine.branches.cherry_pick("alone", version, "default")
    engine.branches.cherry_pick("alone", version, "default", "source_wins")
    assert value(engine, "k") == "theirs"


@pytest.mark.parametrize("version", [0, 2, 1 << 40])
def test_only_commits_of_the_branch_can_be_named(engine: Engine, version: int) -> None:
    """Issue: a number that is no commit of the source is not found."""
    put(engine, "k", "1")
    with refused("not_found.engine.commit"):
        engine.branches.revert("default", version)
    with refused("not_found.engine.commit"):
        engine.branches.cherry_pick("default", version, "default")


def test_the_log_pages_over_forks_and_checkpoints(durable: Engine) -> None:
    """Issue: newest first, page by page without gaps or repeats, inherited commits included."""
    versions = [put(durable, f"k{number}", "1") for number in range(5)]
    durable.checkpoint()
    durable.store.reload()
    durable.branches.fork("default", "side")
    put(durable, "hidden", "1")
    versions += [put(durable, f"s{number}", "1", branch="side") for number in range(4)]
    whole = [item.version for item in durable.branches.log("side").items]
    assert [version for version in whole if version in versions] == versions[::-1]
    assert whole == sorted(whole, reverse=True)
    for size in (1, 2, 3, 7):
        found: list[int] = []
        cursor = None
        for _ in range(len(whole) + 1):
            page = durable.branches.log("side", limit=size, cursor=cursor)
            found += [item.version for item in page.items]
            cursor = page.cursor
            if not page.has_more:
                break
        assert found == whole
        assert cursor is None


def test_the_log_tells_who_why_and_what(durable: Engine) -> None:
    """Issue: author, message and changes of each commit, the same from memory and from the tables."""
    put(durable, "k", "1")
    with durable.store.attribution(author="ada", message="first"):
        put(durable, "k", "2", space="notes")
        with durable.store.attribution(message="second"):
            delete(durable, "k")
    durable.json.set("default", "default", "d", "$", {})
    for reloaded in (False, True):
        if reloaded:
            durable.checkpoint()
            durable.store.reload()
        items = durable.branches.log("default").items
        assert [(item.author, item.message) for item in items] == [
            ("", ""),
            ("ada", "second"),
            ("ada", "first"),
            ("", ""),
        ]
        changes = [(c.capability.value, c.space, c.identity, c.deleted) for item in items for c in item.changes]
        assert changes == [
            ("json", "default", b"d", False),
            ("kv", "default", b"k", True),
            ("kv", "notes", b"k", False),
            ("kv", "default", b"k", False),
        ]


def test_the_log_of_nothing_is_empty(engine: Engine) -> None:
    """Ours: a fresh database has no commits to list, and an unknown branch is not found."""
    page = engine.branches.log("default")
    assert (page.items, page.has_more, page.cursor) == ([], False, None)
    with refused("not_found.engine.branch"):
        engine.branches.log("unknown")
    put(engine, "k", "1")
    page = engine.branches.log("default", limit=0)
    assert (page.items, page.has_more, page.cursor) == ([], False, None)
    with refused("invalid_argument.engine.limit"):
        engine.branches.log("default", limit=-1)


def test_history_lists_every_version_of_a_key(durable: Engine) -> None:
    """Spec: newest first with deletions, the same from memory and from the tables; None when never written."""
    versions = [put(durable, "k", "1"), put(durable, "k", "2"), delete(durable, "k"), put(durable, "k", "3")]
    for reloaded in (False, True):
        if reloaded:
            durable.checkpoint()
            durable.store.reload()
        items = durable.kv.history("default", "default", b"k")
        assert items is not None
        assert [item.version for item in items] == versions[::-1]
        assert [item.value for item in items] == [b"3", None, b"2", b"1"]
        assert [item.tombstone for item in items] == [False, True, False, False]
        assert durable.kv.history("default", "default", b"never") is None


def test_tags_name_moments(engine: Engine) -> None:
    """Issue: a tag keeps pointing at its commit; the newest one when no version is given."""
    first = put(engine, "k", "1")
    second = put(engine, "k", "2")
    newest = engine.tags.create("now", "default", message="as of today")
    older = engine.tags.create("älter", "default", first)
    assert (newest.version, newest.branch, newest.message) == (second, "default", "as of today")
    assert older.version == first
    put(engine, "k", "3")
    assert engine.tags.get("now") == newest
    assert value(engine, "k", as_of=engine.tags.get("now").version) == "2"
    assert [item.name for item in engine.tags.list().items] == ["now", "älter"]
    assert engine.tags.delete("now") is True
    assert engine.tags.delete("now") is False
    with refused("not_found.engine.tag"):
        engine.tags.get("now")
    assert [item.name for item in engine.tags.list().items] == ["älter"]


def test_tags_are_unique_and_within_history(engine: Engine) -> None:
    """Issue: a name is given once, on a branch that exists, at a moment it remembers."""
    version = put(engine, "k", "1")
    engine.tags.create("t", "default")
    with refused("already_exists.engine.tag"):
        engine.tags.create("t", "default", version)
    with refused("not_found.engine.branch"):
        engine.tags.create("u", "unknown")
    for outside in (0, version + 100):
        with refused("history_unavailable.engine.persistence_history"):
            engine.tags.create("u", "default", outside)
    engine.tags.delete("t")
    assert engine.tags.create("t", "default", version).version == version


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x00", "x" * 256, "\ud800"])
def test_names_no_tag_can_have(engine: Engine, name: str) -> None:
    """Ours: 1 to 255 bytes, not blank, no control characters."""
    for command in (lambda: engine.tags.create(name, "default"), lambda: engine.tags.get(name)):
        with refused("invalid_argument.engine.tag_name"):
            command()


def test_tags_outlive_a_checkpoint(durable: Engine) -> None:
    """Ours: tags lie in the tables like everything else."""
    put(durable, "k", "1")
    item = durable.tags.create("t", "default")
    durable.tags.create("gone", "default")
    durable.tags.delete("gone")
    durable.checkpoint()
    durable.store.reload()
    assert durable.tags.list().items == [item]
