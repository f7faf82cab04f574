"""Values that do not fit into the memory budget stay on disk and are read when asked for."""

from __future__ import annotations

import random
import threading
from pathlib import Path

from tests.tables.support import FIRST, KV, NO_LIMIT, PLENTY, checkpoint, commit, put, write_commits

from strata_mcp.tables.tableset import MEMORY_BUDGET_BYTES_MIN, TableSet
from strata_mcp.tables.values import PageCache


def written(db_path: Path, rng: random.Random) -> dict[bytes, bytes]:
    """Eight megabytes of values of very different sizes in four checkpoints, some deleted in between."""
    values = {b"%05d" % n: rng.randbytes(rng.choice([0, 1, 100, 5_000, 40_000])) for n in range(900)}
    keys = rng.sample(list(values), len(values))
    for n in range(3):
        write_commits(db_path, [commit(FIRST + n, [put(key, values[key]) for key in keys[n::3]])])
        checkpoint(db_path)
    write_commits(db_path, [commit(FIRST + 3, [put(key, None) for key in keys[::50]])])
    checkpoint(db_path)
    return values


def test_a_small_budget_reads_the_same_rows(db_path: Path, rng: random.Random) -> None:
    """Ours: under 1 MiB every value is found, in order and at random, and memory stays within the budget."""
    values = written(db_path, rng)
    tables = TableSet.open(db_path, MEMORY_BUDGET_BYTES_MIN)
    base, roomy = tables.base(KV), TableSet.open(db_path, PLENTY).base(KV)
    assert sum(map(len, values.values())) > 4 * MEMORY_BUDGET_BYTES_MIN
    for key in rng.sample(list(values), 200):
        assert base.history("default", key, 0, NO_LIMIT) == roomy.history("default", key, 0, NO_LIMIT)
        assert base.newest("default", key, 0, FIRST + 2) == roomy.newest("default", key, 0, FIRST + 2)
        assert tables.resident_bytes <= MEMORY_BUDGET_BYTES_MIN
    for (key, versions), (roomy_key, roomy_versions) in zip(
        base.scan("default", b""), roomy.scan("default", b""), strict=True
    ):
        assert (key, versions) == (roomy_key, roomy_versions)
        assert [base.row(row) for _, _, row in versions] == [roomy.row(row) for _, _, row in versions]
        assert tables.resident_bytes <= MEMORY_BUDGET_BYTES_MIN


def test_a_roomy_budget_keeps_values_in_memory(db_path: Path, rng: random.Random) -> None:
    """Ours: what fits is loaded once; reading it needs no file any more."""
    values = written(db_path, rng)
    tables = TableSet.open(db_path, PLENTY)
    base = tables.base(KV)
    assert tables.resident_bytes > sum(map(len, values.values()))
    (db_path / "tables").rename(db_path / "away")
    for key, value in values.items():
        assert base.newest("default", key, 0, FIRST + 2) is not None
        assert [row[1] for row in base.history("default", key, 0, FIRST + 2)] == [value]


def test_scanning_reads_each_page_once(db_path: Path, rng: random.Random) -> None:
    """Ours: neighbouring rows come from one read, so that a scan costs few of them."""
    write_commits(db_path, [commit(FIRST, [put(b"%05d" % n, rng.randbytes(1000)) for n in range(3000)])])
    checkpoint(db_path)
    base = TableSet.open(db_path, MEMORY_BUDGET_BYTES_MIN).base(KV)
    reads = []
    take = base._values._take  # type: ignore[attr-defined]
    base._values._take = lambda first, stop: reads.append(first) or take(first, stop)  # type: ignore[attr-defined]
    for _, versions in base.scan("default", b""):
        base.row(versions[0][2])
    assert len(reads) == len(set(reads)) <= 60


def test_threads_share_a_paged_table(db_path: Path, rng: random.Random) -> None:
    """Ours: several threads reading at random get their own rows."""
    values = written(db_path, rng)
    tables = TableSet.open(db_path, MEMORY_BUDGET_BYTES_MIN)
    wrong: list[bytes] = []
    orders = [rng.sample(list(values), 120) for _ in range(4)]

    def read(keys: list[bytes]) -> None:
        for key in keys:
            row = tables.base(KV).newest("default", key, 0, FIRST + 2)
            if row is None or row[1] != values[key]:
                wrong.append(key)

    threads = [threading.Thread(target=read, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_a_page_cache_drops_what_was_unused_longest() -> None:
    """Ours: the bound holds, use keeps a page, and a page larger than all is not kept."""
    cache = PageCache(lambda: 1000)
    cache.put(1, 0, [b"x" * 350])
    cache.put(1, 1, [b"y" * 350])
    assert cache.get(1, 0) == [b"x" * 350]
    cache.put(2, 0, [b"z" * 350])
    assert cache.get(1, 1) is None
    assert cache.get(1, 0) is not None
    assert cache.size_bytes == 800
    cache.put(3, 0, [b"w" * 2000])
    assert cache.get(3, 0) is None
    assert cache.size_bytes == 800
