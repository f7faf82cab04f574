"""Checkpointed commits by number, branch and instant, held against a plain list."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.tables.support import FIRST, NO_LIMIT, PLENTY, START_US, checkpoint, put, write_commits

from strata_mcp.journal.io import OsIo
from strata_mcp.model import Commit
from strata_mcp.tables.compaction import compact
from strata_mcp.tables.tableset import TableSet
from strata_mcp.tables.timeline import Entry, Info

STEP = st.tuples(
    st.integers(1, 3),  # numbers the commit occupies
    st.integers(0, 2),  # microseconds since the one before
    st.sampled_from([0, 0, 4, 5]),
    st.sampled_from(["", "", "ann", "b\u00e9"]),
    st.sampled_from(["", "note"]),
)


def commits_of(steps: list[tuple[int, int, int, str, str]]) -> list[Commit]:
    """Commits with gaps between their numbers and instants that may stand still."""
    found = []
    timestamp, instant = FIRST, START_US
    for size, passed, branch, author, message in steps:
        instant += passed
        found.append(
            Commit(timestamp, timestamp + size - 1, instant, branch, [put(b"k", b"v")], author=author, message=message)
        )
        timestamp += size
    return found


def entry(found: list[Commit]) -> Entry | None:
    """The last of some commits as the timeline gives it."""
    return (found[-1].timestamp, found[-1].last, found[-1].committed_at_us) if found else None


def info(each: Commit) -> Info:
    """A commit as the timeline gives it."""
    return each.timestamp, each.last, each.committed_at_us, each.branch, each.author, each.message


@given(st.lists(STEP, min_size=1, max_size=15), st.integers(0, 15), st.booleans())
def test_commits_are_found_by_number_branch_and_instant(
    steps: list[tuple[int, int, int, str, str]], cut: int, is_compacted: bool
) -> None:
    """Ours: every question about commits is answered as a walk through the list would."""
    commits = commits_of(steps)
    with tempfile.TemporaryDirectory() as folder:
        db_path = Path(folder)
        for part in (commits[:cut], commits[cut:]):
            write_commits(db_path, part)
            checkpoint(db_path)
        if is_compacted:
            compact(db_path, OsIo())
        timeline = TableSet.open(db_path, PLENTY).timeline()
    numbers = [0, *range(FIRST, commits[-1].last + 2), NO_LIMIT]
    assert timeline.rows == len(commits)
    for number in numbers:
        exact = [each for each in commits if each.timestamp == number]
        assert timeline.info(number) == (info(exact[0]) if exact else None)
        assert timeline.committed_at_us(number) == (exact[0].committed_at_us if exact else None)
    for uid in (0, 4, 5, 6):
        own = [each for each in commits if each.branch == uid]
        assert timeline.first(uid) == entry(own[:1])
        for upto in numbers:
            assert timeline.newest(uid, upto) == entry([each for each in own if each.timestamp <= upto])
            below = [info(each) for each in reversed(own) if each.timestamp < upto]
            assert timeline.log(uid, upto, 0, 100) == below
            assert timeline.log(uid, upto, FIRST + 3, 2) == [each for each in below if each[0] >= FIRST + 3][:2]
            for at_us in range(START_US - 1, commits[-1].committed_at_us + 2):
                within = [each for each in own if each.committed_at_us <= at_us and each.timestamp <= upto]
                assert timeline.at_time(uid, at_us, upto) == entry(within)
        assert timeline.log(uid, None, 0, 3) == [info(each) for each in reversed(own)][:3]
