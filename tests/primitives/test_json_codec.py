"""What a document may be, and its stored form."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.primitives.support import DOCUMENTS, refused, same

from strata_mcp.primitives.json import codec
from strata_mcp.primitives.json.codec import decode, encode


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


@given(DOCUMENTS)
def test_documents_come_back_exactly(value: Any) -> None:
    """Spec: numbers keep their kind and sign, objects come back sorted, the text is compact JSON."""
    text = encode(value)
    assert same(decode(text), value)
    assert encode(decode(text)) == text
    assert same(json.loads(text), value)


def test_keys_are_sorted_and_tuples_are_arrays() -> None:
    """Spec: one stored form for equal documents."""
    assert encode({"b": (1, 2), "a": -0.0}) == b'{"a":-0.0,"b":[1,2]}'


@pytest.mark.parametrize(
    "value",
    [
        *(float("nan"), float("inf"), -float("inf"), "\ud800", {"\udfff": 1}, {1: 2}, {None: 1}, {1, 2}, b"x"),
        *(object(), Decimal(1), [float("nan")], {"a": {"b": [object()]}}, 1j),
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    """Brief: NaN, infinities, lone surrogates, other keys and other types get a typed error."""
    with refused("invalid_argument.engine.json_value"):
        encode(value)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, pytest.param(10**5000, id="endless"), [2**64], {"a": 2**64}])
def test_integers_have_a_range(value: Any) -> None:
    """Spec: -2^63 to 2^64-1 kept exactly, the rest refused."""
    with refused("invalid_argument.executor.json_number"):
        encode(value)


def test_documents_nest_100_deep_at_most() -> None:
    """Spec, limits: 100 containers; deeper and endless values are the same typed error."""
    assert decode(encode(nested(100))) == nested(100)
    endless: list[Any] = []
    endless.append({"again": endless})
    for value in (nested(101), nested(5000), endless):
        with refused("invalid_argument.engine.json_document_too_deep"):
            encode(value)


def test_sizes_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec, limits: items of an array, bytes of a document."""
    assert (codec.ARRAY_ITEMS_MAX, codec.DOCUMENT_BYTES_MAX) == (1_000_000, 16_777_216)
    with refused("invalid_argument.engine.json_array_too_large"):
        encode({"a": [None] * 1_000_001})
    monkeypatch.setattr(codec, "DOCUMENT_BYTES_MAX", 100)
    assert len(encode("x" * 98)) == 100
    with refused("invalid_argument.engine.json_document_too_large"):
        encode("x" * 99)
