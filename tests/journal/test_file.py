"""The embedded journal with several handles on one folder: following, segments, dropping, disk footprint."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.journal.doubles import CountingIo
from tests.journal.support import commit, numbers, open_level, write

from strata_mcp.errors import StrataError
from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.port import JournalTruncated
from strata_mcp.model import Commit, Durability

STANDARD = Durability.STANDARD
SMALL = 300


def logs(path: Path) -> list[Path]:
    """Segment files, oldest first."""
    return sorted(path.glob("*.log"))


def test_other_handles_see_each_commit(tmp_path: Path) -> None:
    """Ours: whoever has the folder open is stale after a commit and finds it with one read."""
    first = open_level(tmp_path)
    second = open_level(tmp_path)
    write(first, 3)
    assert second.stale()
    assert second.read() == [commit(3)]
    assert not second.stale()
    write(second, 4)
    assert first.read() == [commit(4)]
    assert (first.head, second.head) == (4, 4)


def test_handle_behind_others_may_not_append(tmp_path: Path) -> None:
    """Ours: a handle that has not read the newest commit is refused, so nothing can be overwritten."""
    first = open_level(tmp_path)
    second = open_level(tmp_path)
    write(first, 3)
    with pytest.raises(StrataError):
        write(second, 3)
    assert numbers(second.read()) == [3]
    write(second, 4)
    assert first.read() == [commit(4)]


def test_reopening_finds_every_commit(tmp_path: Path) -> None:
    """Ours: commits survive closing, over several segments, in order."""
    journal = open_level(tmp_path, segment_bytes=SMALL)
    for number in range(3, 40):
        write(journal, number)
    journal.close()
    assert len(logs(tmp_path)) > 3
    reopened = FileJournal(tmp_path, STANDARD)
    assert numbers(reopened.read()) == list(range(3, 40))
    assert reopened.head == 39


def test_start_after_skips_what_the_tables_have(tmp_path: Path) -> None:
    """Ours: a handle positioned behind a checkpoint reads only what came later."""
    journal = open_level(tmp_path, segment_bytes=SMALL)
    for number in range(3, 40):
        write(journal, number)
    assert numbers(FileJournal(tmp_path, STANDARD, start_after=20).read()) == list(range(21, 40))
    journal.seek(36)
    assert numbers(journal.read()) == [37, 38, 39]
    ahead = FileJournal(tmp_path, STANDARD, start_after=50)
    assert ahead.read() == []
    assert ahead.head == 50


def test_commit_after_lost_tail_continues_behind_the_tables(tmp_path: Path) -> None:
    """Ours: when the tables know later commits than the journal, new ones are numbered behind the tables."""
    journal = open_level(tmp_path, segment_bytes=SMALL)
    write(journal, 3)
    ahead = open_level(tmp_path, segment_bytes=SMALL, start_after=50)
    for number in range(51, 60):
        write(ahead, number)
    assert numbers(journal.read()) == list(range(51, 60))
    assert numbers(FileJournal(tmp_path, STANDARD, start_after=50).read()) == list(range(51, 60))


def test_followers_cross_segments_in_step(tmp_path: Path) -> None:
    """Ours: a reader that falls behind by several segments catches up, and one that keeps up stays level."""
    writer = open_level(tmp_path, segment_bytes=SMALL)
    close_reader = open_level(tmp_path)
    far_reader = open_level(tmp_path)
    for number in range(3, 40):
        write(writer, number)
        assert close_reader.read() == [commit(number)]
    assert numbers(far_reader.read()) == list(range(3, 40))


def test_reader_between_new_segment_and_first_commit_misses_nothing(tmp_path: Path) -> None:
    """Ours: a reader that looks exactly while the writer changes segments still notices the commit."""

    class Peeking(OsIo):
        def fallocate(self, fd: int, size_bytes: int) -> None:
            got.extend(reader.read())
            super().fallocate(fd, size_bytes)

    got: list[Commit] = []
    reader = open_level(tmp_path)
    writer = open_level(tmp_path, io=Peeking(), segment_bytes=SMALL)
    for number in range(3, 30):
        write(writer, number)
        assert reader.stale()
        got.extend(reader.read())
    assert numbers(got) == list(range(3, 30))


def test_large_commit_gets_a_segment_of_its_size(tmp_path: Path) -> None:
    """Ours: a commit larger than a segment is written whole and costs its own size."""
    journal = open_level(tmp_path, segment_bytes=SMALL)
    write(journal, 3)
    write(journal, 4, 5000)
    write(journal, 5)
    journal.close()
    sizes = [path.stat().st_size for path in logs(tmp_path)]
    assert len(sizes) == 3
    assert 5000 < sizes[1] < 5200
    assert [len(each.records[0][3] or b"") for each in FileJournal(tmp_path, STANDARD).read()] == [10, 5000, 10]


def test_closing_gives_reserved_space_back(tmp_path: Path) -> None:
    """Ours: while open a segment is reserved ahead; closed, the folder holds the bytes of the commits."""
    journal = open_level(tmp_path)
    write(journal, 3)
    assert logs(tmp_path)[0].stat().st_size == 4 * 1024 * 1024
    size = journal.size_bytes()
    journal.close()
    assert logs(tmp_path)[0].stat().st_size == size < 100


def test_space_stays_reserved_while_a_handle_is_open(tmp_path: Path) -> None:
    """Ours: closing one handle takes nothing from the others; the last one gives the space back."""
    first = open_level(tmp_path)
    second = open_level(tmp_path)
    write(first, 3)
    second.close()
    assert logs(tmp_path)[0].stat().st_size == 4 * 1024 * 1024
    first.close()
    assert logs(tmp_path)[0].stat().st_size < 100


def test_handle_goes_on_without_its_reserved_space(tmp_path: Path) -> None:
    """Ours: space cut off behind the tail does not disturb a handle that still writes."""
    first = open_level(tmp_path)
    write(first, 3)
    os.truncate(logs(tmp_path)[0], first.size_bytes())
    for number in range(4, 30):
        write(first, number)
    assert numbers(FileJournal(tmp_path, STANDARD).read()) == list(range(3, 30))


def test_truncate_drops_only_whole_covered_segments(tmp_path: Path) -> None:
    """Ours: a commit above `upto` stays readable; covered segments are gone from the disk."""
    journal = open_level(tmp_path, segment_bytes=SMALL)
    for number in range(3, 40):
        write(journal, number)
    before = len(logs(tmp_path))
    size = journal.size_bytes()
    journal.truncate(20)
    assert len(logs(tmp_path)) < before
    assert 3 < journal.base <= 20
    assert 0 < journal.size_bytes() < size
    assert journal.read() == []
    assert numbers(FileJournal(tmp_path, STANDARD, start_after=20).read()) == list(range(21, 40))
    write(journal, 40)
    journal.close()
    assert sum(path.stat().st_size for path in logs(tmp_path)) == journal.size_bytes()


def test_reader_left_behind_a_truncation_is_told(tmp_path: Path) -> None:
    """Ours: a handle whose next commits were dropped gets JournalTruncated and goes on after a seek."""
    writer = open_level(tmp_path, segment_bytes=SMALL)
    behind = open_level(tmp_path)
    level = open_level(tmp_path)
    for number in range(3, 40):
        write(writer, number)
        level.read()
    writer.truncate(39)
    assert behind.stale()
    with pytest.raises(JournalTruncated):
        behind.read()
    assert level.read() == []
    behind.seek(39)
    assert behind.read() == []
    writer.read()
    write(writer, 40)
    assert numbers(behind.read()) == numbers(level.read()) == [40]
    with pytest.raises(JournalTruncated):
        FileJournal(tmp_path, STANDARD).read()


def test_gap_without_a_checkpoint_is_damage(tmp_path: Path) -> None:
    """Ours: when even the newest checkpoint does not reach the journal's start, that is loss, not a loop."""
    writer = open_level(tmp_path)
    write(writer, 3)
    write(writer, 4)
    writer.truncate(4)
    lost = FileJournal(tmp_path, STANDARD)
    with pytest.raises(JournalTruncated):
        lost.read()
    lost.seek(0)
    with pytest.raises(StrataError) as refusal:
        lost.read()
    assert refusal.value.code == "data_loss.engine.journal"


def test_threads_share_one_flush(tmp_path: Path) -> None:
    """Ours: in `always`, threads that wait together need fewer flushes than commits, and each is covered."""
    io = CountingIo()
    journal = open_level(tmp_path, Durability.ALWAYS, io=io)
    gate = threading.Barrier(4)
    io.calls.clear()

    def work() -> None:
        for _ in range(10):
            gate.wait(5)
            journal.acquire()
            journal.append(commit(journal.head + 1))
            journal.release()
            gate.wait(5)
            journal.sync()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert journal.head == 42
    assert io.calls["pwrite"] == 40
    assert io.calls["fdatasync"] <= 20


def test_seek_between_append_and_sync_flushes_the_commit(tmp_path: Path) -> None:
    """Ours: in `always`, a thread that moves the handle away before another's sync puts its commit on disk."""
    io = CountingIo()
    journal = open_level(tmp_path, Durability.ALWAYS, io=io)
    journal.acquire()
    journal.append(commit(3))
    journal.release()
    io.calls.clear()
    journal.seek(100)
    assert io.calls["fdatasync"] == 1
    journal.sync()
    assert not journal.read_only


def test_one_commit_is_one_write(tmp_path: Path) -> None:
    """Ours: however long the history, a commit costs one write and, in `always`, one flush."""
    io = CountingIo()
    journal = open_level(tmp_path, Durability.ALWAYS, io=io)
    write(journal, 3)
    for number in range(4, 200):
        io.calls.clear()
        write(journal, number)
        assert io.calls == {"pwrite": 1, "fdatasync": 1}


def test_standard_never_waits_for_the_disk(tmp_path: Path) -> None:
    """Ours: in `standard` no commit, new segment or truncation flushes anything."""
    io = CountingIo()
    journal = open_level(tmp_path, io=io, segment_bytes=SMALL)
    for number in range(3, 60):
        write(journal, number)
    journal.truncate(30)
    journal.close()
    assert not {"fsync", "fdatasync", "fsync_dir"} & set(io.calls)


def test_new_segment_is_durable_before_it_is_used(tmp_path: Path) -> None:
    """Ours: in `always` a new segment costs a flush of the old one, of its space and of its name."""
    io = CountingIo()
    journal = open_level(tmp_path, Durability.ALWAYS, io=io, segment_bytes=SMALL)
    rolled = 0
    for number in range(3, 30):
        io.calls.clear()
        write(journal, number)
        if "ftruncate" in io.calls:
            rolled += 1
            assert io.calls["fsync_dir"] == io.calls["fsync"] == 1
            assert io.calls["fdatasync"] == 2
    assert rolled > 3
