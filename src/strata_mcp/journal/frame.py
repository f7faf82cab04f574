"""
The frame: how one commit stands in a segment.

    length   4 bytes   size of the payload; 0 means that no frame was written here yet
    crc32    4 bytes   over length, settled and payload
    settled  4 bytes   every byte of this segment before this offset was on disk when the frame was written
    payload  length    the commit as MessagePack

Integers are little-endian. `settled` decides after a power cut: a hole that a later frame calls settled
has lost acknowledged commits, any other hole holds none. Writers that do not wait for the disk cannot
know and say `SETTLED_UNKNOWN`, which claims everything before the frame.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from strata_mcp.model import Commit

HEADER: Final = struct.Struct("<III")
HEADER_BYTES: Final = HEADER.size
SETTLED_UNKNOWN: Final = 0xFFFF_FFFF
MASK: Final = 0xFFFF_FFFF
MAX_PAYLOAD_BYTES: Final = 1 << 30
"""More than any commit the store lets through; keeps offsets within four bytes."""

encode_commit: Final = msgspec.msgpack.Encoder().encode
_decode_commit: Final = msgspec.msgpack.Decoder(Commit).decode
_FIRST_BYTE: Final = encode_commit(Commit(1, 1, 0, 0, []))[:1]
"""Each payload starts with it (the header of the MessagePack array), so it finds frames behind a damaged one."""


class Stop(IntEnum):
    """Why decoding ended."""

    EMPTY = 1
    """A header of zeros: nothing was written here yet."""
    SHORT = 2
    """The bytes end before the frame does."""
    INVALID = 3
    """What stands here is not a frame."""


class Frames(NamedTuple):
    """The valid frames at the start of some bytes."""

    commits: list[Commit]
    head: int
    size_bytes: int
    stop: Stop
    needed_bytes: int
    """For SHORT: bytes from the first incomplete frame's start to its end, as far as known."""


def encode_frame(commit: Commit, settled: int = SETTLED_UNKNOWN) -> bytes:
    """Return the frame of one commit."""
    payload = encode_commit(commit)
    length = len(payload)
    return HEADER.pack(length, crc32(payload, (length + settled) & MASK), settled) + payload


def decode_frames(data: bytes, head: int) -> Frames:
    """Decode frames until they end; each must lie above the one before, the first above `head`."""
    commits: list[Commit] = []
    view = memoryview(data)
    size = len(data)
    at = 0
    while True:
        start = at + HEADER_BYTES
        if start > size:
            return Frames(commits, head, at, Stop.SHORT, HEADER_BYTES)
        length, crc, settled = HEADER.unpack_from(data, at)
        if length == 0:
            return Frames(commits, head, at, Stop.INVALID if crc or settled else Stop.EMPTY, 0)
        end = start + length
        if length > MAX_PAYLOAD_BYTES:
            return Frames(commits, head, at, Stop.INVALID, 0)
        if end > size:
            return Frames(commits, head, at, Stop.SHORT, HEADER_BYTES + length)
        payload = view[start:end]
        commit = _checked_commit(payload, length, crc, settled)
        if commit is None or commit.timestamp <= head or commit.last < commit.timestamp:
            return Frames(commits, head, at, Stop.INVALID, 0)
        commits.append(commit)
        head = commit.last
        at = end


def _checked_commit(payload: memoryview, length: int, crc: int, settled: int) -> Commit | None:
    if crc32(payload, (length + settled) & MASK) != crc:
        return None
    try:
        return _decode_commit(payload)
    except msgspec.DecodeError:
        return None


class Later(NamedTuple):
    """The last frame behind a hole that proves the hole held acknowledged commits."""

    end: int
    """Offset of its end in the searched bytes."""
    head: int


def later_frame(data: bytes, head: int, hole: int) -> Later | None:
    """
    Look behind a hole for frames written by someone who knew the hole's commits to be acknowledged.

    Args:
        data: everything in the segment from the hole on.
        head: number of the last commit before the hole.
        hole: the hole's offset in the segment.
    """
    view = memoryview(data)
    found: Later | None = None
    at = data.find(_FIRST_BYTE, HEADER_BYTES + 1)
    while at >= 0:
        length, crc, settled = HEADER.unpack_from(data, at - HEADER_BYTES)
        end = at + length
        following = at + 1
        if length > 0 and end <= len(data) and settled > hole:
            commit = _checked_commit(view[at:end], length, crc, settled)
            if commit is not None and commit.timestamp > head:
                head = commit.last
                found = Later(end, head)
                following = end + HEADER_BYTES
        at = data.find(_FIRST_BYTE, following)
    return found
