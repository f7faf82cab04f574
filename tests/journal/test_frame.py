"""The frame codec: round trips, and no byte may change unnoticed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.journal.support import commit

from strata_mcp.journal.frame import SETTLED_UNKNOWN, Stop, decode_frames, encode_frame, later_frame
from strata_mcp.model import Commit

RECORDS = st.lists(
    st.tuples(
        st.integers(1, 90),
        st.text(max_size=8),
        st.binary(max_size=12),
        st.none() | st.binary(max_size=40),
        st.integers(0, 2**62),
    ),
    max_size=4,
)


@st.composite
def commit_runs(draw: st.DrawFn) -> list[Commit]:
    """Commits in order, as a journal holds them."""
    number = 0
    run = []
    for _ in range(draw(st.integers(1, 5))):
        number += draw(st.integers(1, 3))
        last = number + draw(st.integers(0, 2))
        run.append(Commit(number, last, draw(st.integers(0, 2**50)), draw(st.integers(-1, 99)), draw(RECORDS), "me"))
        number = last
    return run


@given(commit_runs(), st.integers(0, 200))
def test_frames_come_back_as_they_were(run: list[Commit], zeros: int) -> None:
    """Ours: what was encoded decodes to the same commits, and zeros behind it mean nothing was written."""
    data = b"".join(map(encode_frame, run))
    frames = decode_frames(data + bytes(zeros), 0)
    assert frames.commits == run
    assert frames.head == run[-1].last
    assert frames.size_bytes == len(data)
    assert frames.stop is (Stop.EMPTY if zeros >= 12 else Stop.SHORT)


@given(commit_runs(), st.data())
def test_one_flipped_bit_is_noticed(run: list[Commit], data: st.DataObject) -> None:
    """Ours: a flipped bit ends decoding at or before its frame; the frames before it are untouched."""
    frames = [encode_frame(each) for each in run]
    content = bytearray(b"".join(frames))
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    hit = next(index for index in range(len(frames)) if bit // 8 < sum(map(len, frames[: index + 1])))
    decoded = decode_frames(bytes(content), 0)
    assert decoded.commits == run[:hit]
    assert decoded.stop is not Stop.EMPTY


@given(commit_runs(), st.data())
def test_cut_bytes_end_at_the_last_whole_frame(run: list[Commit], data: st.DataObject) -> None:
    """Ours: a cut at any byte loses the frame it cuts and no other."""
    frames = [encode_frame(each) for each in run]
    content = b"".join(frames)
    cut = data.draw(st.integers(0, len(content)))
    whole = sum(1 for index in range(len(frames)) if sum(map(len, frames[: index + 1])) <= cut)
    decoded = decode_frames(content[:cut], 0)
    assert decoded.commits == run[:whole]
    assert decoded.stop is Stop.SHORT


def test_frame_that_goes_back_in_number_is_invalid() -> None:
    """Ours: a frame that repeats an earlier number (a stale copy) is not taken for a commit."""
    data = encode_frame(commit(5)) + encode_frame(commit(5))
    assert len(decode_frames(data, 0).commits) == 1
    assert decode_frames(data, 5).commits == []


def test_later_frame_proves_a_hole_only_when_it_claims_it() -> None:
    """Ours: behind a hole, a frame that knows the hole was on disk is proof of loss; one that does not is none."""
    hole = b"\xff" * 30
    claims = encode_frame(commit(9), SETTLED_UNKNOWN)
    silent = encode_frame(commit(9), 100)
    assert later_frame(hole + claims, 5, 100) == (30 + len(claims), 9)
    assert later_frame(hole + silent, 5, 100) is None
    assert later_frame(hole + silent, 5, 99) is not None
    assert later_frame(hole + claims, 9, 100) is None
    assert later_frame(b"", 0, 0) is None
