"""Commands in wire form: what is refused, how, and that nothing but a typed error ever comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
from strata_mcp.tools.dispatch import execute
from strata_mcp.tools.operation import catalogue

COMMAND = "invalid_argument.sdk.command"
NUMBER = "invalid_argument.executor.json_number"


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A database in memory."""
    opened = Engine.open(cache=True)
    yield opened
    opened.close()


def run(engine: Engine, command: Any, branch: str = "default", space: str = "default") -> Any:
    """Answer of one command."""
    return execute(engine, command, branch, space)["data"]


def refusal(engine: Engine, command: Any) -> StrataError:
    """Error of one command."""
    with pytest.raises(StrataError) as caught:
        execute(engine, command, "default", "default")
    return caught.value


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], ["object", "list"]),
        ({}, ["`type`", "missing"]),
        ({"type": None}, ["`type`"]),
        ({"type": 5}, ["`type`", "5"]),
        ({"type": "kv_putt"}, ["kv_putt", "kv_put"]),
        ({"type": "zzz"}, ["zzz", "ping", "kv_get"]),
        ({"type": "ping", "x": 1}, ["`x`", "no fields"]),
        ({"type": "kv_get", "keys": "aw=="}, ["`key`"]),
        ({"type": "kv_get", "key": "aw==", "as_off": 1}, ["`as_off`", "`as_of`", "key", "branch", "space"]),
        ({"type": "kv_get", "key": None}, ["`key`", "base64", "null"]),
        ({"type": "kv_put", "key": "aGk", "value": ""}, ["`key`", "base64", "'aGk'"]),
        ({"type": "kv_put", "key": "aGl=", "value": ""}, ["`key`", "base64"]),
        ({"type": "kv_put", "key": "aGk=", "value": [256]}, ["`value`", "0 to 255"]),
        ({"type": "kv_put", "key": "aGk=", "value": [True]}, ["`value`", "0 to 255"]),
        ({"type": "kv_list", "limit": -1}, ["`limit`", "whole number", "-1"]),
        ({"type": "kv_list", "limit": True}, ["`limit`", "whole number", "true"]),
        ({"type": "kv_list", "limit": 1.0}, ["`limit`", "whole number", "1.0"]),
        ({"type": "kv_list", "limit": "1"}, ["`limit`", "whole number", "'1'"]),
        ({"type": "kv_get", "key": "aw==", "branch": 5}, ["`branch`", "text", "5"]),
        ({"type": "kv_batch_put", "entries": None}, ["`entries`", "array", "null"]),
        ({"type": "kv_batch_put", "entries": [{"key": "aw=="}]}, ["`entries[0].value`", "key, value"]),
        ({"type": "kv_batch_put", "entries": [{"key": "aw==", "value": "", "z": 1}]}, ["`entries[0].z`", "key, value"]),
        ({"type": "kv_batch_get", "keys": ["aw==", 1]}, ["`keys[1]`", "base64"]),
        ({"type": "space_delete", "space": "s", "force": None}, ["`force`", "true or false", "null"]),
        ({"type": "branch_merge", "source": "a", "target": "b", "strategy": "x"}, ["`strategy`", "source_wins"]),
        ({"type": "json_set", "key": "d", "path": "$"}, ["`value`", "missing"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": "\ud800"}, ["`value`", "surrogate"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": {"\udfff": 1}}, ["`value`", "surrogate"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": {1: 1}}, ["`value`", "key"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": math.nan}, ["`value`", "finite"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": [math.inf]}, ["`value`", "finite"]),
        ({"type": "json_set", "key": "d", "path": "$", "value": b"x"}, ["`value`", "bytes"]),
        ({"type": "json_query", "filter": 1}, ["`filter`", "object"]),
        ({"type": "kv_put", "key": "aw==", "value": "", "expires_in": True}, ["`expires_in`", "number"]),
        ({1: "ping"}, ["text", "int"]),
    ],
    ids=str,
)
def test_a_wrong_command_is_told_what_is_wrong(engine: Engine, command: Any, words: list[str]) -> None:
    """Ours: the message names the field, what it takes, what it got, and which fields there are."""
    error = refusal(engine, command)
    assert error.code == COMMAND
    assert [word for word in words if word not in error.message] == []


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**5000], ids=["over", "under", "huge"])
@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [{"a": n}]], ids=["bare", "nested"])
def test_integers_out_of_range_are_refused_anywhere(engine: Engine, number: int, wrap: Any) -> None:
    """Spec: integers outside -2**63..2**64-1 have a code of their own."""
    assert refusal(engine, {"type": "json_set", "key": "d", "path": "$", "value": wrap(number)}).code == NUMBER
    assert refusal(engine, {"type": "kv_list", "limit": number}).code == NUMBER


def test_nesting_is_limited_and_cycles_are_refused(engine: Engine) -> None:
    """Spec: a command nests at most 127 levels; a value that contains itself never ends."""
    loop: list[Any] = []
    loop.append(loop)
    deep: Any = 1
    for _ in range(127):
        deep = [deep]
    for value in (loop, deep):
        assert refusal(engine, {"type": "json_set", "key": "d", "path": "$", "value": value}).code == COMMAND
    assert refusal(engine, {"type": "json_set", "key": "d", "path": "$", "value": deep[0]}).code != COMMAND


def test_subclasses_of_plain_values_are_taken_as_plain(engine: Engine) -> None:
    """Ours: string enumerations and tuples do as in any JSON encoder."""

    class Word(StrEnum):
        KEY = "aw=="

    assert run(engine, {"type": "kv_put", "key": Word.KEY, "value": (1, 2)})["key"] == "aw=="
    assert run(engine, {"type": "kv_get", "key": "aw=="})["value"]["value"] == "AQI="


def test_null_means_absent_where_a_field_is_optional(engine: Engine) -> None:
    """Spec: null for an optional argument is the same as leaving it out."""
    nulls = dict.fromkeys(["prefix", "cursor", "limit", "as_of", "as_of_time", "branch", "space"])
    assert run(engine, {"type": "kv_list", **nulls}) == {"items": [], "has_more": False, "cursor": None}
    assert run(engine, {"type": "json_list", **nulls})["items"] == []
    assert run(engine, {"type": "kv_sample", "count": None})["items"] == []
    written = {"author": None, "message": None, "if_version": None, "expires_in": None}
    assert run(engine, {"type": "kv_put", "key": "aw==", "value": "", **written})["effect"]["kind"] == "created"
    assert run(engine, {"type": "json_set", "key": "d", "path": "$", "value": None})["effect"]["applied"]
    assert run(engine, {"type": "json_get", "key": "d", "path": "$"})["found"]


@pytest.mark.parametrize("target", ["cache", "durable"])
def test_the_largest_numbers_are_harmless(target: str, tmp_path: Path) -> None:
    """Spec: limits and counts up to 2**64-1 work; positions that far are outside the history."""
    top = 2**64 - 1
    engine = Engine.open(None if target == "cache" else tmp_path / "app.strata", cache=target == "cache")
    try:
        run(engine, {"type": "kv_put", "key": "aw==", "value": ""})
        run(engine, {"type": "json_set", "key": "d", "path": "$", "value": 1})
        for wire, name in (("kv", "limit"), ("json", "limit")):
            assert len(run(engine, {"type": f"{wire}_list", name: top})["items"]) == 1
            assert len(run(engine, {"type": f"{wire}_scan", name: top})["items"]) == 1
            assert len(run(engine, {"type": f"{wire}_sample", "count": top})["items"]) == 1
        assert len(run(engine, {"type": "json_query", "limit": top, "offset": 0})["items"]) == 1
        assert run(engine, {"type": "json_query", "limit": top, "offset": top})["items"] == []
        assert len(run(engine, {"type": "branch_log", "limit": top, "cursor": top})["items"]) == 2
        past = {"type": "kv_get", "key": "aw=="}
        for name in ("as_of", "as_of_time"):
            assert refusal(engine, {**past, name: top}).code == "history_unavailable.engine.persistence_history"
        fork = {"type": "branch_fork_at_version", "source": "default", "branch": "f", "version": top}
        assert refusal(engine, fork).code == "history_unavailable.engine.persistence_history"
        put = {"type": "kv_put", "key": "aw==", "value": "", "if_version": top}
        assert refusal(engine, put).code == "conflict.engine.version"
        for wire in ("branch_revert", "branch_cherry_pick"):
            command = {"type": wire, "version": top, **({"source": "default"} if wire.endswith("pick") else {})}
            assert refusal(engine, command).code == "not_found.engine.commit"
        tag = {"type": "tag_create", "tag": "t", "version": top}
        assert refusal(engine, tag).code == "history_unavailable.engine.persistence_history"
        forever = {"type": "kv_put", "key": "aw==", "value": "", "expires_in": 1e308}
        assert run(engine, forever)["effect"]["kind"] == "updated"
    finally:
        engine.close(checkpoint=False)


def test_commands_without_a_branch_go_to_the_sessions(engine: Engine) -> None:
    """Spec: branch and space default to the session's; the command's own win."""
    run(engine, {"type": "branch_create", "branch": "b"})
    run(engine, {"type": "kv_put", "key": "aw==", "value": "MQ=="}, "b", "s")
    assert run(engine, {"type": "kv_exists", "key": "aw==", "branch": "b", "space": "s"})
    assert not run(engine, {"type": "kv_exists", "key": "aw=="})
    assert not run(engine, {"type": "kv_exists", "key": "aw==", "space": "default"}, "b", "s")
    assert refusal(engine, {"type": "kv_exists", "key": "aw==", "branch": ""}).code.endswith("branch_name")


def test_writes_carry_author_and_message(engine: Engine) -> None:
    """Ours: who and why go into the commit, and only into that one."""
    run(engine, {"type": "kv_put", "key": "aw==", "value": "", "author": "ada", "message": "why"})
    run(engine, {"type": "json_set", "key": "d", "path": "$", "value": 1})
    newest, older = run(engine, {"type": "branch_log"})["items"]
    assert (older["author"], older["message"]) == ("ada", "why")
    assert (newest["author"], newest["message"]) == ("", "")


def test_a_closed_database_answers_with_one_code() -> None:
    """Spec: every command on a closed handle is failed_precondition.sdk.handle_closed."""
    engine = Engine.open(cache=True)
    engine.close()
    for operation in catalogue().values():
        assert refusal(engine, operation.example).code == "failed_precondition.sdk.handle_closed"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
likely = st.one_of(
    json_values,
    st.sampled_from(["default", "b", "$", "a.b[0]", "aw==", "", "strict", 0, 1, 3, 2**64 - 1, [], {}, ["aw=="], [""]]),
    st.lists(
        st.fixed_dictionaries(
            {}, optional={name: st.sampled_from(["aw==", "$", "d", 1, None]) for name in ("key", "path", "value")}
        ),
        max_size=3,
    ),
)


@st.composite
def commands(draw: st.DrawFn) -> Any:
    """Anything that looks like a command, most of it with real names."""
    operation = draw(st.sampled_from([each for each in catalogue().values() if each.family != "admin"]))
    names = draw(st.lists(st.sampled_from([*operation.fields, "x"]), max_size=6, unique=True))
    values: dict[str, Any] = dict(operation.example) if draw(st.booleans()) else {"type": operation.wire}
    for name in names:
        values[name] = draw(likely)
    return values


@given(st.lists(st.one_of(commands(), commands(), json_values), max_size=8))
def test_only_typed_errors_come_out(batch: list[Any]) -> None:
    """Ours: whatever is sent, the answer is an answer or a registered error that the command declares."""
    engine = Engine.open(cache=True)
    try:
        for command in batch:
            code = outcome(engine, command)
            known = catalogue().get(command["type"]) if code != "ok" and is_named(command) else None
            assert known is None or code in known.errors or known.id == "transaction.run", command
    finally:
        engine.close()


def outcome(engine: Engine, command: Any) -> str:
    """Code of the error, or `ok`."""
    try:
        execute(engine, command, "default", "default")
    except StrataError as error:
        return error.code
    return "ok"


def is_named(command: Any) -> bool:
    """Whether it names a command by text."""
    return isinstance(command, dict) and isinstance(command.get("type"), str)
