"""Spaces: partitions that come with their first row and go only when asked."""

from __future__ import annotations

import pytest
from tests.store.support import keys, put, refused, value

from strata_mcp.engine import Engine
from strata_mcp.results.common import MutationEffectKind


def test_a_write_makes_its_space(engine: Engine) -> None:
    """Spec: the first row registers the space in the same commit; reading does not."""
    assert keys(engine, space="unseen") == []
    engine.json.get("default", "unseen", "d", "$")
    assert engine.spaces.list("default").items == ["default"]
    receipt = engine.kv.put("default", "b", b"k", b"v").commit
    assert receipt is not None
    assert receipt.put_count == 1
    engine.json.set("default", "a", "d", "$", {})
    assert engine.spaces.list("default").items == ["a", "b", "default"]
    assert engine.spaces.exists("default", "a")
    assert not engine.spaces.exists("default", "unseen")


def test_creation_is_idempotent(engine: Engine) -> None:
    """Spec: creating a space that is there writes nothing."""
    created = engine.spaces.create("default", "notes")
    again = engine.spaces.create("default", "notes")
    assert (created.effect.kind, again.effect.kind) == (MutationEffectKind.CREATED, MutationEffectKind.UNCHANGED)
    assert created.commit is not None
    assert again.commit is None
    assert engine.spaces.create("default", "default").commit is None


def test_spaces_share_no_keys(engine: Engine) -> None:
    """Spec: the same key in two spaces is two rows, for values and documents apart."""
    put(engine, "k", "1")
    put(engine, "k", "2", space="notes")
    engine.json.set("default", "notes", "k", "$", 3)
    assert (value(engine, "k"), value(engine, "k", space="notes")) == ("1", "2")
    assert engine.json.get("default", "default", "k", "$") is None


def test_a_full_space_needs_force(engine: Engine) -> None:
    """Spec: rows of any family protect it; with force they get tombstones in the same commit."""
    version = put(engine, "k", "1", space="notes")
    engine.json.set("default", "notes", "d", "$", {"a": 1})
    engine.json.create_index("default", "notes", "by_a", "$.a", "numeric")
    with refused("failed_precondition.engine.space_not_empty"):
        engine.spaces.delete("default", "notes")
    result = engine.spaces.delete("default", "notes", force=True)
    assert (result.deleted_rows, result.effect.kind) == (2, MutationEffectKind.DELETED)
    assert engine.spaces.list("default").items == ["default"]
    assert value(engine, "k", space="notes") is None
    assert value(engine, "k", space="notes", as_of=version) == "1"
    assert engine.spaces.delete("default", "notes").effect.kind is MutationEffectKind.NOT_FOUND


def test_a_recreated_space_starts_empty(engine: Engine) -> None:
    """Ours: neither rows nor indexes come back with the name, and its first row registers it again."""
    put(engine, "k", "1", space="notes")
    engine.json.create_index("default", "notes", "by_a", "$.a", "numeric")
    engine.spaces.delete("default", "notes", force=True)
    put(engine, "new", "1", space="notes")
    assert engine.spaces.list("default").items == ["default", "notes"]
    assert keys(engine, space="notes") == ["new"]
    assert engine.json.list_indexes("default", "notes").items == []


def test_branches_have_their_own_spaces(engine: Engine) -> None:
    """Spec: a fork inherits spaces; deleting one there leaves the source's alone."""
    put(engine, "k", "1", space="notes")
    engine.branches.fork("default", "side")
    engine.branches.create("alone")
    assert engine.spaces.list("side").items == ["default", "notes"]
    assert engine.spaces.list("alone").items == ["default"]
    engine.spaces.delete("side", "notes", force=True)
    assert value(engine, "k", space="notes") == "1"
    assert engine.spaces.list("side").items == ["default"]
    put(engine, "k", "2", branch="side", space="notes")
    assert engine.spaces.list("side").items == ["default", "notes"]


def test_thousands_of_rows_go_at_once(engine: Engine) -> None:
    """Ours: the limit on the entries of one write does not keep a large space from being removed."""
    for start in range(0, 5000, 1000):
        engine.kv.batch_put("default", "big", [(b"%d" % number, b"") for number in range(start, start + 1000)])
    assert engine.spaces.delete("default", "big", force=True).deleted_rows == 5000
    assert engine.kv.count("default", "big") == 0


def test_the_default_space_stays(engine: Engine) -> None:
    """Spec: it can be deleted on no branch, with force or without."""
    for force in (False, True):
        with refused("invalid_argument.engine.space_delete_default"):
            engine.spaces.delete("default", "default", force)


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "\ud800"])
def test_names_no_space_can_have(engine: Engine, name: str) -> None:
    """Spec: not empty, no NUL, no newline; refused wherever a space is named."""
    for command in (
        lambda: engine.spaces.create("default", name),
        lambda: engine.kv.put("default", name, b"k", b"v"),
        lambda: engine.kv.get("default", name, b"k"),
        lambda: engine.json.set("default", name, "d", "$", 1),
    ):
        with refused("invalid_argument.engine.product_space"):
            command()


def test_reserved_names_have_their_own_code(engine: Engine) -> None:
    """Spec: a leading underscore belongs to the database."""
    with refused("invalid_argument.engine.product_space_reserved"):
        engine.spaces.create("default", "_mine")


def test_spaces_need_a_branch(engine: Engine) -> None:
    """Spec: every space command fails on an unknown branch."""
    for command in (
        lambda: engine.spaces.list("unknown"),
        lambda: engine.spaces.exists("unknown", "notes"),
        lambda: engine.spaces.create("unknown", "notes"),
        lambda: engine.spaces.delete("unknown", "notes"),
    ):
        with refused("not_found.engine.branch"):
            command()
