"""
One workload, driven only through the `stratadb` API that both products have.

Runs in a process of its own: `python workload.py FOLDER SCALE SEED` prints one JSON object of figures.
Times are seconds per operation (or per whole operation where it is done once).
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import stratadb

WORDS = "agent memory branch merge plan result error retry token budget note user order price".split()  # noqa: SIM905 - shorter


def text(rng: random.Random, size: int) -> str:
    """Words and numbers, about as compressible as what agents store."""
    parts: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(WORDS) if rng.random() < 0.7 else f"{rng.getrandbits(40):x}"
        parts.append(word)
        length += len(word) + 1
    return " ".join(parts)


def document(rng: random.Random, number: int) -> dict[str, Any]:
    """A small record of an agent's knowledge."""
    return {
        "id": number,
        "name": text(rng, 20),
        "tags": rng.sample(WORDS, 3),
        "score": rng.random(),
        "meta": {"source": text(rng, 12), "seen": rng.randrange(1000)},
    }


def each(name: str, items: Sequence[Any], call: Callable[[Any], Any], figures: dict[str, float]) -> None:
    """Time many calls; the figure is the median of 20 slices, so that a pause elsewhere does not count."""
    size = max(1, len(items) // 20)
    slices = []
    for start in range(0, len(items), size):
        part = items[start : start + size]
        before = time.perf_counter()
        for item in part:
            call(item)
        slices.append((time.perf_counter() - before) / len(part))
    figures[name] = statistics.median(slices)


def once(name: str, call: Callable[[], Any], figures: dict[str, float]) -> Any:
    """Time one call."""
    before = time.perf_counter()
    result = call()
    figures[name] = time.perf_counter() - before
    return result


def disk_bytes(folder: str) -> int:
    """Bytes the folder occupies on disk."""
    return sum(
        os.lstat(os.path.join(place, name)).st_blocks * 512 for place, _, names in os.walk(folder) for name in names
    )


def run(folder: str, scale: float, seed: int) -> dict[str, float]:
    """Do everything once in a fresh folder."""
    rng = random.Random(seed)
    figures: dict[str, float] = {}
    path = os.path.join(folder, "db")
    singles = [(f"user:{number:06d}", text(rng, rng.randrange(60, 400))) for number in range(int(20_000 * scale))]
    documents = [(f"doc:{number:05d}", document(rng, number)) for number in range(int(10_000 * scale))]
    many = [(f"bulk:{number:06d}", text(rng, rng.randrange(60, 400))) for number in range(int(20_000 * scale))]
    order = list(range(len(singles)))
    rng.shuffle(order)

    db = once("open", lambda: stratadb.open(path), figures)
    each("kv.put", singles, lambda pair: db.kv.put(pair[0], pair[1]), figures)
    each("kv.get", order, lambda number: db.kv.get(singles[number][0]), figures)
    each("kv.miss", order, lambda number: db.kv.get(f"none:{number}"), figures)
    each("json.set", documents, lambda pair: db.json.set(pair[0], pair[1]), figures)
    each("json.get", documents, lambda pair: db.json.get(pair[0]), figures)
    each("json.set path", documents, lambda pair: db.json.set(pair[0], "$.meta.seen", 7), figures)
    batches = [many[start : start + 500] for start in range(0, len(many), 500)]
    once("kv.put_many 20k", lambda: [db.kv.put_many(batch) for batch in batches], figures)
    found = once("kv.keys of 20k", lambda: db.kv.keys("bulk:").all(), figures)
    assert len(found) == len(many)
    for number in range(5):
        once("fork", lambda number=number: db.branches.fork("default", f"try-{number}"), figures)
    branch = db.at(branch="try-0")
    for key, value in singles[:200]:
        branch.kv.put(key, value + "!")
    changed = once("diff 200 changes", lambda: db.branches.diff("default", "try-0"), figures)
    assert sum(len(group.modified) for group in changed.spaces) == min(200, len(singles))
    once("merge 200 changes", lambda: db.branches.merge("try-0", "default"), figures)
    once("close", db.close, figures)
    figures["disk bytes"] = disk_bytes(path)

    def reopen() -> Any:
        again = stratadb.open(path)
        assert again.kv.get(singles[0][0]) == (singles[0][1] + "!").encode()
        assert again.json.get(documents[-1][0], "$.meta.seen") == 7
        return again

    once("reopen", reopen, figures).close()
    figures["peak memory bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    always = stratadb.open(os.path.join(folder, "always"), durability="always")
    each("kv.put always", singles[: int(1000 * scale) or 20], lambda pair: always.kv.put(pair[0], pair[1]), figures)
    always.close()
    return figures


if __name__ == "__main__":
    json.dump(run(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])), sys.stdout)
