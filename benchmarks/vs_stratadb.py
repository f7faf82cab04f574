"""
Strata beside stratadb 1.2.7: the same workload, in turn, in one run; what counts are the ratios.

The peer gets an environment of its own beside this file. Usage:

    python benchmarks/vs_stratadb.py [--json FILE] [--rounds N] [--scale X] [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEER = "stratadb==1.2.7"
BUDGET = {
    "kv.put": 0.30,
    "kv.get": 0.12,
    "kv.miss": 0.12,
    "kv.put always": 0.75,
    "json.set": 0.40,
    "json.get": 0.35,
    "json.set path": 0.40,
    "kv.put_many 20k": 0.30,
    "kv.keys of 20k": 0.40,
    "fork": 0.005,
    "diff 200 changes": 0.02,
    "merge 200 changes": 0.02,
    "open": None,
    "close": None,
    "reopen": 0.10,
    "disk bytes": 0.60,
    "peak memory bytes": 0.80,
}


def peer_python() -> str:
    """An interpreter that has the peer, made on first use."""
    folder = HERE / ".peer-venv"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER], check=True)
        (folder / "ready").touch()
    return str(python)


def measure(python: str, scale: float, seed: int, source: str | None) -> dict[str, float]:
    """Run the workload once with one product."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if source is not None:
        environment["PYTHONPATH"] = source
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "workload.py"), folder, str(scale), str(seed)]
        done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return json.loads(done.stdout)


def compare(rounds: int, scale: float, seed: int, peer: str) -> list[dict[str, Any]]:
    """Rows of medians and of the median ratio, round by round."""
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for number in range(rounds):
        ours.append(measure(sys.executable, scale, seed + number, str(HERE.parent / "src")))
        theirs.append(measure(peer, scale, seed + number, None))
    rows = []
    for name, budget in BUDGET.items():
        ratio = statistics.median(mine[name] / other[name] for mine, other in zip(ours, theirs, strict=True))
        rows.append(
            {
                "name": name,
                "ours": statistics.median(figures[name] for figures in ours),
                "peer": statistics.median(figures[name] for figures in theirs),
                "ratio": round(ratio, 4),
                "budget": budget,
                "ok": budget is None or ratio <= budget,
            }
        )
    return rows


def main() -> int:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description="Compare Strata with stratadb 1.2.7 on the same workload.")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full workload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer-python", help="an interpreter that has the peer already")
    parser.add_argument("--check", action="store_true", help="fail when a budget is missed")
    given = parser.parse_args()
    rows = compare(given.rounds, given.scale, given.seed, given.peer_python or peer_python())
    print(f"{'':20} {'ours':>12} {'peer':>12} {'ratio':>8} {'budget':>8}")
    for row in rows:
        mark = "" if row["ok"] else "  over budget"
        budget = "" if row["budget"] is None else row["budget"]
        print(f"{row['name']:20} {row['ours']:12.6g} {row['peer']:12.6g} {row['ratio']:8.4f} {budget:>8}{mark}")
    if given.json is not None:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}
        settings = {"rounds": given.rounds, "scale": given.scale, "seed": given.seed, "durability": "standard"}
        given.json.write_text(json.dumps({"machine": machine, "settings": settings, "rows": rows}, indent=2) + "\n")
    return 1 if given.check and not all(row["ok"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
