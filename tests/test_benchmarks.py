"""The benchmarks run: a benchmark nobody can start proves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str) -> str:
    """Output of a benchmark script."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
    return done.stdout


def test_the_workload_runs_and_measures_every_budgeted_row(tmp_path: Path) -> None:
    """Our half of the comparison gives a positive figure for each row that has a budget (ours)."""
    figures = json.loads(run(str(ROOT / "benchmarks" / "workload.py"), str(tmp_path), "0.02", "1"))
    code = "import sys; sys.path.insert(0, sys.argv[1]); from vs_stratadb import BUDGET; print(*BUDGET, sep='|')"
    names = run("-c", code, str(ROOT / "benchmarks")).strip().split("|")
    assert set(names) == set(figures)
    assert all(value > 0 for value in figures.values())


def test_growth_runs_at_a_small_scale(tmp_path: Path) -> None:
    """The growth table has all three parts (ours)."""
    target = tmp_path / "growth.json"
    run(str(ROOT / "benchmarks" / "growth.py"), "--scale", "0.002", "--json", str(target))
    assert set(json.loads(target.read_text())) == {"keys", "branches", "chain"}
