"""Instants, ids and the conversions between microseconds and datetimes."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_mcp.clock import NIL_UUID, Clock, SystemClock, branch_id, new_id, to_datetime, to_micros
from strata_mcp.errors import InvalidArgumentError

NEW_YEAR_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
# Naive on purpose: what a caller means without naming a zone is local time.
NAIVE_NEW_YEAR = datetime.fromisoformat("2026-01-01")
NAIVE_FIRST = datetime.fromisoformat("0001-01-01")


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_us: int) -> None:
        """Start at an instant in UTC microseconds."""
        self.value_us = now_us

    def now_us(self) -> int:
        """UTC microseconds, the same until `value_us` is set."""
        return self.value_us


class Named(IntEnum):
    """An integer by another type."""

    ONE = 1


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a test with each of several local time zones."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


# ---- clocks and ids ----


def test_clocks_fit_the_port() -> None:
    """Ours: the machine's clock and a fixed one are both a Clock."""
    clocks: list[Clock] = [SystemClock(), FixedClock(7)]
    assert clocks[1].now_us() == 7


def test_system_clock_counts_utc_microseconds() -> None:
    """Ours: the value is the epoch time in microseconds."""
    before = time.time_ns() // 1000
    now = SystemClock().now_us()
    assert before <= now <= time.time_ns() // 1000


def test_new_ids_are_hex_and_differ() -> None:
    """Ours: 32 lower-case hex digits, never the same twice."""
    ids = {new_id() for _ in range(200)}
    assert len(ids) == 200
    assert [text for text in ids if len(text) != 32 or set(text) - set("0123456789abcdef")] == []


def test_default_branch_has_the_nil_id() -> None:
    """Spec: `default` is the nil UUID."""
    assert branch_id("default") == NIL_UUID == str(uuid.UUID(int=0))


@given(st.text(min_size=1, max_size=60).filter(lambda name: name != "default"))
def test_branch_ids_are_uuid5_of_the_name(name: str) -> None:
    """Spec: UUIDv5 in the DNS namespace."""
    assert branch_id(name) == str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


# ---- to_micros ----


@pytest.mark.parametrize("when", [None, 0, -3, 5, 2**70])
def test_integers_and_none_pass_through(when: int | None) -> None:
    """Spec: an int is already microseconds."""
    assert to_micros(when) == when


@pytest.mark.parametrize(
    "when",
    [
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))),
        "2026-01-01T00:00:00Z",
        "2026-01-01T02:00:00+02:00",
    ],
)
def test_aware_instants_ignore_the_local_zone(when: Any, zone: str) -> None:
    """Spec: a datetime or text that names its zone means that instant everywhere."""
    assert to_micros(when) == NEW_YEAR_US


@pytest.mark.parametrize("when", [NAIVE_NEW_YEAR, date(2026, 1, 1), "2026-01-01", "2026-01-01T00:00:00"])
def test_naive_instants_are_local(when: Any, zone: str) -> None:
    """Spec: without a zone the machine's own is meant; a date means its midnight."""
    hours = {"UTC": 0, "Asia/Tokyo": -9, "America/New_York": 5}[zone]
    assert to_micros(when) == NEW_YEAR_US + hours * 3_600_000_000


@pytest.mark.parametrize(
    "when", [True, False, 1.5, b"2026-01-01", "", "junk", "12", [], {}, object(), timedelta(days=1)]
)
def test_other_things_are_no_instant(when: Any) -> None:
    """Spec: bool, float, bytes and text that is no ISO date are refused."""
    with pytest.raises(InvalidArgumentError) as caught:
        to_micros(when)
    assert caught.value.code == "invalid_argument.sdk.as_of_time"


@pytest.mark.parametrize("when", [date.min, NAIVE_FIRST, "0001-01-01"])
def test_instants_before_the_calendar_are_refused(when: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a local moment that has no UTC date gives the typed error, not an OverflowError."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with pytest.raises(InvalidArgumentError) as caught:
            to_micros(when)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert caught.value.code == "invalid_argument.sdk.as_of_time"


# ---- to_datetime ----


@given(st.datetimes(timezones=st.just(UTC)))
def test_datetimes_make_the_round_trip(when: datetime) -> None:
    """Ours: no microsecond is lost, before 1970 neither."""
    micros = to_micros(when)
    again = to_datetime(micros)
    assert again is not None
    assert again == when
    assert again.utcoffset() == timedelta(0)


def test_none_stays_none() -> None:
    """Spec: a receipt without an instant has no datetime."""
    assert to_datetime(None) is None


@pytest.mark.parametrize("micros", [True, 1.0, "5", b"5", datetime(2026, 1, 1, tzinfo=UTC), 10**19, -(10**19), 10**40])
def test_other_things_are_no_microseconds(micros: Any) -> None:
    """Spec: only an int; ours: one that a date can hold."""
    with pytest.raises(InvalidArgumentError) as caught:
        to_datetime(micros)
    assert caught.value.code == "invalid_argument.sdk.committed_at"


def test_integer_subclasses_count_as_integers() -> None:
    """Spec: an int passes through; only bool is refused."""
    assert to_micros(Named.ONE) == 1
    assert to_datetime(Named.ONE) == datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)
