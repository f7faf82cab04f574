"""
The only place that reads the wall clock, makes ids, or draws random numbers.

Instants are UTC microseconds since the epoch.
"""

from __future__ import annotations

import os
import time
from hashlib import sha1
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard

from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_BRANCH

if TYPE_CHECKING:
    from datetime import date, datetime

TimeLike: TypeAlias = "int | datetime | date | str"
"""An instant: UTC microseconds, a datetime (naive = local), a date (local midnight), or ISO text."""

_DNS_NAMESPACE = bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
NIL_UUID = "00000000-0000-0000-0000-000000000000"


class Clock(Protocol):
    """A source of instants. One that also has `now_ns` is asked for that on the path of commits."""

    def now_us(self) -> int:
        """UTC microseconds now."""


class SystemClock:
    """The machine's clock."""

    now_ns = staticmethod(time.time_ns)
    """UTC nanoseconds now; no wrapper around the system's own call, for the path of every commit."""

    @staticmethod
    def now_us() -> int:
        """UTC microseconds now."""
        return time.time_ns() // 1000


def new_id() -> str:
    """A fresh random id of 32 hex digits."""
    return os.urandom(16).hex()


def branch_id(name: str) -> str:
    """Stable id of a branch name: UUIDv5 in the DNS namespace (RFC 9562); the nil UUID for `default`."""
    if name == DEFAULT_BRANCH:
        return NIL_UUID
    digest = bytearray(sha1(_DNS_NAMESPACE + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _is_integer(value: object) -> TypeGuard[int]:
    """Whether a value counts as an integer; truth values do not."""
    return isinstance(value, int) and not isinstance(value, bool)


def to_micros(when: TimeLike | None) -> int | None:
    """
    UTC microseconds of an instant; integers and None pass through.

    Raises:
        StrataError: `invalid_argument.sdk.as_of_time` for anything else, or text that is no ISO date.
    """
    if when is None or _is_integer(when):
        return when
    from datetime import UTC, date, datetime

    if isinstance(when, str):
        text = when
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise fail(
                "invalid_argument.sdk.as_of_time", f"{text[:60]!r} is not an ISO 8601 date or time", value=text[:60]
            ) from None
    if isinstance(when, date) and not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day)
    if not isinstance(when, datetime):
        raise fail("invalid_argument.sdk.as_of_time", type=type(when).__name__)
    try:
        delta = when.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except (OverflowError, ValueError, OSError):
        raise fail(
            "invalid_argument.sdk.as_of_time", "the instant lies outside what a date can hold", value=str(when)
        ) from None
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def to_datetime(micros: int | None) -> datetime | None:
    """
    Aware UTC datetime of an instant in microseconds; None passes through.

    Raises:
        StrataError: `invalid_argument.sdk.committed_at` for anything else, or an instant no date can hold.
    """
    if micros is None:
        return None
    from datetime import UTC, datetime, timedelta

    if not _is_integer(micros):
        raise fail("invalid_argument.sdk.committed_at", type=type(micros).__name__)
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError:
        raise fail(
            "invalid_argument.sdk.committed_at", "the instant lies outside what a date can hold", value=micros
        ) from None
