"""Where options may stand, which database a line means, and what reaches a terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from tests.cli.shell import Shell

from strata_mcp.cli.show import harmless


def test_shared_options_stand_before_or_behind_the_command(strata: Shell) -> None:
    """Ours: branch, space, moment, signature and --json mean the same in both places; the one behind wins."""
    first = json.loads(strata("db", "kv", "put", "a", "1", "--space", "s", "--author", "ann", "--json"))
    strata("db", "--space", "t", "kv", "put", "a", "2", "--space", "s")
    assert strata("db", "--space", "s", "kv", "get", "a") == "2\n"
    assert strata("db", "kv", "get", "a", "--space", "s", "--as-of", str(first["commit"]["version"])) == "1\n"
    instant = str(first["commit"]["committed_at"])
    assert json.loads(strata("db", "kv", "get", "a", "--space=s", "--as-of-time", instant, "--json"))["found"]
    log = json.loads(strata("db", "branch", "log", "--json"))
    assert [item["author"] for item in log["items"]] == ["", "ann"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("kv", "get", "--json"), "'key'"),
        (("--json", "kv", "nope"), "nope"),
        (("kv", "get", "a", "--json", "--as-of-time", "soon"), "soon"),
        (("kv", "get", "a", "--json", "--as-of", "soon"), "as_of"),
    ],
    ids=str,
)
def test_wrong_words_are_json_too(strata: Shell, words: tuple[str, ...], told: str) -> None:
    """Ours: with --json a program reads one JSON object whatever was wrong, and stdout stays empty."""
    assert strata("db", *words, status=2) == ""
    error = json.loads(strata.errors)["error"]
    assert error["class"] == "invalid_argument"
    assert told in error["message"]
    assert error["suggested_fix"]


def test_json_as_a_value_is_a_value(strata: Shell) -> None:
    """Ours: behind `--` words are taken as they are."""
    strata("db", "kv", "put", "--", "--json", "-1")
    assert strata("db", "kv", "get", "--", "--json") == "-1\n"
    strata("db", "branch", "get", "--", "--json", status=3)
    assert strata.errors.startswith("not_found.engine.branch:")


def test_a_line_without_a_database_uses_the_usual_one(strata: Shell) -> None:
    """Ours: STRATA_DB before default_db, which is kept as an absolute folder; without either it is refused."""
    strata("kv", "put", "a", "1", status=2)
    assert "invalid_argument.cli.no_database" in strata.errors
    assert list(strata.home.iterdir()) == []
    strata("config", "set", "default_db", "mine")
    assert strata("config", "get", "default_db") == f"{strata.home / 'mine'}\n"
    strata("kv", "put", "a", "1")
    assert strata("mine", "kv", "get", "a") == "1\n"
    assert json.loads(strata("--json", "kv", "count")) == 1
    assert strata("kv", "count", STRATA_DB="other") == "0\n"
    strata("./kv", "kv", "put", "a", "of a database called kv")
    assert (strata.home / "kv").is_dir()


def test_a_relative_database_starts_at_the_working_folder(strata: Shell) -> None:
    """Ours: a command line means the folder it is typed in, whatever project a client announces."""
    strata("db", "kv", "put", "a", "1", CLAUDE_PROJECT_DIR=str(strata.home / "elsewhere"))
    assert (strata.home / "db").is_dir()


def test_what_was_stored_cannot_drive_a_terminal() -> None:
    """Ours: control characters are shown as escapes, line ends and tabs are left."""
    assert harmless("a\x1b[31m\x07b\tc\nd\x9b\x7fé") == "a\\x1b[31m\\x07b\tc\nd\\x9b\\x7fé"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("strata a", {"agents"}),
        ("strata db b", {"branch"}),
        ("strata db kv h", {"history"}),
        ("strata --cache json index-d", {"index-drop"}),
        ("strata tag cr", {"create"}),
        ("strata config s", {"set"}),
    ],
    ids=str,
)
def test_the_shell_completes_both_command_lines(strata: Shell, line: str, words: set[str]) -> None:
    """Ours: completion goes on behind the name of a database."""
    variables = {"_STRATA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    assert set(strata(**variables).split()) == words


@pytest.mark.parametrize("words", [["db", "mcp", "serve"], ["--cache", "mcp", "serve"]], ids=str)
def test_a_database_is_served_from_the_command_line(strata: Shell, words: list[str]) -> None:
    """Spec: commits of a served database are durable unless asked otherwise; a cache leaves nothing behind."""

    async def run() -> Any:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "strata_mcp.cli", *words], env=strata.environment, cwd=strata.home
        )
        async with asyncio.timeout(60), Client(command) as client:
            written = await client.call_tool("strata_kv_put", {"key": "a", "value": "1"})
            read = await client.call_tool("strata_kv_get", {"key": "a"})
            return written.structured_content, read.structured_content

    strata("config", "set", "durability", "standard")
    written, read = asyncio.run(run())
    assert read["value"]["value"] == "1"
    is_cache = words[0] == "--cache"
    assert written["commit"]["durability"] == ("not_durable" if is_cache else "always")
    assert sorted(path.name for path in strata.home.iterdir()) == (["strata"] if is_cache else ["db", "strata"])
