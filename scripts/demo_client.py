"""
Drive the MCP server over stdio, as an agent's client would, and check every answer.

The data are real: what the installed packages say about themselves. An agent audits them on a branch
while the main line goes on, merges its findings, looks at the past, and loses nothing when its server is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters

BATCH = 25


def say(title: str) -> None:
    """Head of one step."""
    print(f"\n--- {title}")


class Session:
    """One client of one server process."""

    def __init__(self, client: Client) -> None:
        """Wrap a connected client."""
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; its answer as Python data. A tool error ends the demo."""
        answer, failed = await self.attempt(tool, **arguments)
        if failed:
            raise SystemExit(f"{tool} failed: {answer}")
        return answer

    async def attempt(self, tool: str, **arguments: Any) -> tuple[Any, bool]:
        """Call a tool; its answer and whether it is an error."""
        result = await self.client.call_tool(f"strata_{tool}", arguments)
        text = "".join(getattr(block, "text", "") for block in result.content)
        return json.loads(text), bool(result.is_error)


@asynccontextmanager
async def server(database: Path) -> AsyncIterator[Session]:
    """A server process of its own, and a client connected to it."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "strata_mcp.server", "--db", str(database)], env=dict(os.environ)
    )
    async with Client(command) as client:
        yield Session(client)


def package_documents() -> dict[str, dict[str, Any]]:
    """Name, version, licence, requirements and size of every installed package."""
    documents: dict[str, dict[str, Any]] = {}
    for package in metadata.distributions():
        about = package.metadata
        files = package.files or []
        plain = [line for line in package.requires or [] if "extra ==" not in line]
        requires = sorted({re.split(r"[^\w.-]", line)[0].lower() for line in plain})
        documents[about["Name"].lower()] = {
            "version": package.version,
            "summary": about.get("Summary", ""),
            "licence": (about.get("License-Expression") or about.get("License") or "unknown").splitlines()[0][:40],
            "requires": requires,
            "requires_count": len(requires),
            "kilobytes": sum(file.size or 0 for file in files) // 1024,
        }
    return documents


async def store_packages(session: Session) -> int:
    """Write one document per package, a batch per commit; the number of documents."""
    say("store the descriptions of the installed packages, one JSON document each")
    documents = package_documents()
    entries = [{"key": f"package:{name}", "path": "$", "value": value} for name, value in sorted(documents.items())]
    answer: dict[str, Any] = {}
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        answer = await session.call("json_batch_set", entries=batch)
    print(f"{len(entries)} documents, {BATCH} to a commit; the last commit is {answer['commit']['version']}")
    count: int = await session.call("json_count", prefix="package:")
    assert count == len(entries), (count, len(entries))
    return count


async def ask(session: Session) -> list[str]:
    """Query the documents; the ids of the packages with the most requirements."""
    say("which packages ask for the most others?")
    rows = await session.call(
        "json_query", order="-requires_count", limit=5, projection=["version", "requires_count", "kilobytes"]
    )
    for row in rows["items"]:
        value = row["value"]
        print(f"{row['key']:<28} {value['version']:<12} requires {value['requires_count']}, {value['kilobytes']} kB")
    return [row["key"] for row in rows["items"]]


async def audit(session: Session, names: list[str]) -> dict[str, Any]:
    """Note findings on a branch, look at the difference, merge; the last commit before the merge."""
    say("audit on a branch: the main line sees nothing of it")
    await session.call("branch_fork", source="default", branch="audit")
    for name in names:
        finding = {"status": "review", "reason": "many requirements"}
        await session.call("json_set", branch="audit", key=name, path="$.audit", value=finding)
    seen = await session.call("json_get", key=names[0], path="$.audit")
    assert not seen["found"]
    print(f"{names[0]} on the main line has an audit: {seen['found']}")

    difference = await session.call("branch_diff", branch_a="default", branch_b="audit")
    changed = sum(len(space["modified"]) for space in difference["spaces"])
    assert changed == len(names), difference
    print(f"the branches differ in {changed} documents")

    preview = await session.call("branch_preview", source="audit", target="default")
    print(f"a merge would meet {len(preview['conflicts'])} conflicts")

    before = (await session.call("kv_put", key="note", value="before the merge"))["commit"]
    merged = await session.call("branch_merge", source="audit", target="default")
    print(f"merged: {len(merged['applied'])} documents, commit {merged['target_version']}")
    return before


async def look_back(session: Session, name: str, before: dict[str, Any]) -> None:
    """Read the same document now, before the merge by commit number, and by the clock on the wall."""
    say("time travel: the same document now and before the merge, on both clocks")
    now = await session.call("json_get", key=name, path="$.audit")
    by_number = await session.call("json_get", key=name, path="$.audit", as_of=before["version"])
    by_clock = await session.call("json_get", key=name, path="$.audit", as_of_time=before["committed_at"])
    print("now:                ", json.dumps(now["value"]["value"]))
    print(f"as of commit {before['version']}:    ", json.dumps(by_number))
    print(f"as of {before['committed_at']}:", json.dumps(by_clock))
    assert now["found"]
    assert by_number == by_clock == {"found": False, "value": None}


async def refuse(session: Session, name: str) -> None:
    """A compare-and-set on an old version must fail and say what to do."""
    say("two writers, one document: the second one is told")
    document = await session.call("json_get", key=name, path="$")
    version = document["value"]["version"]
    await session.call("json_set", key=name, path="$.audit.status", value="accepted", if_version=version)
    answer, failed = await session.attempt(
        "json_set", key=name, path="$.audit.status", value="rejected", if_version=version
    )
    assert failed
    error = answer["error"]
    for field in ("code", "message", "hint", "commit_outcome"):
        print(f"{field:<16}{error[field]}")


def server_pids(database: Path) -> list[int]:
    """Server processes of this demo's database, found among this process's children."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return [int(pid) for pid in listed if str(database) in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")]


async def survive(database: Path) -> None:
    """Kill a server with no warning right after an acknowledged write, start another one and read it."""
    say("kill the server (SIGKILL) right after a write")
    async with server(database) as session:
        await session.call("json_set", key="last words", path="$", value="acknowledged, then killed")
        for pid in server_pids(database):
            os.kill(pid, signal.SIGKILL)
            print(f"killed process {pid}")
        try:
            await session.call("json_get", key="last words", path="$")
        except MCPError as error:
            print(f"the client noticed: {error}")
        else:
            raise SystemExit("the server outlived SIGKILL")
    async with server(database) as session:
        found = await session.call("json_get", key="last words", path="$")
        print(f"after a restart: {found['value']['value']!r}, commit {found['value']['version']}")


async def share(database: Path) -> None:
    """Two servers on one database see each other's commits."""
    say("two servers, two agents, one database")
    async with server(database) as first, server(database) as second:
        for turn in range(3):
            await first.call("json_set", key="talk", path="$", value={"turn": turn, "from": "first"})
            heard = (await second.call("json_get", key="talk", path="$.turn"))["value"]
            assert heard["value"] == turn
            print(f"the first agent wrote turn {turn}, the second reads {heard['value']} in commit {heard['version']}")


def read_tables(database: Path) -> None:
    """Open the checkpointed history with LanceDB itself, without Strata."""
    say("the history as ordinary LanceDB tables")
    import lancedb

    tables = lancedb.connect(database / "tables")
    for name in sorted(tables.list_tables().tables):
        table = tables.open_table(name)
        print(f"{name}: {table.count_rows()} rows, columns {', '.join(table.schema.names)}")


async def tour(database: Path) -> None:
    """All steps."""
    async with server(database) as session:
        tools = (await session.client.list_tools()).tools
        print(f"the server offers {len(tools)} tools, among them {', '.join(tool.name for tool in tools[:6])}")
        count = await store_packages(session)
        names = await ask(session)
        before = await audit(session, names)
        await look_back(session, names[0], before)
        await refuse(session, names[0])
    await survive(database)
    await share(database)
    async with server(database) as session:
        assert await session.call("json_count", prefix="package:") == count
        await session.call("admin_checkpoint")
    read_tables(database)


def main() -> None:
    """Run the tour against the database named on the command line."""
    database = Path(sys.argv[1]).resolve()
    started = time.perf_counter()
    asyncio.run(tour(database))
    print(f"\nThe demo passed in {time.perf_counter() - started:.1f} s. Its database is {database.name} in .demo.")


if __name__ == "__main__":
    main()
