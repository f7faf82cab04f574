"""Compare-and-set: a write that names the version it replaces has at most one winner."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
from tests.store.support import WAIT_S, delete, output_of, put, refused, start_python, value, version_of

from strata_mcp.engine import Engine
from strata_mcp.errors import ConflictError

ATTEMPTS = 60
PROCESS = """
import sys
from strata_mcp.engine import Engine
from strata_mcp.errors import ConflictError
engine = Engine.open(sys.argv[1])
for _ in range(int(sys.argv[2])):
    found = engine.kv.get("default", "default", b"n")
    try:
        engine.kv.put("default", "default", b"n", b"%d" % (int(found.value) + 1), if_version=found.version)
        print(found.version)
    except ConflictError:
        pass
engine.close(checkpoint=False)
"""


def test_zero_means_absent(engine: Engine) -> None:
    """Issue: if_version 0 creates a key and refuses to replace one; a deleted key is absent again."""
    version = version_of(engine.kv.put("default", "default", b"k", b"1", if_version=0))
    with refused("conflict.engine.version") as caught:
        engine.kv.put("default", "default", b"k", b"2", if_version=0)
    assert str(version) in caught.value.message
    delete(engine, "k")
    engine.kv.put("default", "default", b"k", b"3", if_version=0)
    assert value(engine, "k") == "3"


@pytest.mark.parametrize("offset", [-1, 1, 1000])
def test_only_the_exact_version_writes(engine: Engine, offset: int) -> None:
    """Issue: a stale or invented version changes nothing and commits nothing."""
    put(engine, "k", "1")
    version = put(engine, "k", "2")
    for write in (
        lambda: engine.kv.put("default", "default", b"k", b"3", if_version=version + offset),
        lambda: engine.kv.delete("default", "default", b"k", if_version=version + offset),
    ):
        with refused("conflict.engine.version"):
            write()
    assert value(engine, "k") == "2"
    assert len(engine.branches.log("default").items) == 2
    assert version_of(engine.kv.put("default", "default", b"k", b"3", if_version=version)) == version + 1
    engine.kv.delete("default", "default", b"k", if_version=version + 1)
    assert value(engine, "k") is None


def test_documents_compare_as_values_do(engine: Engine) -> None:
    """Issue: json set and delete take if_version, also below the root."""
    version = version_of(engine.json.set("default", "default", "d", "$.a", 1, if_version=0))
    with refused("conflict.engine.version"):
        engine.json.set("default", "default", "d", "$.b", 1, if_version=0)
    second = version_of(engine.json.set("default", "default", "d", "$.b", 1, if_version=version))
    with refused("conflict.engine.version"):
        engine.json.delete("default", "default", "d", "$", if_version=version)
    engine.json.delete("default", "default", "d", "$.a", if_version=second)
    found = engine.json.get("default", "default", "d", "$")
    assert found is not None
    assert found.value == {"b": 1}


def test_an_inherited_version_counts(engine: Engine) -> None:
    """Ours: on a fork the version to name is the one the fork shows, inherited or its own."""
    version = put(engine, "k", "1")
    engine.branches.fork("default", "side")
    put(engine, "k", "2")
    engine.kv.put("side", "default", b"k", b"3", if_version=version)
    assert [value(engine, "k", branch=branch) for branch in ("default", "side")] == ["2", "3"]


def test_one_winner_per_version_among_threads(engine: Engine) -> None:
    """Issue: counting up in 4 threads by compare-and-set loses no step."""
    start = put(engine, "n", "0")
    barrier = Barrier(4)
    won: list[int] = []

    def count_up() -> None:
        barrier.wait(WAIT_S)
        for _ in range(ATTEMPTS):
            found = engine.kv.get("default", "default", b"n")
            assert found is not None
            try:
                following = b"%d" % (int(found.value) + 1)
                engine.kv.put("default", "default", b"n", following, if_version=found.version)
                won.append(found.version)
            except ConflictError:
                continue

    threads = [Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert sorted(won) == list(range(start, start + len(won)))
    assert len(won) >= ATTEMPTS
    assert value(engine, "n") == str(len(won))


@pytest.mark.serial
def test_one_winner_per_version_among_processes(durable: Engine, db_path: Path) -> None:
    """Issue: counting up in 3 processes by compare-and-set loses no step."""
    start = put(durable, "n", "0")
    processes = [start_python(PROCESS, db_path, ATTEMPTS) for _ in range(3)]
    won = [int(line) for process in processes for line in output_of(process).split()]
    assert sorted(won) == list(range(start, start + len(won)))
    assert len(won) >= ATTEMPTS
    assert value(durable, "n") == str(len(won))
