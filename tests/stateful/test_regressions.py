"""What the state machine once found, as plain cases."""

from __future__ import annotations

from strata_mcp.engine import Engine


def test_a_fork_from_before_its_parent_was_made_differs_by_what_the_parent_inherited() -> None:
    """Diff and merge see changes that only the parent inherited, between the anchor and its own start (ours)."""
    engine = Engine.open(cache=True)
    first = engine.kv.put("default", "default", b"k", b"old").commit
    assert first is not None
    engine.kv.put("default", "default", b"k", b"new")
    engine.branches.fork("default", "parent")
    engine.branches.fork_at_version("parent", "child", first.version)
    assert engine.kv.get_value("child", "default", b"k") == b"old"
    (group,) = engine.branches.diff("child", "parent").spaces
    assert [item.identity for item in group.modified] == [b"k"]
    outcome = engine.branches.merge("parent", "child")
    assert [item.identity for item in outcome.applied] == [b"k"]
    assert engine.kv.get_value("child", "default", b"k") == b"new"
    engine.close()
