"""Opening, viewing, closing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sdk.refusals import refused

import stratadb
from stratadb import Strata

COMMAND = "invalid_argument.sdk.command"
PERSISTENCE = "invalid_argument.engine.persistence"
CLOSED = "failed_precondition.sdk.handle_closed"


def test_a_database_needs_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: neither path nor cache, and an unset or empty STRATA_DB."""
    with refused("invalid_argument.cli.no_database"):
        stratadb.open()
    monkeypatch.delenv("STRATA_DB", raising=False)
    with refused("invalid_argument.cli.no_database"):
        stratadb.from_env()
    monkeypatch.setenv("STRATA_DB", "")
    with refused("invalid_argument.cli.no_database"):
        stratadb.from_env()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"durability": "sometimes"}, COMMAND),
        ({"ipc": "maybe"}, COMMAND),
        ({"memory_budget": "lots"}, COMMAND),
        ({"memory_budget": True}, COMMAND),
        ({"memory_budget": 1000}, PERSISTENCE),
        ({"branch": 3}, COMMAND),
        ({"cache": True, "durability": "always"}, COMMAND),
        ({"cache": True, "ipc": "off"}, COMMAND),
        ({"cache": True, "memory_budget": 1 << 30}, COMMAND),
    ],
)
def test_options_are_checked_before_anything_is_made(db_path: Path, options: dict[str, object], code: str) -> None:
    """Spec: wrong options are refused, and no folder appears."""
    with refused(code):
        stratadb.open(db_path, **options)  # type: ignore[arg-type]  # that is the point
    assert not db_path.exists()


@pytest.mark.parametrize(("path", "code"), [("", PERSISTENCE), (3, COMMAND), (b"x", COMMAND)])
def test_a_path_is_text_or_a_path_object(path: object, code: str) -> None:
    """Ours: anything else is a typed error."""
    with refused(code):
        stratadb.open(path)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    "options",
    [{"durability": "standard"}, {"durability": "always"}, {"ipc": "host"}, {"ipc": "off"}, {"memory_budget": 1 << 20}],
)
def test_good_options_open(db_path: Path, options: dict[str, object]) -> None:
    """Spec: every documented option is accepted."""
    with stratadb.open(db_path, **options) as db:  # type: ignore[arg-type]  # keyword by keyword
        receipt = db.kv.put("k", "v").commit
    assert receipt is not None
    assert receipt.durability.value == options.get("durability", "standard")


def test_from_env_opens_what_the_variable_names(db_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: STRATA_DB is the path."""
    monkeypatch.setenv("STRATA_DB", str(db_path))
    with stratadb.from_env(space="s") as db:
        db.kv.put("k", "v")
        assert db.space == "s"
    with stratadb.open(db_path, space="s") as db:
        assert db.kv.get("k") == b"v"


def test_branch_and_space_are_not_checked_at_open() -> None:
    """Spec: an unknown branch fails on first use, not before."""
    with stratadb.open(cache=True, branch="nowhere", space="s") as db:
        assert (db.branch, db.space) == ("nowhere", "s")
        with refused("not_found.engine.branch"):
            db.kv.get("k")
        with refused("not_found.engine.branch"):
            db.kv.put("k", "v")


def test_views_rebind_one_axis_and_inherit_the_other(cache_db: Strata) -> None:
    """Spec: at() rebinds what is given and keeps the rest; views share the database."""
    cache_db.branches.fork("default", "try")
    view = cache_db.at(branch="try").at(space="notes")
    assert (view.branch, view.space) == ("try", "notes")
    assert (cache_db.branch, cache_db.space) == ("default", "default")
    view.kv.put("k", "v")
    assert cache_db.kv.get("k") is None
    assert cache_db.at(branch="try", space="notes").kv.get("k") == b"v"
    assert cache_db.at(space="notes").kv.get("k") is None


def test_namespaces_are_made_once_per_view(cache_db: Strata) -> None:
    """Spec: a namespace is cached on its view."""
    assert cache_db.kv is cache_db.kv
    assert cache_db.at().kv is not cache_db.kv


def test_a_view_can_sign_its_commits(cache_db: Strata) -> None:
    """Ours: at(author=...) names who made a commit, in the log and through further views."""
    view = cache_db.at(author="planner")
    view.kv.put("a", "1")
    view.at(space="s").json.set("d", {"a": 1})
    cache_db.kv.put("b", "1")
    assert [item.author for item in cache_db.branches.log(limit=3)] == ["", "planner", "planner"]


def test_closing_a_view_closes_the_database(cache_db: Strata) -> None:
    """Spec: views share one handle; closing is idempotent and later calls are refused."""
    before = cache_db.kv
    cache_db.at(space="s").close()
    cache_db.close()
    for call in (
        lambda: before.get("k"),
        lambda: before.put("k", "v"),
        lambda: cache_db.json.get("d"),
        lambda: cache_db.branches.list(),
        lambda: cache_db.spaces.list(),
        lambda: cache_db.tags.list(),
        lambda: cache_db.admin.info(),
        lambda: cache_db.at(space="t").kv.count(),
        lambda: cache_db.execute({"type": "ping"}),
        lambda: cache_db.branch,
    ):
        with refused(CLOSED):
            call()
    assert "closed" in repr(cache_db)
    assert cache_db.version == stratadb.__version__


def test_with_closes_and_lets_exceptions_through() -> None:
    """Spec: the context manager closes and swallows nothing."""
    with pytest.raises(ZeroDivisionError), stratadb.open(cache=True) as db:
        _ = 1 / 0
    with refused(CLOSED):
        db.kv.get("k")


FORKING = """
import os, sys
import stratadb

db = stratadb.open(sys.argv[1])
db.kv.put("k", "parent")
child = os.fork()
if child == 0:
    answers = []
    for call in (lambda: db.kv.get("k"), lambda: db.kv.put("k", "child"), lambda: db.branches.list()):
        try:
            call()
            answers.append("no error")
        except stratadb.errors.StrataError as error:
            answers.append(error.code)
    with stratadb.open(sys.argv[1]) as own:
        answers.append(own.kv.get("k").decode())
    print(*answers, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(db.kv.get("k").decode())
"""


def test_a_forked_child_is_refused(db_path: Path) -> None:
    """Spec: the child of os.fork must open its own handle; the parent's goes on."""
    command = [sys.executable, "-c", FORKING, str(db_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    refusal = "failed_precondition.sdk.fork_not_supported"
    assert result.stdout.split() == [refusal, refusal, refusal, "parent", "parent"]


def test_names_of_other_releases_say_so(cache_db: Strata) -> None:
    """Ours: state is gone, the hub is switched off, later namespaces are attributes that are not there yet."""
    calls: list[tuple[str, Callable[[], object]]] = [
        ("unsupported.sdk.state_removed", lambda: cache_db.state),
        ("unsupported.executor.hub_feature_disabled", lambda: cache_db.hub),
        ("unsupported.executor.hub_feature_disabled", lambda: stratadb.clone("data", "somewhere")),
        (COMMAND, lambda: stratadb.clone("data", "somewhere", progress=3)),  # type: ignore[arg-type]
    ]
    for code, call in calls:
        with refused(code):
            call()
    with pytest.raises(AttributeError, match="later release"):
        _ = cache_db.vectors  # type: ignore[attr-defined]  # that is the point
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cache_db.nonsense  # type: ignore[attr-defined]  # that is the point


def test_one_handle_serves_many_threads(fresh_db: Strata) -> None:
    """Spec: threads may share a handle; no write is lost."""

    def work(number: int) -> None:
        for step in range(20):
            fresh_db.kv.put(f"{number}/{step}", str(step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert fresh_db.kv.count() == 80


def test_execute_runs_a_wire_command_where_the_database_was_opened() -> None:
    """Spec: execute uses the session's branch and space and is not moved by views."""
    with stratadb.open(cache=True, space="notes") as db:
        db.kv.put("k", "v")
        answer = db.at(space="other").execute({"type": "kv_exists", "key": "aw=="})
        assert answer["data"] is not None
        assert db.execute({"type": "kv_exists", "key": "aw=="}) == answer
        for bad in ({"type": "kv_get"}, {"type": "nonsense"}, {"type": "ping", "extra": 1}, {}, 3):
            with refused(COMMAND):
                db.execute(bad)  # type: ignore[arg-type]  # that is the point


def test_the_command_index_lists_commands() -> None:
    """Spec: a dict with the list of commands."""
    index = stratadb.command_index()
    commands = index["commands"]
    assert isinstance(commands, list)
    assert len(commands) > 40


def test_a_handle_names_itself(cache_db: Strata) -> None:
    """Ours: the representation tells branch and space."""
    assert repr(cache_db.at(space="s")) == "<Strata 'cache' branch='default' space='s'>"


def test_the_demo_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Spec: demo() prints a tour and leaves nothing behind."""
    stratadb.demo()
    text = capsys.readouterr().out
    for title in ("Keys and values", "JSON documents", "Time travel", "Branches", "One commit"):
        assert title in text
