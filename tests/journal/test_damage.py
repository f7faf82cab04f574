"""Damage: torn tails are cut and reported, holes before valid commits are reported and never skipped."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.journal.doubles import FaultIo
from tests.journal.support import commit, numbers, open_level, write

from strata_mcp.errors import StrataError
from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.frame import encode_frame
from strata_mcp.model import Durability

STANDARD = Durability.STANDARD
DAMAGE = "data_loss.engine.journal"


def filled(path: Path, last: int = 12, **options: int) -> Path:
    """A closed journal with commits 3 to `last`; returns its first segment."""
    journal = open_level(path, **options)
    for number in range(3, last + 1):
        write(journal, number)
    journal.close()
    return min(path.glob("*.log"))


def fill(journal: FileJournal) -> None:
    """Append until something stops it."""
    for number in range(3, 40):
        write(journal, number)


def forget_control(path: Path) -> None:
    """Lose the control page, as after a power cut."""
    (path / "control").unlink()


def frame_start(number: int) -> int:
    """Offset of a commit's frame in a journal that starts with commit 3."""
    return sum(len(encode_frame(commit(each))) for each in range(3, number))


def assert_damaged_at(path: Path, readable: list[int], offset: int) -> None:
    """The commits before the damage are readable, then it is reported, and appends are refused with it."""
    journal = FileJournal(path, STANDARD)
    if readable:
        assert numbers(journal.read()) == readable
        assert journal.stale()
    for _ in range(2):
        with pytest.raises(StrataError) as report:
            journal.read()
        assert report.value.code == DAMAGE
        assert str(report.value.details["offset"]) == str(offset)
        assert not journal.stale()
    assert journal.damage is not None
    journal.acquire()
    with pytest.raises(StrataError) as refusal:
        journal.append(commit(99))
    journal.release()
    assert refusal.value.code == DAMAGE
    journal.close()


@pytest.mark.parametrize("lose_control", [False, True], ids=["control", "no-control"])
def test_flipped_byte_in_the_middle_is_reported(tmp_path: Path, lose_control: bool) -> None:
    """Spec: the intact prefix reads, the damage names segment and offset, nothing behind it is taken."""
    segment = filled(tmp_path)
    for number in (3, 7, 11):
        intact = segment.read_bytes()
        content = bytearray(intact)
        content[frame_start(number) + 20] ^= 0x10
        segment.write_bytes(content)
        if lose_control:
            forget_control(tmp_path)
        assert_damaged_at(tmp_path, list(range(3, number)), frame_start(number))
        assert segment.read_bytes() == content
        segment.write_bytes(intact)


@pytest.mark.parametrize("value", [0, 1, 0x7F, 0xFF])
def test_damaged_length_is_reported(tmp_path: Path, value: int) -> None:
    """Ours: a length that points anywhere, or says zero, does not hide the commits behind it."""
    segment = filled(tmp_path)
    content = bytearray(segment.read_bytes())
    content[frame_start(6) : frame_start(6) + 4] = bytes([value] * 4)
    segment.write_bytes(content)
    assert_damaged_at(tmp_path, [3, 4, 5], frame_start(6))
    forget_control(tmp_path)
    assert_damaged_at(tmp_path, [3, 4, 5], frame_start(6))


def test_flipped_byte_in_the_last_commit_is_reported(tmp_path: Path) -> None:
    """Ours: the control page knows that the last commit was acknowledged, so losing it is no torn tail."""
    segment = filled(tmp_path)
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    assert_damaged_at(tmp_path, list(range(3, 12)), frame_start(12))


def test_zeroed_commits_are_reported(tmp_path: Path) -> None:
    """Ours: commits replaced by zeros are missing, even at the end."""
    segment = filled(tmp_path)
    content = segment.read_bytes()
    segment.write_bytes(content[: frame_start(9)])
    assert_damaged_at(tmp_path, list(range(3, 9)), frame_start(9))


def test_damage_in_an_earlier_segment_is_reported(tmp_path: Path) -> None:
    """Ours: a finished segment must be whole: neither changed, nor cut, nor gone."""
    filled(tmp_path, 30, segment_bytes=300)
    second = sorted(tmp_path.glob("*.log"))[1]
    first = int(second.stem)
    intact = second.read_bytes()
    offset = len(encode_frame(commit(first)))
    for content in (intact[:offset], intact[: offset + 5], intact[:offset] + bytes(20) + intact[offset + 20 :]):
        second.write_bytes(content)
        journal = FileJournal(tmp_path, STANDARD)
        assert numbers(journal.read()) == list(range(3, first + 1))
        with pytest.raises(StrataError, match="journal"):
            journal.read()
    second.unlink()
    journal = FileJournal(tmp_path, STANDARD)
    assert numbers(journal.read()) == list(range(3, first))
    with pytest.raises(StrataError) as report:
        journal.read()
    assert report.value.details["segment"] == second.name


@pytest.mark.parametrize("which", ["oldest", "all"])
def test_missing_segments_are_reported(tmp_path: Path, which: str) -> None:
    """Ours: a journal whose oldest segment, or all of them, were deleted does not look like a new one."""
    filled(tmp_path, 30, segment_bytes=300)
    segments = sorted(tmp_path.glob("*.log"))
    for segment in segments[:1] if which == "oldest" else segments:
        segment.unlink()
    for _ in range(2):
        journal = FileJournal(tmp_path, STANDARD)
        with pytest.raises(StrataError) as report:
            journal.read()
        assert report.value.code == DAMAGE
        journal.close()


def test_tail_torn_at_any_byte_is_cut(tmp_path: Path) -> None:
    """Spec: after a power cut an unfinished last frame goes, is counted, and every whole one stays."""
    segment = filled(tmp_path, 6)
    content = segment.read_bytes()
    start = frame_start(6)
    for cut in range(start, len(content) + 1):
        for padding in (0, 4096):
            segment.write_bytes(content[:cut] + bytes(padding))
            forget_control(tmp_path)
            journal = FileJournal(tmp_path, STANDARD)
            whole = [3, 4, 5, 6] if cut == len(content) else [3, 4, 5]
            assert numbers(journal.read()) == whole
            torn = 0 if cut == len(content) else len(content[start:cut].rstrip(b"\0"))
            assert journal.recovered_bytes == journal.torn_bytes == torn
            assert journal.damage is None
            write(journal, whole[-1] + 1)
            journal.close()
            assert numbers(FileJournal(tmp_path, STANDARD).read()) == [*whole, whole[-1] + 1]


def scramble(content: bytes) -> bytes:
    """Bytes that are nothing."""
    return bytes(byte ^ 0x5A for byte in content)


@pytest.mark.parametrize(
    "change",
    [lambda page: b"", lambda page: bytes(len(page)), scramble, lambda page: page[:100]],
    ids=["empty", "zeros", "noise", "short"],
)
def test_control_page_is_rebuilt(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    """Ours: the control page is a hint; without it, or with a wrong one, everything is still there."""
    filled(tmp_path, 30, segment_bytes=300)
    control = tmp_path / "control"
    control.write_bytes(change(control.read_bytes()))
    journal = FileJournal(tmp_path, STANDARD)
    assert numbers(journal.read()) == list(range(3, 31))
    size = sum(path.stat().st_size for path in tmp_path.glob("*.log"))
    assert journal.size_bytes() == size
    write(journal, 31)


def test_one_wrong_bit_in_the_control_page_is_noticed(tmp_path: Path) -> None:
    """Ours: whatever word of the page is wrong, no commit is lost and none is called damaged."""
    filled(tmp_path, 12, segment_bytes=300)
    control = tmp_path / "control"
    for bit in range(0, 11 * 64, 3):
        page = bytearray(control.read_bytes())
        page[bit // 8] ^= 1 << bit % 8
        control.write_bytes(page)
        journal = FileJournal(tmp_path, STANDARD)
        assert numbers(journal.read()) == list(range(3, 13))
        journal.close()


def test_copied_folder_does_not_trust_the_copied_page(tmp_path: Path) -> None:
    """Ours: in a copy made while others wrote, the page may be older than the segments; nothing is overwritten."""
    source, copy = tmp_path / "a", tmp_path / "b"
    source.mkdir()
    copy.mkdir()
    segment = filled(source, 5)
    page = (source / "control").read_bytes()
    filled_more = open_level(source)
    write(filled_more, 6)
    filled_more.close()
    (copy / "control").write_bytes(page)
    (copy / segment.name).write_bytes(segment.read_bytes())
    journal = FileJournal(copy, STANDARD)
    assert numbers(journal.read()) == [3, 4, 5, 6]
    write(journal, 7)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_failed_write_leaves_nothing_of_the_commit(tmp_path: Path, code: int) -> None:
    """Spec: a commit that cannot be written fails typed and whole, and the handle is read-only from then on."""
    other = open_level(tmp_path)
    journal = open_level(tmp_path, io=FaultIo(2, code, name="pwrite"))
    write(journal, 3)
    with pytest.raises(StrataError) as failure:
        write(journal, 4)
    assert failure.value.code == "io.engine.journal_write"
    assert journal.read_only
    with pytest.raises(StrataError) as refusal:
        write(journal, 4)
    assert refusal.value.code == "failed_precondition.engine.read_only_after_error"
    assert numbers(other.read()) == [3]
    write(other, 4)
    assert numbers(journal.read()) == [4]
    journal.close()
    reopened = FileJournal(tmp_path, STANDARD)
    assert numbers(reopened.read()) == [3, 4]
    assert reopened.recovered_bytes == 0


def test_write_that_cannot_even_be_erased_is_cut_by_the_next_writer(tmp_path: Path) -> None:
    """Ours: when erasing half a frame fails as well, whoever locks next does it and counts the bytes."""

    class Broken(FaultIo):
        def before(self, name: str, arguments: tuple[object, ...], call: Callable[..., object]) -> None:
            if name == "ftruncate":
                raise OSError(errno.EIO, "broken")
            super().before(name, arguments, call)

    other = open_level(tmp_path)
    journal = open_level(tmp_path, io=Broken(2, errno.EIO, name="pwrite"))
    write(journal, 3)
    with pytest.raises(StrataError):
        write(journal, 4, 3000)
    other.read()
    other.acquire()
    assert other.recovered_bytes > 0
    assert other.stale()
    assert other.read() == []
    other.append(commit(4))
    other.release()
    forget_control(tmp_path)
    reopened = FileJournal(tmp_path, STANDARD)
    assert numbers(reopened.read()) == [3, 4]
    assert reopened.recovered_bytes == 0


def test_full_disk_while_reserving_space_fails_the_commit(tmp_path: Path) -> None:
    """Spec: no space for a new segment is the same as no space for the commit."""
    journal = open_level(tmp_path, io=FaultIo(2, name="fallocate"), segment_bytes=300)
    with pytest.raises(StrataError) as failure:
        fill(journal)
    assert failure.value.code == "io.engine.journal_write"
    assert journal.read_only
    head = journal.head
    journal.close()
    reopened = open_level(tmp_path)
    assert reopened.head == head
    write(reopened, head + 1)


def test_failed_flush_may_have_committed(tmp_path: Path) -> None:
    """Spec: when the disk does not confirm, the commit is visible, the outcome unknown, the handle read-only."""
    journal = open_level(tmp_path, Durability.ALWAYS, io=FaultIo(4, errno.EIO, name="fdatasync"))
    with pytest.raises(StrataError) as failure:
        fill(journal)
    assert failure.value.code == "io.engine.journal_sync"
    assert journal.read_only
    with pytest.raises(StrataError) as refusal:
        write(journal, journal.head + 1)
    assert refusal.value.code == "failed_precondition.engine.read_only_after_error"
    head = journal.head
    journal.close()
    assert numbers(FileJournal(tmp_path, STANDARD).read()) == list(range(3, head + 1))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_fault_at_any_step_loses_no_acknowledged_commit(tmp_path: Path, code: int) -> None:
    """Ours: whichever call fails, what was acknowledged is there after reopening and writing works again."""
    step = 0
    while True:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        io = FaultIo(step, code)
        acknowledged = 2
        code_name = "io.engine.journal"
        try:
            journal = open_level(folder, Durability.ALWAYS, io=io, segment_bytes=300)
            for number in range(3, 14):
                write(journal, number)
                acknowledged = number
            journal.truncate(8)
            journal.close()
        except StrataError as error:
            code_name = error.code
        assert code_name.startswith(("io.engine.journal", "data_loss")), step
        reopened = FileJournal(folder, Durability.ALWAYS, start_after=8 if acknowledged >= 8 else 0)
        got = numbers(reopened.read())
        assert reopened.damage is None
        assert reopened.head in {acknowledged, acknowledged + 1}
        assert got == list(range(9 if acknowledged >= 8 else 3, reopened.head + 1))
        write(reopened, reopened.head + 1)
        reopened.close()
        if io.steps < step:
            break
    assert step > 20
