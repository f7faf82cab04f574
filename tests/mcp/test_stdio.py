"""The server as a client meets it: a process on two pipes, both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

import stratadb

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
ERAS = ("auto", "legacy")


class Caller:
    """Calls tools and reads their text."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ok(self, tool: str, **arguments: Any) -> Any:
        """The data of a call that must succeed; text and structured content must say the same."""
        result = await self.client.call_tool(f"strata_{tool}", arguments)
        assert not result.is_error, result.content
        data = json.loads(result.content[0].text)  # type: ignore[union-attr]  # text by contract
        assert result.structured_content in (data, {"result": data})
        return data

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail."""
        result = await self.client.call_tool(f"strata_{tool}", arguments)
        assert result.is_error
        error: dict[str, Any] = json.loads(result.content[0].text)["error"]  # type: ignore[union-attr]  # text
        return error


@asynccontextmanager
async def server(folder: Path, era: str = "auto") -> AsyncIterator[Caller]:
    """A server process and a client connected to it."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "strata_mcp.server", str(folder)], env=ENVIRONMENT
    )
    async with asyncio.timeout(60), Client(command, mode=era) as client:
        yield Caller(client)


def session(folder: Path, steps: Callable[[Caller], Awaitable[None]], era: str = "auto") -> None:
    """Run steps in one client session."""

    async def run() -> None:
        async with server(folder, era) as caller:
            await steps(caller)

    asyncio.run(run())


def pids_of(folder: Path) -> list[int]:
    """Servers of a database among the children of this process."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in listed if str(folder) in Path(f"/proc/{pid}/cmdline").read_text()]


@pytest.mark.parametrize("era", ERAS)
def test_every_operation_is_a_described_tool(tmp_path: Path, era: str) -> None:
    """Tools carry a description, both schemas and the hints a client decides by."""

    async def steps(caller: Caller) -> None:
        tools = {tool.name: tool for tool in (await caller.client.list_tools()).tools}
        assert list(tools) == sorted(tools)
        for tool in tools.values():
            assert tool.description
            assert tool.output_schema is not None
            assert tool.output_schema["type"] == tool.input_schema["type"] == "object"
            assert tool.annotations is not None
        assert tools["strata_kv_get"].annotations.read_only_hint is True  # type: ignore[union-attr]  # checked
        assert tools["strata_kv_put"].annotations.read_only_hint is False  # type: ignore[union-attr]  # checked
        assert tools["strata_branch_delete"].annotations.destructive_hint is True  # type: ignore[union-attr]  # same

    session(tmp_path / "db", steps, era)


@pytest.mark.parametrize("era", ERAS)
def test_an_agents_day(tmp_path: Path, era: str) -> None:
    """Write, fork, change, diff, preview, merge, look back on both clocks: in plain text both ways."""

    async def steps(caller: Caller) -> None:
        first = await caller.ok("kv_put", key="city", value="Zürich")
        await caller.ok("json_set", key="plan", path="$", value={"steps": ["look"], "done": False})
        await caller.ok("branch_fork", source="default", branch="try")
        await caller.ok("kv_put", branch="try", key="city", value="Bern")
        await caller.ok("json_set", branch="try", key="plan", path="$.done", value=True)
        await caller.ok("json_set", key="plan", path="$.owner", value="ann")
        difference = await caller.ok("branch_diff", branch_a="default", branch_b="try")
        assert [item["identity"] for item in difference["spaces"][0]["modified"]] == ["city"]
        assert (await caller.ok("branch_preview", source="try", target="default"))["conflicts"] == []
        merged = await caller.ok("branch_merge", source="try", target="default")
        assert {item["identity"] for item in merged["applied"]} == {"city", "plan"}
        plan = await caller.ok("json_get", key="plan", path="$")
        assert plan["value"]["value"] == {"steps": ["look"], "done": True, "owner": "ann"}
        for clock in ({"as_of": first["commit"]["version"]}, {"as_of_time": first["commit"]["committed_at"]}):
            assert (await caller.ok("kv_get", key="city", **clock))["value"]["value"] == "Zürich"
        history = await caller.ok("kv_history", key="city")
        assert [item["value"] for item in history["items"]] == ["Bern", "Zürich"]

    session(tmp_path / "db", steps, era)


def test_arguments_are_forgiven_where_nothing_is_ambiguous(tmp_path: Path) -> None:
    """Null is absent, JSON text is parsed where no text is legal, other bytes are base64 in and out."""

    async def steps(caller: Caller) -> None:
        await caller.ok("kv_put", key="a", value={"base64": "/w=="}, branch=None)
        value = (await caller.ok("kv_get", key="a"))["value"]["value"]
        assert value == {"base64": "/w==", "size": 1}
        await caller.ok("kv_batch_put", entries='[{"key": "b", "value": "1"}, {"key": "c", "value": "2"}]')
        assert (await caller.ok("kv_list", limit="2"))["items"] == ["a", "b"]
        done = await caller.ok(
            "transaction_run",
            commands=[{"type": "kv_put", "key": "t", "value": "x"}, {"type": "kv_get", "key": "t"}],
        )
        assert done["results"][1]["data"]["value"]["value"] == "x"

    session(tmp_path / "db", steps)


def test_errors_say_what_to_do_next(tmp_path: Path) -> None:
    """A refusal is a tool result with a code, a sentence and a hint; an unknown tool is a protocol error."""

    async def steps(caller: Caller) -> None:
        error = await caller.refused("kv_get", keey="a")
        assert error["code"] == "invalid_argument.sdk.command"
        assert "key" in error["message"]
        error = await caller.refused("kv_get", key="a", branch="ghost")
        assert error["code"] == "not_found.engine.branch"
        assert error["hint"]
        error = await caller.refused("kv_put", key="a", value="1", if_version=7)
        assert (error["code"], error["retryable"]) == ("conflict.engine.version", True)
        with pytest.raises(MCPError, match="Unknown tool"):
            await caller.client.call_tool("strata_nothing", {})

    session(tmp_path / "db", steps)


def test_an_acknowledged_write_survives_sigkill(tmp_path: Path) -> None:
    """Killed right after the answer, the next server shows the write."""
    folder = tmp_path / "db"

    async def write_and_die(caller: Caller) -> None:
        await caller.ok("kv_put", key="last", value="words")
        for pid in pids_of(folder):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(MCPError):
            await caller.ok("kv_get", key="last")

    async def read(caller: Caller) -> None:
        assert (await caller.ok("kv_get", key="last"))["value"]["value"] == "words"

    session(folder, write_and_die)
    session(folder, read)


def test_two_servers_share_one_database(tmp_path: Path) -> None:
    """Each sees the other's commits at once, and the death of one is nothing to the other."""
    folder = tmp_path / "db"

    async def run() -> None:
        async with server(folder) as first:
            async with server(folder) as second:
                for turn in range(5):
                    await first.ok("kv_put", key="turn", value=str(turn))
                    assert (await second.ok("kv_get", key="turn"))["value"]["value"] == str(turn)
                await second.ok("kv_put", key="turn", value="second")
            assert (await first.ok("kv_get", key="turn"))["value"]["value"] == "second"

    asyncio.run(run())


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A server on plain pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "strata_mcp.server", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def exchange(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
    """Send one message and read one line."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def test_the_end_of_input_ends_the_server(tmp_path: Path) -> None:
    """A client that closes its end leaves no process; stdout held protocol messages only."""
    process = start(tmp_path / "db")
    assert exchange(process, INITIALIZE)["result"]["serverInfo"]["name"] == "strata"
    rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert rest == b""


def call(process: subprocess.Popen[bytes], tool: str, **arguments: Any) -> dict[str, Any]:
    """Result of a tool call over plain pipes; the handshake must be done."""
    params = {"name": f"strata_{tool}", "arguments": arguments}
    result: dict[str, Any] = exchange(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    return result["result"]


def shake_hands(process: subprocess.Popen[bytes]) -> None:
    """The handshake of the older era."""
    exchange(process, INITIALIZE)
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    process.stdin.flush()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server(tmp_path: Path, number: signal.Signals) -> None:
    """Asked to stop, the server closes the database and goes at once, without a word on stdout; the write stays."""
    process = start(tmp_path / "db")
    shake_hands(process)
    assert not call(process, "kv_put", key="a", value="1").get("isError")
    process.send_signal(number)
    rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, b""), errors
    with stratadb.open(tmp_path / "db") as db:
        assert db.kv.get(b"a") == b"1"


def test_a_server_does_not_outlive_its_client(tmp_path: Path) -> None:
    """A client that dies while something else holds its pipes open leaves no server behind."""
    code = (
        "import subprocess, sys;"
        "server = subprocess.Popen([sys.executable, '-m', 'strata_mcp.server', sys.argv[1]], stdin=0, stdout=1);"
        "print(server.pid, file=sys.stderr, flush=True);"
        "sys.stdin.close(); server.wait()"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert client.stderr is not None
    client.stderr.readline()
    exchange(client, INITIALIZE)
    client.kill()
    assert client.stdout is not None
    # The server holds the other end of this pipe: it reads empty when the server is gone.
    watcher = threading.Thread(target=client.stdout.read)
    watcher.start()
    watcher.join(20)
    assert not watcher.is_alive()
    client.communicate()


def test_nothing_heavy_is_loaded_before_the_first_answer() -> None:
    """Building the server imports neither tables nor inference."""
    code = (
        "import sys; from pathlib import Path; from strata_mcp.server.app import Database, build;"
        "build(Database(Path('x'), 'always', 'default', 'default'));"
        "print([m for m in ('lance','lancedb','pyarrow','numpy','networkx','litellm','pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=True
    )
    assert re.sub(r"\s", "", done.stdout) == "[]"
