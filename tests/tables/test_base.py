"""Reading checkpointed rows by key, by branch and in order, held against plain dictionaries."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.support import FIRST, KV, NO_LIMIT, PLENTY, checkpoint, commit, everything, put, write_commits

from strata_mcp.journal.io import OsIo
from strata_mcp.model import FRESH_HEAD, Commit, Family
from strata_mcp.tables.base import SAMPLES_MAX, BaseTable
from strata_mcp.tables.compaction import compact
from strata_mcp.tables.tableset import TableSet

KEYS = st.sampled_from([b"", b"a", b"a\x00", b"a\x00b", b"b", b"ba", b"\xff", b"\xff\xff", b"k" * 40])
SPACES = st.sampled_from(["", "default", "a", "Z", "\u00e9", "\U0001f600", "\uffff"])
VALUES = st.one_of(st.none(), st.binary(max_size=12))
RECORDS = st.lists(st.tuples(st.just(KV), SPACES, KEYS, VALUES, st.sampled_from([0, 0, 1, 1 << 50])), max_size=5)
COMMITS = st.lists(st.tuples(st.sampled_from([0, 0, 7, 9]), RECORDS), min_size=1, max_size=12)

Model = dict[tuple[str, bytes], dict[tuple[int, int], tuple[int, bytes | None, int]]]


def model_of(commits: list[Commit]) -> Model:
    """Versions per (space, key) by (branch uid, timestamp)."""
    found: Model = {}
    for each in commits:
        for _, space, key, value, extra in each.records:
            found.setdefault((space, key), {})[each.branch, each.timestamp] = (each.timestamp, value, extra)
    return found


def check_key(base: BaseTable, model: Model, space: str, key: bytes, limits: list[int]) -> None:
    """Compare everything that is asked about one key."""
    versions = model.get((space, key), {})
    assert base.writers(space, key) == sorted({uid for uid, _ in versions})
    for uid in (0, 7, 9, 11):
        for upto in limits:
            own = [row for (owner, ts), row in sorted(versions.items(), reverse=True) if owner == uid and ts <= upto]
            assert base.history(space, key, uid, upto) == own
            assert base.newest(space, key, uid, upto) == (own[0] if own else None)


def check_scan(base: BaseTable, model: Model, space: str, start: bytes) -> None:
    """Compare the keys of a space from one on, with all their versions."""
    expected = [
        (key, [(uid, ts, row) for (uid, ts), row in sorted(versions.items())])
        for (owner, key), versions in sorted(model.items())
        if owner == space and key >= start
    ]
    found = [
        (key, [(uid, ts, base.row(row)) for uid, ts, row in versions]) for key, versions in base.scan(space, start)
    ]
    assert found == expected
    for _, versions in base.scan(space, start):
        for _, _, row in versions:
            assert base.deleted(row) == (base.row(row)[1] is None)


@given(content=COMMITS, cuts=st.sets(st.integers(0, 12), max_size=3), is_compacted=st.booleans())
def test_reads_agree_with_a_dictionary(
    content: list[tuple[int, list[object]]], cuts: set[int], is_compacted: bool
) -> None:
    """Ours: any commits, checkpointed in any pieces, read back as a dictionary of their rows would."""
    commits = [commit(FIRST + n, records, branch) for n, (branch, records) in enumerate(content)]  # type: ignore[arg-type]
    limits = [0, FIRST, FIRST + len(commits) // 2, NO_LIMIT]
    with tempfile.TemporaryDirectory() as folder:
        db_path = Path(folder)
        for n, each in enumerate(commits):
            write_commits(db_path, [each])
            if n in cuts:
                checkpoint(db_path)
        checkpoint(db_path)
        if is_compacted:
            compact(db_path, OsIo())
        base = TableSet.open(db_path, PLENTY).base(KV)
        model = model_of(commits)
        assert base.rows == sum(map(len, model.values()))
        for space in ("", "default", "a", "Z", "\u00e9", "\U0001f600", "\uffff", "unknown"):
            for key in (b"", b"a", b"a\x00", b"a\x00b", b"b", b"ba", b"\xff", b"\xff\xff", b"k" * 40):
                check_key(base, model, space, key, limits)
            for start in (b"", b"a\x00a", b"\xff", b"\xff\xff\xff"):
                check_scan(base, model, space, start)
        for uid in (0, 7, 9, 11):
            for after in limits:
                for upto in limits:
                    expected = {
                        name
                        for name, versions in model.items()
                        for own, ts in versions
                        if own == uid and after < ts <= upto
                    }
                    assert base.touched(uid, after, upto) == sorted(expected)


def test_a_table_of_many_keys_finds_each(tmp_path: Path, rng: random.Random) -> None:
    """Ours: lookups and scans hold in a table with more keys than are kept as samples."""
    count = SAMPLES_MAX * 2 + 17
    keys = [b"key:%07d" % (2 * n) for n in range(count)]
    shuffled = rng.sample(keys, count)
    write_commits(tmp_path, [commit(FIRST, [put(key, key[4:]) for key in shuffled])])
    checkpoint(tmp_path)
    base = TableSet.open(tmp_path, PLENTY).base(KV)
    assert [key for key, _ in base.scan("default", b"")] == keys
    for n in [0, 1, count - 1, *(rng.randrange(count) for _ in range(300))]:
        assert base.newest("default", keys[n], 0, NO_LIMIT) == (FIRST, keys[n][4:], 0)
        between = b"key:%07d" % (2 * n + 1)
        assert base.newest("default", between, 0, NO_LIMIT) is None
        assert next((key for key, _ in base.scan("default", between)), None) == (keys[n + 1] if n + 1 < count else None)
    assert base.newest("default", b"", 0, NO_LIMIT) is None
    assert base.newest("default", b"zzz", 0, NO_LIMIT) is None


def test_families_of_one_table_are_kept_apart(tmp_path: Path) -> None:
    """Ours: rows of the catalogue families share a table and are read one family at a time."""
    records = [
        put(b"same", b'{"f":"space"}', family=Family.SPACE, space=""),
        put(b"same", b'{"f":"tag"}', family=Family.TAG, space=""),
        put(b"empty", b"", family=Family.SPACE, space=""),
        put(b"gone", None, family=Family.TAG, space=""),
    ]
    write_commits(tmp_path, [commit(FIRST, records, branch=5)])
    checkpoint(tmp_path)
    tables = TableSet.open(tmp_path, PLENTY)
    assert tables.base(Family.SPACE).newest("", b"same", 5, NO_LIMIT) == (FIRST, b'{"f":"space"}', 0)
    assert tables.base(Family.SPACE).newest("", b"empty", 5, NO_LIMIT) == (FIRST, b"", 0)
    assert tables.base(Family.TAG).newest("", b"same", -1, NO_LIMIT) == (FIRST, b'{"f":"tag"}', 0)
    assert tables.base(Family.TAG).newest("", b"gone", -1, NO_LIMIT) == (FIRST, None, 0)
    assert tables.base(Family.TAG).newest("", b"empty", -1, NO_LIMIT) is None
    assert tables.base(Family.MERGE).rows == 0
    assert tables.base(Family.KV).rows == 0


def test_documents_come_back_as_bytes_with_their_version(tmp_path: Path) -> None:
    """Ours: a JSON row keeps its text byte for byte, and its document version."""
    text = '{"a":"\u00e9\U0001f600","n":[1,2.50]}'.encode()
    write_commits(
        tmp_path, [commit(FIRST, [(int(Family.JSON), "s", b"id", text, 41), (int(Family.JSON), "s", b"x", None, 2)])]
    )
    checkpoint(tmp_path)
    base = TableSet.open(tmp_path, PLENTY).base(Family.JSON)
    assert base.newest("s", b"id", 0, NO_LIMIT) == (FIRST, text, 41)
    assert base.newest("s", b"x", 0, NO_LIMIT) == (FIRST, None, 2)


def test_the_last_write_of_a_key_in_one_commit_counts(tmp_path: Path) -> None:
    """Ours: a key written twice in one commit has one version, the later one."""
    write_commits(tmp_path, [commit(FIRST, [put(b"k", b"1"), put(b"j", b"x"), put(b"k", b"2")])])
    checkpoint(tmp_path)
    assert everything(tmp_path) == {b"j": [(FIRST, b"x")], b"k": [(FIRST, b"2")]}


def test_an_empty_database_has_empty_tables(tmp_path: Path) -> None:
    """Ours: before the first checkpoint every table is there and has no rows."""
    tables = TableSet.open(tmp_path, PLENTY)
    base = tables.base(KV)
    assert (tables.checkpoint_ts, tables.head, tables.committed_at_us) == (0, FRESH_HEAD, 0)
    assert (base.rows, base.writers("default", b"k"), base.history("default", b"k", 0, NO_LIMIT)) == (0, [], [])
    assert base.newest("default", b"k", 0, NO_LIMIT) is None
    assert list(base.scan("default", b"")) == []
    assert base.touched(0, 0, NO_LIMIT) == []
    assert tables.timeline().newest(0, NO_LIMIT) is None
    assert tables.damage() == []


def _scan_in_two(base: BaseTable) -> Iterator[bytes]:
    """Alternate between two scans of one table."""
    for (first, _), (second, _) in zip(base.scan("default", b""), base.scan("default", b""), strict=True):
        yield first
        yield second
        assert base.newest("default", first, 0, NO_LIMIT) is not None


def test_scans_of_one_table_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Ours: two scans and lookups between their steps see every key."""
    keys = [b"%03d" % n for n in range(200)]
    write_commits(tmp_path, [commit(FIRST, [put(key, key) for key in keys])])
    checkpoint(tmp_path)
    base = TableSet.open(tmp_path, PLENTY).base(KV)
    assert list(_scan_in_two(base)) == [key for key in keys for _ in range(2)]


LAZY = """
import sys
from pathlib import Path
from strata_mcp.tables.tableset import TableSet
from strata_mcp.tables.worker import CheckpointWorker
tables = TableSet.open(Path(sys.argv[1]), 1 << 20)
tables.base(2)
print(tables.base(2).rows, tables.checkpoint_ts, CheckpointWorker(Path(sys.argv[1])).is_busy)
print(sorted({"lance", "lancedb", "numpy", "pandas", "pyarrow"}.intersection(sys.modules)))
tables.base(1)
print(sorted({"lance", "lancedb", "numpy", "pyarrow"}.intersection(sys.modules)))
"""


@pytest.mark.serial
def test_nothing_heavy_loads_before_a_row_is_read(tmp_path: Path) -> None:
    """Ours: opening tables, and asking for one that has no rows, imports neither Lance nor Arrow nor numpy."""
    write_commits(tmp_path, [commit(FIRST, [put(b"k", b"v")])])
    checkpoint(tmp_path)
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", LAZY, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.splitlines() == [f"0 {FIRST} False", "[]", "['lance', 'numpy', 'pyarrow']"]
    assert ended.stderr == ""
