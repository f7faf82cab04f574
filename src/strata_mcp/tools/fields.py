"""Types of arguments: strict, and described once. None stands for a field that was left out or null."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

LIMIT_MAX: Final = 2**48
"""More rows than any database holds; larger limits mean the same."""

BASE64_SCHEMA: Final[dict[str, Any]] = {"type": "string", "contentEncoding": "base64"}
BYTES_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [BASE64_SCHEMA, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}]
}
BYTES_EXPECTED: Final = "padded base64 text or an array of numbers from 0 to 255"


def to_bytes(value: object) -> bytes:
    """Bytes from base64 text (standard alphabet, padded) or an array of byte values."""
    if isinstance(value, str):
        try:
            decoded = b64decode(value.encode("ascii"), validate=True)
        except (Base64Error, UnicodeEncodeError):
            raise _not_bytes() from None
        if b64encode(decoded).decode("ascii") != value:
            raise _not_bytes()
        return decoded
    if isinstance(value, list) and all(type(item) is int and 0 <= item <= 255 for item in value):
        return bytes(value)
    raise _not_bytes()


def _not_bytes() -> PydanticCustomError:
    return PydanticCustomError("bytes_expected", BYTES_EXPECTED)


def _clamp(value: int | None) -> int | None:
    return None if value is None else min(value, LIMIT_MAX)


Natural: TypeAlias = Annotated[int, Field(ge=0)]
"""A whole number from 0; the upper end is checked on the whole command."""
Bytes: TypeAlias = Annotated[bytes, BeforeValidator(to_bytes), WithJsonSchema(BYTES_SCHEMA)]
OptionalText: TypeAlias = str | None
OptionalNatural: TypeAlias = Natural | None
OptionalBytes: TypeAlias = Annotated[
    bytes | None,
    BeforeValidator(lambda value: None if value is None else to_bytes(value)),
    WithJsonSchema(BYTES_SCHEMA),
]
OptionalTexts: TypeAlias = Annotated[
    list[str] | None,
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""One text or several."""
OptionalLimit: TypeAlias = Annotated[OptionalNatural, AfterValidator(_clamp)]


class Args(BaseModel):
    """Arguments of an operation: nothing is coerced and nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class OnBranch(Args):
    """Works on a branch."""

    branch: OptionalText = Field(None, description="branch; the session's own without it")


class InSpace(OnBranch):
    """Works in a space of a branch."""

    space: OptionalText = Field(None, description="space of the branch; the session's own without it")


class AtMoment(Args):
    """Reads the present or the past."""

    as_of: OptionalNatural = Field(None, description="read as it was at this commit number")
    as_of_time: OptionalNatural = Field(
        None, description="read as it was at this instant, in UTC microseconds; not together with as_of"
    )


class Signed(Args):
    """Makes a commit."""

    author: OptionalText = Field(None, description="who signs the commit")
    message: OptionalText = Field(None, description="what the commit is for")


class Checked(Args):
    """Writes only over what the caller has seen."""

    if_version: OptionalNatural = Field(
        None, description="write only if the key is at this version; 0 means it must be absent"
    )


class ReadArgs(InSpace):
    """Reads the present of a space."""


class PastArgs(InSpace, AtMoment):
    """Reads a space, now or in the past."""


class WriteArgs(Signed, InSpace):
    """Writes in a space."""


class CheckedArgs(Signed, InSpace, Checked):
    """Writes one key of a space, if it is as the caller thinks."""


TRAILING: Final = ("if_version", "as_of", "as_of_time", "branch", "space", "author", "message")
"""Shared fields, listed behind an operation's own."""
