"""Checkpoints and compactions that end in the middle: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.tables.support import (
    FIRST,
    KV,
    PLENTY,
    BreakingIo,
    Dies,
    checkpoint,
    commit,
    everything,
    open_journal,
    put,
    write_commits,
)

from strata_mcp.errors import StrataError
from strata_mcp.model import Commit, Family
from strata_mcp.tables.compaction import compact
from strata_mcp.tables.state import read_state
from strata_mcp.tables.tableset import TableSet
from strata_mcp.tables.verify import verify

BEFORE = [commit(FIRST + n, [put(b"old", b"%d" % n), put(b"o%d" % n, b"x")]) for n in range(3)]
AFTER = [
    commit(FIRST + 3, [put(b"old", None), put(b"new", b"1")]),
    commit(FIRST + 4, [(int(Family.SPACE), "", b"s", b"", 0), put(b"new", b"2", space="s")]),
]


def content_of(commits: Sequence[Commit]) -> dict[bytes, list[tuple[int, bytes | None]]]:
    """Versions per key of the default space."""
    found: dict[bytes, list[tuple[int, bytes | None]]] = {}
    for each in commits:
        for family, space, key, value, _ in each.records:
            if (family, space) == (KV, "default"):
                found.setdefault(key, []).append((each.timestamp, value))
    return dict(sorted(found.items()))


def check_nothing_is_lost(db_path: Path) -> None:
    """What the tables hold and what the journal still replays are all commits, each once."""
    tables = TableSet.open(db_path, PLENTY)
    journal = open_journal(db_path, start_after=tables.head)
    replayed = journal.read()
    journal.close()
    known = [each for each in [*BEFORE, *AFTER] if each.timestamp <= tables.checkpoint_ts]
    assert [*known, *replayed] == [*BEFORE, *AFTER]
    assert everything(db_path) == content_of(known)
    assert tables.timeline().rows == len(known)
    assert verify(db_path) == []


def check_complete(db_path: Path) -> None:
    """Everything is in the tables once, for any reader, and no unknown file is left."""
    import lance

    assert everything(db_path) == content_of([*BEFORE, *AFTER])
    assert lance.dataset(db_path / "tables" / "kv.lance").count_rows() == 9
    assert lance.dataset(db_path / "tables" / "commits.lance").count_rows() == 5
    state = read_state(db_path)
    data = {f"{path.parent.parent.name}/data/{path.name}" for path in (db_path / "tables").glob("*.lance/data/*")}
    assert data == {path for path in state.paths().union(state.retired) if "/data/" in path}


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A database with one checkpoint and commits behind it."""
    path = tmp_path / "template"
    write_commits(path, BEFORE)
    checkpoint(path)
    write_commits(path, AFTER)
    return path


def copy_of(template: Path, name: str) -> Path:
    """A copy to break."""
    path = template.parent / name
    shutil.copytree(template, path)
    return path


def test_a_checkpoint_may_die_at_any_call(template: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]) -> None:
    """Ours: wherever a checkpoint ends, every commit is found once, and the next one completes the work."""
    counting = BreakingIo()
    checkpoint(copy_of(template, "counted"), counting)
    assert counting.calls.count("step") == 6
    for n in sweep(range(1, len(counting.calls) + 1), 40):
        path = copy_of(template, f"at{n}")
        with pytest.raises(Dies):
            checkpoint(path, BreakingIo(n))
        check_nothing_is_lost(path)
        checkpoint(path)
        check_complete(path)


def test_a_first_checkpoint_may_die_at_any_call(
    tmp_path: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]
) -> None:
    """Ours: the same while the tables are being made."""
    template = tmp_path / "template"
    write_commits(template, [*BEFORE, *AFTER])
    counting = BreakingIo()
    checkpoint(copy_of(template, "counted"), counting)
    for n in sweep(range(1, len(counting.calls) + 1), 20):
        path = copy_of(template, f"at{n}")
        with pytest.raises(Dies):
            checkpoint(path, BreakingIo(n))
        check_nothing_is_lost(path)
        checkpoint(path)
        check_complete(path)


def test_a_disk_that_refuses_makes_a_checkpoint_fail(
    template: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]
) -> None:
    """Ours: a failed call is a typed error or does not matter; nothing is lost and the next run succeeds."""
    counting = BreakingIo()
    checkpoint(copy_of(template, "counted"), counting)
    refusals: list[str] = []
    for n in sweep(range(1, len(counting.calls) + 1), 20):
        path = copy_of(template, f"at{n}")
        try:
            checkpoint(path, BreakingIo(n, OSError(28, "No space left on device")))
        except StrataError as error:
            refusals.append(error.code)
        check_nothing_is_lost(path)
        checkpoint(path)
        check_complete(path)
    assert len(refusals) > 10
    assert set(refusals) <= {"io.engine.checkpoint", "io.engine.journal_write"}


def test_a_compaction_may_die_at_any_call(template: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]) -> None:
    """Ours: wherever a compaction ends, the rows are the same and the next one completes the work."""
    checkpoint(template)
    counting = BreakingIo()
    compact(copy_of(template, "counted"), counting)
    for n in sweep(range(1, len(counting.calls) + 1), 25):
        path = copy_of(template, f"at{n}")
        with pytest.raises(Dies):
            compact(path, BreakingIo(n))
        check_nothing_is_lost(path)
        compact(path, BreakingIo())
        check_complete(path)


KILLED = """
import os, sys
from pathlib import Path
from tests.tables.support import BreakingIo, checkpoint

class Killed(BreakingIo):
    def _counting(self, name, call):
        def counted(*arguments):
            self.calls.append(name)
            if len(self.calls) == self.at:
                os.kill(os.getpid(), 9)
            return call(*arguments)
        return counted

checkpoint(Path(sys.argv[1]), Killed(int(sys.argv[2])))
"""


@pytest.mark.serial
def test_a_killed_checkpoint_loses_nothing(
    template: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]
) -> None:
    """Ours: the same when the process is killed outright."""
    root = Path(__file__).resolve().parents[2]
    for n in (2, 9, 18, 27, 36):
        path = copy_of(template, f"at{n}")
        command = [sys.executable, "-c", KILLED, str(path), str(n)]
        ended = subprocess.run(
            command, cwd=root, env={**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}, timeout=60, check=False
        )
        assert ended.returncode == -9
        check_nothing_is_lost(path)
        checkpoint(path)
        check_complete(path)
