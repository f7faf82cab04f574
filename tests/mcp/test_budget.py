"""Results stay within what a model takes in: pages get smaller, reports shorter, documents are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from strata_mcp.errors import StrataError
from strata_mcp.server import surface
from strata_mcp.server.app import Database
from strata_mcp.server.budget import RESULT_CHARS_MAX
from strata_mcp.tools.operation import catalogue

Call = Callable[..., Any]
TOOLS = {operation.tool: operation for operation in catalogue().values()}
LONG = "x" * 3_000


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Call]:
    """Calls a tool of a server's database; checks that the result fits and is as its schema says."""
    database = Database(tmp_path / "db", "standard", "default", "default")

    def run(tool: str, **arguments: Any) -> Any:
        operation = TOOLS[f"strata_{tool}"]
        text, structured = database.run(operation, arguments)
        assert len(text) <= RESULT_CHARS_MAX
        Draft202012Validator(surface.output_schema(operation)).validate(structured)
        assert json.loads(text) in (structured, structured.get("result"))
        return structured

    yield run
    database.close(checkpoint=False)


def fill(call: Call, count: int) -> list[str]:
    """Write many pairs and as many documents; their keys."""
    keys = [f"{number:03}" for number in range(count)]
    call("kv_batch_put", entries=[{"key": key, "value": LONG} for key in keys])
    call("json_batch_set", entries=[{"key": key, "path": "$", "value": LONG} for key in keys])
    return keys


@pytest.mark.parametrize(
    ("tool", "field"), [("kv_scan", "start"), ("json_scan", "start"), ("json_query", "offset")], ids=str
)
def test_a_long_page_shrinks_and_goes_on_without_a_gap(call: Call, tool: str, field: str) -> None:
    """Ours: the first page says that it was cut and how to go on; going on so reads every row once."""
    keys = fill(call, 40)
    seen: list[str] = []
    position: Any = None
    for _ in keys:
        page = call(tool, **{} if position is None else {field: position}, limit=40)
        seen += [row["key"] for row in page["items"]]
        if len(seen) < len(keys):
            assert page["truncated"]
            assert field in page["notice"]
            assert page["has_more"]
        position = page["cursor"] if field == "start" else len(seen)
        if not page["has_more"]:
            break
    assert seen == keys


def test_a_long_listing_shrinks_by_its_cursor(call: Call) -> None:
    """Ours: keys alone can be too long too."""
    entries = [{"key": f"{number:04}" + "k" * 60, "value": ""} for number in range(1500)]
    call("kv_batch_put", entries=entries)
    first = call("kv_list")
    assert first["truncated"]
    second = call("kv_list", cursor=first["cursor"])
    keys = [entry["key"] for entry in entries]
    seen = first["items"] + second["items"]
    assert seen == keys[: len(seen)]
    assert len(seen) > len(first["items"]) > 100


def test_a_long_value_is_cut_and_says_so(call: Call) -> None:
    """Ours: the beginning of a large value, with its size; never mistaken for the whole."""
    call("kv_put", key="big", value="a" * 1_000_000)
    call("kv_put", key="raw", value={"base64": "/" * 1_000_000})
    big = call("kv_get", key="big")
    assert big["truncated"]
    assert (big["value"]["value"]["size"], big["value"]["value"]["cut"]) == (1_000_000, True)
    assert set(big["value"]["value"]["text"]) == {"a"}
    raw = call("kv_get", key="raw")["value"]["value"]
    assert (raw["size"], raw["cut"], set(raw["base64"])) == (750_000, True, {"/"})


def test_what_has_no_pages_loses_its_tail(call: Call) -> None:
    """Ours: histories, differences and lists of branches are shortened, and say by how much."""
    for _ in range(30):
        call("json_set", key="d", path="$", value=LONG)
    history = call("json_history", key="d")
    assert 0 < len(history["result"]) < 30
    assert "of 30 entries" in history["notice"]
    assert history["result"][0]["document_version"] == 30
    call("branch_create", branch="other")
    call("kv_batch_put", entries=[{"key": f"{n:04}", "value": ""} for n in range(2000)], branch="other")
    spaces = call("branch_diff", branch_a="default", branch_b="other")
    assert spaces["truncated"]
    assert any(each["added"] for each in spaces["spaces"])


def test_a_document_is_never_cut(call: Call) -> None:
    """Ours: half a document looks like a document, so the read is refused with advice."""
    call("json_set", key="d", path="$", value={"text": "x" * 50_000, "n": 1})
    with pytest.raises(StrataError) as caught:
        call("json_get", key="d", path="$")
    assert caught.value.code == "resource_exhausted.executor.result_size"
    assert "path" in caught.value.hint
    assert call("json_get", key="d", path="n")["value"]["value"] == 1


def test_a_long_report_of_a_write_keeps_the_failures(call: Call) -> None:
    """Ours: a batch is acknowledged whatever its size, and its faulty entry is in the short report."""
    entries = [{"key": f"{number:04}", "value": ""} for number in range(1000)]
    entries[700]["key"] = ""
    answer = call("kv_batch_put", entries=entries)
    assert (answer["status"], answer["commit"]["put_count"]) == ("partial", 999)
    assert answer["truncated"]
    assert [item["index"] for item in answer["items"] if item["status"] == "error"] == [700]
    steps = [{"type": "kv_put", "key": f"{number:04}", "value": "v"} for number in range(500)]
    assert call("transaction_run", commands=steps)["commit"]["put_count"] == 500
