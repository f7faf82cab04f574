"""Tool calls without a process: what a call may say, what comes back, and that nothing else ever comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client

from strata_mcp.errors import StrataError, catalog
from strata_mcp.server import folder_of, surface
from strata_mcp.server.app import INSTRUCTIONS, Database, build, tool_of
from strata_mcp.tools.operation import Operation, catalogue

COMMAND = "invalid_argument.sdk.command"
DESCRIPTION_MAX = 2_000
LIST_BYTES_MAX = 160_000
NAME_MAX = 44
OPERATIONS = list(catalogue().values())
CODES = {entry["code"] for entry in catalog()}
TOOLS = {operation.tool: operation for operation in OPERATIONS}

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A server's database, not opened before the first call."""
    made = Database(tmp_path / "db", "standard", "default", "default")
    yield made
    made.close(checkpoint=False)


def call(database: Database, tool: str, **arguments: Any) -> Any:
    """Structured content of a call; it must be as the tool's schema says."""
    operation = TOOLS[f"strata_{tool}"]
    _, structured = database.run(operation, arguments)
    Draft202012Validator(surface.output_schema(operation)).validate(structured)
    return structured


def refusal(database: Database, tool: str, **arguments: Any) -> StrataError:
    """Error of a call."""
    with pytest.raises(StrataError) as caught:
        database.run(TOOLS[f"strata_{tool}"], arguments)
    return caught.value


def outcome(database: Database, operation: Operation[Any], arguments: dict[str, Any]) -> str:
    """Code of the error, or `ok` after a result that fits its schema."""
    try:
        call(database, operation.tool.removeprefix("strata_"), **arguments)
    except StrataError as error:
        return error.code
    return "ok"


@each_operation
def test_tools_suit_picky_clients(operation: Operation[Any]) -> None:
    """Spec: objects at the root without alternatives, every argument typed, short names, a few words of description."""
    tool = tool_of(operation)
    assert len(tool.name) <= NAME_MAX
    assert 0 < len(tool.description or "") <= DESCRIPTION_MAX
    assert tool.output_schema is not None
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not schema.keys() & {"anyOf", "oneOf", "allOf"}
    for owner in (tool.input_schema, *tool.input_schema.get("$defs", {}).values()):
        for name, field in owner["properties"].items():
            assert field.keys() & {"type", "anyOf", "enum", "$ref"}, name
            assert not isinstance(field.get("type"), list), name
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is (operation.access == "read")
    assert not (tool.annotations.read_only_hint and tool.annotations.destructive_hint)


def test_the_list_of_tools_and_the_instructions_are_affordable() -> None:
    """Ours: what a client loads at the start stays within a budget."""
    tools = [tool_of(operation).model_dump(by_alias=True, exclude_none=True) for operation in OPERATIONS]
    assert len(json.dumps(tools)) <= LIST_BYTES_MAX
    assert len(INSTRUCTIONS) <= 1_500


def spoken(value: Any, field: dict[str, Any]) -> Any:
    """A wire argument in this surface's form: bytes as an object with base64."""
    if isinstance(value, str) and any(o.get("contentEncoding") == "base64" for o in field.get("anyOf", [])):
        return {"base64": value}
    return value


def test_every_example_works_as_a_tool_call(database: Database) -> None:
    """Ours: each example answers as the tool's output schema says, or with a declared error."""
    for operation in OPERATIONS:
        properties = operation.input_schema()["properties"]
        arguments = {
            name: spoken(value, properties[name]) for name, value in operation.example.items() if name != "type"
        }
        if operation.id in ("kv.batch_put", "transaction.run"):
            continue  # their bytes stand deeper; tests of their own call them
        assert outcome(database, operation, arguments) in ("ok", *operation.errors), operation.id


def test_a_tool_runs_its_own_operation_only(database: Database) -> None:
    """Ours: an argument called type cannot turn a read into a write."""
    call(database, "kv_put", key="a", value="1")
    error = refusal(database, "kv_get", key="a", type="kv_delete")
    assert error.code == COMMAND
    assert "`type`" in error.message
    assert call(database, "kv_exists", key="a")["result"] is True


def test_null_is_a_value_where_a_value_is_required(database: Database) -> None:
    """Ours: null for an optional argument is absent, for a document's value it is null."""
    call(database, "json_set", key="d", path="$", value=None, branch=None, if_version=None)
    found = call(database, "json_get", key="d", path="$")
    assert (found["found"], found["value"]["value"]) == (True, None)
    assert call(database, "space_delete", space="ghost", force=None)["effect"]["kind"] == "not_found"


@pytest.mark.parametrize("value", ["[1, 2]", '{"a": 1}', "null", "5"])
def test_text_stays_text_in_a_document(database: Database, value: str) -> None:
    """Ours: a text that looks like JSON is stored as the text it is."""
    call(database, "json_set", key="d", path="$", value=value)
    assert call(database, "json_get", key="d", path="$")["value"]["value"] == value


@pytest.mark.parametrize("value", ["", "plain", "Zürich 🏔", "\x00", "\ufffd", '{"base64": "AA=="}', "YQ=="])
def test_plain_text_comes_back_as_it_was(database: Database, value: str) -> None:
    """Ours: any text is stored as its UTF-8 bytes, base64 look-alikes too."""
    call(database, "kv_put", key="k", value=value)
    assert call(database, "kv_get", key="k")["value"]["value"] == value


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("kv_put", {"key": 5, "value": ""}, ["`key`", "quotes"]),
        ("kv_put", {"key": {"b64": "AA=="}, "value": ""}, ["`key`", "base64"]),
        ("kv_put", {"key": "a", "value": {"base64": "A"}}, ["`value`", "base64"]),
        ("kv_put", {"key": None, "value": ""}, ["`key`", "null"]),
        ("kv_put", {"key": "a", "value": "\udc00"}, ["`value`", "surrogate"]),
        ("kv_get", {"kye": "a"}, ["key"]),
        ("kv_get", {"key": "a", "extra": 1}, ["`extra`", "as_of"]),
        ("kv_list", {"limit": "many"}, ["`limit`", "u64"]),
        ("json_batch_get", {"entries": "[oops"}, ["`entries`", "list"]),
        ("transaction_run", {"commands": [{"type": "kv_put", "key": 1, "value": ""}]}, ["commands[0].key"]),
        ("transaction_run", {"commands": [{"type": "nope"}]}, ["commands[0]", "nope"]),
        ("transaction_run", {"commands": [7]}, ["commands[0]"]),
    ],
    ids=str,
)
def test_a_wrong_call_is_told_what_is_wrong(
    database: Database, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    """Ours: the message names the argument and what it takes, so that a model gets it right the next time."""
    error = refusal(database, tool, **arguments)
    assert error.code == COMMAND
    assert [word for word in words if word not in error.message] == []


def test_a_transaction_speaks_plain_text_both_ways(database: Database) -> None:
    """Ours: its commands and results have the form of the tools."""
    done = call(
        database,
        "transaction_run",
        commands=[
            {"type": "kv_put", "key": "t", "value": "x"},
            {"type": "kv_put", "key": "raw", "value": {"base64": "/w=="}},
            {"type": "kv_scan"},
            {"type": "json_set", "key": "d", "path": "$", "value": "YQ=="},
            {"type": "json_get", "key": "d", "path": "$"},
        ],
    )
    rows = done["results"][2]["data"]["items"]
    assert [(row["key"], row["value"]) for row in rows] == [("raw", {"base64": "/w==", "size": 1}), ("t", "x")]
    assert done["results"][0]["data"]["key"] == "t"
    assert done["results"][4]["data"]["value"]["value"] == "YQ=="


def test_relative_folders_start_at_the_clients_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: CLAUDE_PROJECT_DIR, else the working folder; never the root or the home folder itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    assert folder_of("db") == tmp_path / "db"
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "project"))
    assert folder_of("db") == tmp_path / "project" / "db"
    assert folder_of(str(tmp_path / "x")) == tmp_path / "x"
    for place in ("/", "~"):
        with pytest.raises(StrataError):
            folder_of(place)


def test_a_database_that_cannot_be_opened_is_an_error_of_the_call(tmp_path: Path) -> None:
    """Ours: the server answers, the first call says what is wrong, and a later one may succeed."""
    database = Database(tmp_path / "missing" / "db", "always", "default", "default")
    assert refusal(database, "admin_ping").code == "invalid_argument.engine.persistence"
    (tmp_path / "missing").mkdir()
    assert call(database, "admin_ping")["version"]
    database.close(checkpoint=False)
    assert refusal(database, "admin_ping").code == "failed_precondition.sdk.handle_closed"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
steps = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["kv_put", "kv_get", "json_set", "json_get", "nope", None])},
        optional={name: st.sampled_from(["a", "$", 1, None, {"base64": "AA=="}]) for name in ("key", "path", "value")},
    ),
    max_size=3,
)
likely = json_values | steps | st.sampled_from(["default", "$", "a.b", "[]", "{}", "1", {"base64": "AA=="}, ["a"], 3])


@st.composite
def calls(draw: st.DrawFn) -> tuple[Operation[Any], dict[str, Any]]:
    """A call of a real tool, mostly with real argument names."""
    operation = draw(st.sampled_from([each for each in OPERATIONS if each.family != "admin"]))
    names = draw(st.lists(st.sampled_from([*operation.fields, "x", "type"]), max_size=6, unique=True))
    return operation, {name: draw(likely) for name in names}


@given(st.lists(calls(), max_size=6))
def test_only_answers_and_typed_errors_come_out(tmp_path_factory: pytest.TempPathFactory, batch: Any) -> None:
    """Ours: whatever a model sends, it gets a result that fits the schema or an error it can read."""
    database = Database(tmp_path_factory.mktemp("fuzz") / "db", "standard", "default", "default")
    try:
        for operation, arguments in batch:
            assert outcome(database, operation, arguments) in ("ok", *CODES)
    finally:
        database.close(checkpoint=False)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_parallel_calls_are_all_answered(database: Database, era: str) -> None:
    """Spec: clients send calls side by side; twenty writes and reads at once all arrive."""
    import anyio

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(build(database), mode=era) as client, anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(client.call_tool, "strata_kv_put", {"key": f"{number:02}", "value": "v"})

    anyio.run(run)
    assert call(database, "kv_count")["result"] == 20
