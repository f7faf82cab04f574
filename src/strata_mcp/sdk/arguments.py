"""
What callers hand in, checked and turned into what the engine takes.

Every refusal is a typed error that names the argument. The common cases are inlined where they are
hot (`kv.get`, `kv.put`); these functions are the rest.
"""

from __future__ import annotations

from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import StrataError, fail

if TYPE_CHECKING:
    from strata_mcp.clock import TimeLike

U64_MAX: Final = 2**64 - 1
SAMPLE_COUNT: Final = 10
MICROSECONDS: Final = 1_000_000


def wrong_type(field: str, expected: str, value: object) -> StrataError:
    """The error for an argument of a type that the call does not take."""
    return fail(
        "invalid_argument.sdk.command",
        f"{field} takes {expected}, not {type(value).__name__}",
        field=field,
    )


def not_unicode(field: str, error: UnicodeEncodeError) -> StrataError:
    """The error for text that UTF-8 cannot carry."""
    return fail(
        "invalid_argument.sdk.argument",
        f"{field} holds half of a surrogate pair at position {error.start}; UTF-8 cannot carry it, pass bytes instead",
        field=field,
        position=error.start,
    )


def as_bytes(value: object, field: str) -> bytes:
    """Bytes as they are, text as UTF-8."""
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise not_unicode(field, error) from None
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    raise wrong_type(field, "str or bytes", value)


def optional_bytes(value: object, field: str) -> bytes | None:
    """Like `as_bytes`, None stays None."""
    return None if value is None else as_bytes(value, field)


def text(value: object, field: str) -> str:
    """Text that UTF-8 can carry."""
    if not isinstance(value, str):
        raise wrong_type(field, "str", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise not_unicode(field, error) from None
    return value


def optional_text(value: object, field: str) -> str | None:
    """Like `text`, None stays None."""
    return None if value is None else text(value, field)


def natural(value: object, field: str) -> int:
    """An integer from 0 to 2**64 - 1."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong_type(field, "a whole number", value)
    if value < 0:
        raise fail("invalid_argument.sdk.command", f"{field} takes a whole number from 0, not {value}", field=field)
    if value > U64_MAX:
        raise fail("invalid_argument.executor.json_number", f"{field} is above 2**64 - 1", field=field)
    return value


def optional_natural(value: object, field: str) -> int | None:
    """Like `natural`, None stays None."""
    return None if value is None else natural(value, field)


def flag(value: object, field: str) -> bool:
    """True or False, nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise wrong_type(field, "True or False", value)
    return value


def position(as_of: object) -> int | None:
    """A position in the commit counter, or None for now."""
    if as_of is None:
        return None
    if not isinstance(as_of, int) or isinstance(as_of, bool):
        raise fail(
            "invalid_argument.sdk.as_of_kind",
            f"as_of takes a commit number, not {type(as_of).__name__}; for an instant use as_of_time=",
            field="as_of",
        )
    return natural(as_of, "as_of")


def instant(as_of_time: TimeLike | None) -> int | None:
    """UTC microseconds of a moment given in any of the accepted forms, or None for now."""
    if as_of_time is None:
        return None
    from strata_mcp.clock import to_micros

    return optional_natural(to_micros(as_of_time), "as_of_time")


def page_limit(limit: object) -> int:
    """How many rows a page may hold: a whole number from 1."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise fail(
            "invalid_argument.sdk.limit",
            f"limit takes a whole number from 1, not {limit!r}; leave it out to read everything page by page",
            field="limit",
        )
    return limit


def sample_count(count: object) -> int:
    """How many rows a sample holds at most."""
    return SAMPLE_COUNT if count is None else natural(count, "count")


def lifetime_us(expires_in: object) -> int | None:
    """Microseconds of a lifetime given in seconds or as a timedelta; None for no end."""
    if expires_in is None:
        return None
    if isinstance(expires_in, timedelta):
        lifetime = expires_in // timedelta(microseconds=1)
    elif isinstance(expires_in, int | float) and not isinstance(expires_in, bool):
        lifetime = round(expires_in * MICROSECONDS) if isfinite(expires_in) else 0
    else:
        raise wrong_type("expires_in", "a number of seconds or a timedelta", expires_in)
    if lifetime <= 0:
        raise fail("invalid_argument.engine.expires_in", expires_in=expires_in)
    return lifetime
