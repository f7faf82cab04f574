"""
How costs grow with the size of the database: keys, branches side by side, branches in a chain.

    python benchmarks/growth.py [--json FILE] [--scale X]

Prints microseconds per operation at each size and the ratio of the largest to the smallest size.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stratadb

KEYS = (1_000, 10_000, 100_000, 1_000_000)
BRANCHES = (1, 100, 2_000, 20_000)
CHAIN = (1, 100, 2_000)
REPEATS = 200
CHANGES = 100


def median_us(call: Callable[[int], Any], repeats: int = REPEATS) -> float:
    """Median microseconds of one call."""
    times = []
    for number in range(repeats):
        before = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - before) * 1e6)
    return round(statistics.median(times), 2)


def operations(db: Any, total: int, label: str) -> dict[str, float]:
    """Cost of the basic operations in the database as it stands."""
    figures = {
        "put": median_us(lambda number: db.kv.put(f"k{number * 7919 % total:07d}", b"new value")),
        "get": median_us(lambda number: db.kv.get(f"k{number * 104729 % total:07d}")),
    }
    forks: list[str] = []

    def fork(number: int) -> None:
        forks.append(f"{label}-{number}")
        db.branches.fork("default", forks[-1])

    figures["fork"] = median_us(fork, 20)

    def change(number: int) -> None:
        view = db.at(branch=forks[number])
        for offset in range(CHANGES):
            view.kv.put(f"k{(number * CHANGES + offset) % total:07d}", f"by {label} {number}")

    for number in range(10):
        change(number)
    figures["get on fork"] = median_us(lambda number: db.at(branch=forks[0]).kv.get(f"k{number % total:07d}"))
    figures["diff"] = median_us(lambda number: db.branches.diff("default", forks[number]), 10)
    figures["merge"] = median_us(lambda number: db.branches.merge(forks[number], "default", strategy="source_wins"), 10)
    return figures


def by_keys(folder: Path, scale: float) -> dict[int, dict[str, float]]:
    """One database that grows to each number of keys."""
    found = {}
    with stratadb.open(folder / "keys") as db:
        filled = 0
        for size in KEYS:
            total = max(500, int(size * scale))
            for start in range(filled, total, 1000):
                db.kv.put_many([(f"k{key:07d}", f"value {key}") for key in range(start, min(start + 1000, total))])
            filled = total
            found[total] = operations(db, total, f"n{size}")
    return found


def by_branches(folder: Path, scale: float, *, chained: bool) -> dict[int, dict[str, float]]:
    """One database of 1000 keys whose branches grow in number, or in depth."""
    found = {}
    with stratadb.open(folder / ("chain" if chained else "fan")) as db:
        db.kv.put_many([(f"k{key:07d}", f"value {key}") for key in range(1000)])
        made = 0
        source = "default"
        for size in CHAIN if chained else BRANCHES:
            total = max(1, int(size * scale))
            for number in range(made, total):
                name = f"b{number}"
                db.branches.fork(source, name)
                db.at(branch=name).kv.put(f"own{number}", b"1")
                source = name if chained else "default"
            made = max(made, total)
            found[total] = operations(db, 1000, f"m{size}")
            deep = db.at(branch=f"b{made - 1}")
            found[total]["get on newest branch"] = median_us(lambda number, deep=deep: deep.kv.get(f"k{number:07d}"))
    start = time.perf_counter()
    with stratadb.open(folder / ("chain" if chained else "fan")) as db:
        db.kv.get("k0000001")
        found[total]["reopen and get"] = round((time.perf_counter() - start) * 1e6, 1)
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Show how costs grow with keys and branches.")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {
            "keys": by_keys(folder, given.scale),
            "branches": by_branches(folder, given.scale, chained=False),
            "chain": by_branches(folder, given.scale, chained=True),
        }
    for kind, sizes in results.items():
        columns = list(sizes)
        print(f"{kind:22}" + "".join(f"{size:>12}" for size in columns) + f"{'last/first':>12}")
        for operation in sizes[columns[0]]:
            row = [sizes[size].get(operation, float("nan")) for size in columns]
            print(f"  {operation:20}" + "".join(f"{value:12.2f}" for value in row) + f"{row[-1] / row[0]:12.2f}")
    if given.json is not None:
        given.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
