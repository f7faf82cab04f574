"""The command line as a person and a script use it."""

from __future__ import annotations

import json
import stat

from tests.cli.shell import Shell


def test_values_go_in_and_come_out_plain(strata: Shell) -> None:
    """A value is printed as it is, an absent key ends with status 3."""
    strata("db", "kv", "put", "greeting", "grüezi")
    assert strata("db", "kv", "get", "greeting") == "grüezi\n"
    strata("db", "kv", "get", "nothing", status=3)
    strata("db", "kv", "put", "--base64", "YQ==", "/w==")
    assert strata("db", "kv", "list") == "a\ngreeting\n"


def test_documents_branches_and_the_past(strata: Shell) -> None:
    """JSON is parsed, branches and moments are options of the whole command."""
    first = json.loads(strata("db", "--json", "json", "set", "plan", "$", '{"done": false}'))
    strata("db", "branch", "fork", "default", "try")
    strata("db", "--branch", "try", "json", "set", "plan", "$.done", "true")
    strata("db", "branch", "merge", "try", "default")
    assert strata("db", "json", "get", "plan", "$.done") == "true\n"
    version = str(first["commit"]["version"])
    assert strata("db", "--as-of", version, "json", "get", "plan", "$.done") == "false\n"
    rows = json.loads(strata("db", "--json", "json", "query", "--filter", '{"done": true}'))
    assert [row["key"] for row in rows["items"]] == ["plan"]


def test_errors_have_a_status_a_code_and_a_hint(strata: Shell) -> None:
    """Wrong words end with 2, conflicts with 4, and --json makes the error machine-readable."""
    strata("db", "kv", "get", status=2)
    strata("db", "kv", "list", "--limit", "many", status=2)
    strata("db", "branch", "create", "b")
    strata("db", "branch", "create", "b", status=4)
    assert "already_exists.engine.branch" in strata.errors
    strata("db", "--json", "branch", "get", "ghost", status=3)
    assert json.loads(strata.errors)["error"]["code"] == "not_found.engine.branch"


def test_commits_are_signed(strata: Shell) -> None:
    """--author and --message end up in the log."""
    strata("db", "--author", "ann", "--message", "why", "kv", "put", "a", "1")
    log = json.loads(strata("db", "--json", "branch", "log"))
    assert (log["items"][0]["author"], log["items"][0]["message"]) == ("ann", "why")


def test_settings_are_kept_for_the_user_alone(strata: Shell) -> None:
    """A setting changes later commands; its file has mode 0600; unknown ones are refused."""
    strata("config", "set", "space", "notes")
    assert strata("config", "get", "space") == "notes\n"
    mode = stat.S_IMODE((strata.home / "strata" / "config.json").stat().st_mode)
    assert mode == 0o600
    strata("db", "kv", "put", "a", "1")
    assert strata("db", "--space", "notes", "kv", "list") == "a\n"
    strata("config", "set", "colour", "red", status=2)


def test_agents_find_everything_they_need(strata: Shell) -> None:
    """Guide, errors and commands are printed without a database."""
    assert "branch" in strata("agents", "guide")
    assert any(entry["code"] == "conflict.engine.version" for entry in json.loads(strata("agents", "errors")))
    commands = json.loads(strata("agents", "commands"))["commands"]
    assert {"kv.put", "json.query", "branch.merge"} <= {command["id"] for command in commands}


def test_help_names_every_family(strata: Shell) -> None:
    """The help of a database lists its families and the server."""
    text = strata("db", "--help")
    assert all(word in text for word in ("kv", "json", "branch", "space", "tag", "admin", "transaction", "mcp"))


def test_a_folder_that_is_no_database_is_left_alone(strata: Shell) -> None:
    """Pointing at somebody's folder is refused and changes nothing in it."""
    (strata.home / "mine").mkdir()
    (strata.home / "mine" / "letter.txt").write_text("dear")
    strata("mine", "kv", "put", "a", "1", status=4)
    assert [path.name for path in (strata.home / "mine").iterdir()] == ["letter.txt"]


def test_init_writes_what_agents_read(strata: Shell) -> None:
    """`strata init` leaves a skill and notes in a repository, and says so."""
    assert "AGENTS.md" in strata("init", ".")
    assert (strata.home / "AGENTS.md").exists()
