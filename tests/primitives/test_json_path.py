"""The path grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.primitives.support import refused

from strata_mcp.errors import InvalidArgumentError
from strata_mcp.primitives.json.path import SEGMENTS_MAX, Path, normal_path, parse_path

SEGMENTS = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), st.integers(0, 2**64 - 1)),
    max_size=6,
)


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", ()),
        ("$", ()),
        ("$.", ()),
        ("a", ("a",)),
        ("$a", ("a",)),
        ("$.a.b", ("a", "b")),
        ("7", ("7",)),
        ("a.0", ("a", "0")),
        ("[0]", (0,)),
        ("$[007]", (7,)),
        ("$[18446744073709551615]", (2**64 - 1,)),
        ("a[2].x", ("a", 2, "x")),
        ("a.[2]", ("a", 2)),
        ('$["dot.key"]', ("dot.key",)),
        ("$['it\"s']", ('it"s',)),
        ('$["a\\"b"]', ('a"b',)),
        ('$["a\\\\b"]', ("a\\b",)),
        ('$["a\\nb"]', ("a\\nb",)),
        ('$["a\\\'b"]', ("a\\'b",)),
        ('$["]"]', ("]",)),
        ("$.é-_日", ("é-_日",)),
    ],
)
def test_paths_mean_steps(path: str, segments: Path) -> None:
    """Spec, path grammar: names are keys, bracketed digits are indexes, quotes hold anything."""
    assert parse_path(path) == segments


@pytest.mark.parametrize(
    "path",
    [
        *(".", ".a", "$$", "$..a", "a.", "a b", "$.*", "bad[", "$.a[", "$[-1]", "$[1:2]", '$[""]', "a]", "[0]a"),
        *('["a"b"]', '[ "a"]', '["a\\"]', "$[18446744073709551616]", "$[" + "9" * 5000 + "]", "\ud800", '["\ud800"]'),
    ],
)
def test_other_paths_are_refused(path: str) -> None:
    """Spec: no wildcards, slices, negative or endless indexes; a typed error, twice in a row."""
    for _ in range(2):
        with refused("invalid_argument.engine.json_path"):
            parse_path(path)


def test_a_path_has_256_steps_at_most() -> None:
    """Spec, limits: 256 segments."""
    assert len(parse_path(".".join("a" * SEGMENTS_MAX))) == SEGMENTS_MAX
    with refused("invalid_argument.engine.json_path_too_long"):
        parse_path(".".join("a" * (SEGMENTS_MAX + 1)))


@given(SEGMENTS)
def test_the_normal_spelling_parses_back(segments: list[str | int]) -> None:
    """Design: definitions store one spelling, which means the same steps."""
    assert parse_path(normal_path(tuple(segments))) == tuple(segments)


@given(st.text(alphabet="$.[]\"'\\a0é -", max_size=12))
def test_any_text_parses_or_is_refused(path: str) -> None:
    """Design: no other exception, and what parses has a stable normal spelling."""
    try:
        segments = parse_path(path)
    except InvalidArgumentError:
        return
    assert parse_path(normal_path(segments)) == segments
