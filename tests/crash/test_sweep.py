"""The process dies at every step of a scripted life: what was acknowledged is there, nothing is half there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from strata_mcp.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("script.py")
KEPT_IN_CI = 24


def live(folder: Path, moment: int) -> tuple[int, list[str]]:
    """Run the script; (exit status, acknowledged steps)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(moment)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode, done.stdout.splitlines()


def check(folder: Path, said: list[str]) -> None:
    """Open what the dead process left and hold it against what it said."""
    engine = Engine.open(folder)
    try:
        assert engine.store.damage is None
        check_default(engine, said)
        if "fork" in said:
            check_fork(engine, said)
        engine.kv.put("default", "default", b"after", b"works")
        assert engine.kv.get_value("default", "default", b"after") == b"works"
        assert engine.admin.health().status == "healthy"
    finally:
        engine.close(checkpoint=False)


def check_default(engine: Engine, said: list[str]) -> None:
    """Single writes are there in order; the merge is whole or not there."""
    read = engine.kv.get_value
    for number in range(1, 4):
        value = read("default", "default", b"k%d" % number)
        if f"kv default {number}" in said:
            assert value == b"v"
        elif value is not None:
            assert all(read("default", "default", b"k%d" % earlier) == b"v" for earlier in range(1, number))
    document = engine.json.get("default", "default", "doc", "$")
    if "json 1" in said:
        assert document is not None
    merged = [read("default", "default", b"b%d" % number) for number in range(3)]
    merged.append(read("default", "notes", b"t"))
    expected = document is not None and document.value == {"a": 1, "b": 2}
    assert set(merged) == ({b"v"} if expected else {None}), "a merge is whole or not there"
    if "merge" in said:
        assert expected
    if "delete" in said:
        assert read("default", "default", b"k0") is None


def check_fork(engine: Engine, said: list[str]) -> None:
    """A batch and a transaction over two families are whole or not there."""
    read = engine.kv.get_value
    batch = {read("f", "default", b"b%d" % number) for number in range(3)}
    assert batch in ({b"v"}, {None})
    if "batch" in said:
        assert batch == {b"v"}
    document = engine.json.get("f", "default", "doc", "$.b")
    both = (read("f", "notes", b"t"), document is not None)
    assert both in ((b"v", True), (None, False))
    if "transaction" in said:
        assert both == (b"v", True)


@pytest.mark.serial
@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_at_any_step(
    tmp_path: Path, sweep: Callable[[Sequence[int], int], Sequence[int]]
) -> None:
    """Killed at any I/O step, the database opens, holds every acknowledged write, and takes new ones."""
    status, said = live(tmp_path / "whole", 0)
    assert status == 0
    check(tmp_path / "whole", said)
    moments = int(said[-1].split()[1])
    assert moments > 50
    for moment in sweep(range(1, moments + 1), KEPT_IN_CI):
        folder = tmp_path / f"killed-{moment}"
        status, said = live(folder, moment)
        assert status == -9
        check(folder, said)
