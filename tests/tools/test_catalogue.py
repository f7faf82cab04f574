"""The catalogue is complete and consistent, and its examples run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from strata_mcp import errors
from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
from strata_mcp.tools.dispatch import execute
from strata_mcp.tools.index import command_index
from strata_mcp.tools.operation import Operation, catalogue

OPERATIONS = list(catalogue().values())
CODES = {entry["code"] for entry in errors.catalog()}
RECORDED = Path(__file__).parents[1] / "conformance" / "data" / "wire-examples.jsonl"
BYTES_MAX = 120_000
SUMMARY_MAX = 120

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)


def test_names_are_unique_and_fit_every_surface() -> None:
    """Ours: ids, wire names and tool names are unique; tool names fit MCP's alphabet."""
    for names in ([o.id for o in OPERATIONS], [o.wire for o in OPERATIONS], [o.tool for o in OPERATIONS]):
        assert len(names) == len(set(names))
    assert [o.tool for o in OPERATIONS if not re.fullmatch(r"strata_[a-z_]{1,50}", o.tool)] == []


def test_every_recorded_command_is_offered() -> None:
    """Spec: each command of this release's families is in the catalogue."""
    requests = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    wires = {vector["request"]["type"] for vector in requests}
    assert wires - set(catalogue()) == set()


@each_operation
def test_errors_are_registered(operation: Operation[Any]) -> None:
    """Ours: a command declares registered codes only."""
    assert set(operation.errors) - CODES == set()


@each_operation
def test_texts_say_something(operation: Operation[Any]) -> None:
    """Ours: a one-sentence summary that ends in a full stop, and a description of every argument."""
    assert operation.summary.endswith(".")
    assert len(operation.summary) <= SUMMARY_MAX
    bare = [name for name, item in operation.input_schema()["properties"].items() if not item.get("description")]
    assert bare == []


@each_operation
def test_schemas_are_valid_and_quiet(operation: Operation[Any]) -> None:
    """Ours: both schemas are JSON Schema, closed where arguments go in, and without generated titles."""
    taken, given = operation.input_schema(), operation.output_schema()
    for schema in (taken, given):
        Draft202012Validator.check_schema(schema)
        assert '"title"' not in json.dumps(schema)
    assert taken["additionalProperties"] is False
    assert taken["type"] == "object"


@each_operation
def test_examples_are_taken_by_their_schema(operation: Operation[Any]) -> None:
    """Ours: the example names its command and fits the declared arguments."""
    values = dict(operation.example)
    assert values.pop("type") == operation.wire
    Draft202012Validator(operation.input_schema()).validate(values)


def run_example(engine: Engine, operation: Operation[Any]) -> list[str]:
    """What is wrong with how an example answers."""
    try:
        answer = execute(engine, operation.example, "default", "default")
    except StrataError as error:
        return [] if error.code in operation.errors else [f"{operation.id}: {error.code} is not declared"]
    schema = Draft202012Validator(operation.output_schema())
    return [f"{operation.id}: {problem.message}" for problem in schema.iter_errors(answer["data"])]


@pytest.mark.parametrize("target", ["cache", "durable"])
def test_examples_run(target: str, tmp_path: Path) -> None:
    """Ours: every example answers as its schema says, or with an error it declares."""
    engine = Engine.open(None if target == "cache" else tmp_path / "app.strata", cache=target == "cache")
    try:
        assert [problem for operation in OPERATIONS for problem in run_example(engine, operation)] == []
    finally:
        engine.close(checkpoint=False)


def test_reads_are_marked_as_reads() -> None:
    """Ours: only commands that write take an author, and no read is destructive."""
    for operation in OPERATIONS:
        if operation.access == "read":
            assert not operation.destructive
            assert operation.idempotent
            assert "author" not in operation.fields


def test_reads_write_nothing() -> None:
    """Ours: running every read leaves the commit counter where it was."""
    engine = Engine.open(cache=True)
    try:
        head = engine.journal.head
        reads = [operation for operation in OPERATIONS if operation.access == "read"]
        assert [problem for operation in reads for problem in run_example(engine, operation)] == []
        assert engine.journal.head == head
    finally:
        engine.close()


def test_all_input_schemas_together_stay_small() -> None:
    """Ours: what a model must read to know every tool has a budget."""
    assert sum(len(json.dumps(o.input_schema())) + len(o.description) for o in OPERATIONS) < BYTES_MAX // 2


def test_the_index_tells_what_the_catalogue_holds() -> None:
    """Spec: the command index lists every command by id with its names, arguments and errors."""
    index = command_index()
    assert json.loads(json.dumps(index)) == index
    commands: Any = index["commands"]
    assert [command["id"] for command in commands] == sorted(operation.id for operation in OPERATIONS)
    for command, operation in zip(commands, OPERATIONS, strict=True):
        assert command["mcp"]["name"] == operation.tool
        assert [parameter["name"] for parameter in command["params"]] == operation.fields
        assert command["response_model"]
        assert [error["code"] for error in command["errors"]] == list(operation.errors)
