"""Several commands as one commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
from strata_mcp.tools.dispatch import execute

PUT = {"type": "kv_put", "key": "YQ==", "value": "MQ=="}
SET = {"type": "json_set", "key": "d", "path": "$", "value": {"n": 1}}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A database in memory."""
    opened = Engine.open(cache=True)
    yield opened
    opened.close()


def run(engine: Engine, *commands: dict[str, Any], **options: Any) -> Any:
    """Answer of a transaction."""
    return execute(engine, {"type": "transaction", "commands": list(commands), **options}, "default", "default")["data"]


def refusal(engine: Engine, *commands: dict[str, Any], **options: Any) -> StrataError:
    """Error of a transaction."""
    with pytest.raises(StrataError) as caught:
        run(engine, *commands, **options)
    return caught.value


def read(engine: Engine, **command: Any) -> Any:
    """Answer of one command."""
    return execute(engine, command, "default", "default")["data"]


def test_all_commands_share_one_commit(engine: Engine) -> None:
    """Ours: one receipt, also in each result; author and message are the commit's."""
    batch = {"type": "kv_batch_put", "entries": [{"key": "Yg==", "value": ""}, {"key": "Yw==", "value": ""}]}
    before = engine.journal.head
    answer = run(engine, batch, PUT, SET, author="ada", message="together")
    assert answer["commit"]["version"] == before + 1 == engine.journal.head
    assert answer["commit"]["put_count"] == 4
    assert [result["data"]["commit"] for result in answer["results"]] == [answer["commit"]] * 3
    assert [item["commit"] for item in answer["results"][0]["data"]["items"]] == [answer["commit"]] * 2
    newest = read(engine, type="branch_log")["items"][0]
    assert (newest["author"], newest["message"], len(newest["changes"])) == ("ada", "together", 4)


def test_later_commands_see_what_earlier_ones_wrote(engine: Engine) -> None:
    """Ours: reads inside see the transaction's own writes."""
    answer = run(engine, PUT, {"type": "kv_get", "key": "YQ=="}, {"type": "kv_count"}, {"type": "kv_list"})
    _, got, counted, listed = (result["data"] for result in answer["results"])
    assert got["value"]["value"] == "MQ=="
    assert counted == 1
    assert listed["items"] == ["YQ=="]


def test_branch_and_space_of_the_transaction_hold_for_its_commands(engine: Engine) -> None:
    """Ours: a command goes where the transaction goes, and may name another space."""
    read(engine, type="branch_create", branch="b")
    run(engine, PUT, {**PUT, "space": "t"}, branch="b", space="s")
    for space in ("s", "t"):
        assert read(engine, type="kv_exists", key="YQ==", branch="b", space=space)
    assert not read(engine, type="kv_exists", key="YQ==")


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ({"type": "kv_put", "key": "", "value": ""}, "invalid_argument.engine.kv_key"),
        ({"type": "kv_put", "key": "YQ==", "value": "", "if_version": 99}, "conflict.engine.version"),
        ({"type": "json_set", "key": "d", "path": "a[", "value": 1}, "invalid_argument.engine.json_path"),
        ({"type": "kv_batch_put", "entries": [{"key": "", "value": ""}]}, "invalid_argument.engine.kv_key"),
        ({"type": "kv_put", "key": "YQ==", "value": "", "branch": "b"}, "invalid_argument.engine.transaction"),
        ({"type": "kv_put", "key": "YQ=="}, "invalid_argument.sdk.command"),
        ({"type": "branch_list"}, "invalid_argument.sdk.command"),
        ({"type": "transaction", "commands": []}, "invalid_argument.sdk.command"),
        ({"type": "nope"}, "invalid_argument.sdk.command"),
        ({**PUT, "author": "bo"}, "invalid_argument.sdk.command"),
    ],
    ids=str,
)
def test_an_error_drops_everything_and_says_where(engine: Engine, last: dict[str, Any], code: str) -> None:
    """Ours: all or nothing, a faulty batch entry included; the message names the command."""
    read(engine, type="branch_create", branch="b")
    head = engine.journal.head
    error = refusal(engine, PUT, SET, last)
    assert error.code == code
    assert "commands[2]" in str(error)
    assert engine.journal.head == head
    assert not read(engine, type="kv_exists", key="YQ==")


def test_nothing_written_makes_no_commit(engine: Engine) -> None:
    """Ours: reads only, or no commands at all, leave the counter alone."""
    head = engine.journal.head
    assert run(engine) == {"commit": None, "results": []}
    answer = run(engine, {"type": "kv_exists", "key": "YQ=="}, {"type": "kv_delete", "key": "YQ=="})
    assert answer["commit"] is None
    assert engine.journal.head == head


def test_a_transaction_inside_a_transaction_is_refused(engine: Engine) -> None:
    """Ours: a thread has one transaction at a time."""
    with engine.store.transaction("default"):
        assert refusal(engine, PUT).code == "failed_precondition.engine.transaction_open"
