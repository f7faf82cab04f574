"""
Queries over documents: filter, order, projection.

A filter is an object. `{"path": value}` asks for equality; `{"path": {"$gt": 3}}` compares with
$eq $ne $gt $gte $lt $lte $in $nin $exists $prefix $contains; `{"$and": [...]}`, `{"$or": [...]}` and
`{"$not": {...}}` combine. Comparisons hold only between values of one JSON type (numbers with numbers,
text with text), and a missing field compares with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from strata_mcp.errors import StrataError, fail
from strata_mcp.primitives.json.codec import check
from strata_mcp.primitives.json.edit import MISSING, get
from strata_mcp.primitives.json.path import Path, normal_path, parse_path

DEPTH_MAX: Final = 32
CONDITIONS_MAX: Final = 1024
Test = Callable[[Any], bool]
Match = tuple[bytes, Any, Any]
"""(key, row, document)."""

_EXAMPLE: Final = '{"status": "open", "score": {"$gte": 3}}'


class Bound(NamedTuple):
    """A condition every match meets, on one field; what an index can serve."""

    path: str
    operator: str
    value: Any


class Query:
    """A compiled query."""

    def __init__(self, condition: Any, order: Sequence[str] | None, projection: Sequence[str] | None) -> None:
        """Compile; anything malformed is refused with the part that is wrong."""
        self.bounds: list[Bound] = []
        self._conditions = 0
        self.matches: Test = _always if condition is None else self._compile(condition, 0, is_required=True)
        self._order = [_order_term(term) for term in _texts("order", order)]
        self._projection = [(text, _path(text)) for text in _texts("projection", projection)]
        self._has_projection = projection is not None

    def sort(self, matches: list[Match]) -> None:
        """Order matches in place; they come by key, and equals stay that way in both directions."""
        for path, descending in reversed(self._order):

            def rank(match: Match, path: Path = path) -> tuple[int, Any]:
                return _rank(get(match[2], path))

            present = [match for match in matches if get(match[2], path) is not MISSING]
            absent = [match for match in matches if get(match[2], path) is MISSING]
            present.sort(key=rank, reverse=descending)
            matches[:] = present + absent

    def projected(self, document: Any) -> Any:
        """The document, or the object of chosen paths."""
        if not self._has_projection:
            return document
        chosen = ((text, get(document, path)) for text, path in self._projection)
        return {text: value for text, value in chosen if value is not MISSING}

    def _compile(self, condition: Any, depth: int, *, is_required: bool) -> Test:
        if depth > DEPTH_MAX:
            raise bad(f"the filter nests deeper than {DEPTH_MAX}")
        if type(condition) is not dict:
            raise bad(f"a condition is an object, not {type(condition).__name__}")
        self._note_condition()
        tests = [self._entry(name, value, depth, is_required) for name, value in condition.items()]
        return tests[0] if len(tests) == 1 else lambda document: all(test(document) for test in tests)

    def _entry(self, name: Any, value: Any, depth: int, is_required: bool) -> Test:
        if not isinstance(name, str):
            raise bad("the names in a filter are text")
        if name in ("$and", "$or"):
            if type(value) is not list or not value:
                raise bad(f"{name} takes a list of conditions that is not empty")
            required = is_required and name == "$and"
            tests = [self._compile(part, depth + 1, is_required=required) for part in value]
            combine = all if name == "$and" else any
            return lambda document: combine(test(document) for test in tests)
        if name == "$not":
            test = self._compile(value, depth + 1, is_required=False)
            return lambda document: not test(document)
        if name.startswith("$") and name[1:2] not in ("", ".", "["):
            raise bad(f"there is no {name!r}; use $and, $or, $not or the path of a field")
        path = _path(name)
        operators = value if type(value) is dict and any(_is_operator(key) for key in value) else {"$eq": value}
        tests = [self._operator(path, operator, operand, is_required) for operator, operand in operators.items()]
        return lambda document: _holds(get(document, path), tests)

    def _operator(self, path: Path, operator: Any, operand: Any, is_required: bool) -> Test:
        make = OPERATORS.get(operator) if isinstance(operator, str) else None
        if make is None:
            raise bad(f"there is no operator {operator!r}; there are {', '.join(OPERATORS)}")
        try:
            check(operand)
        except StrataError as error:
            raise bad(f"the operand of {operator} is no JSON value: {error.message}") from error
        self._note_condition()
        test = make(operand)
        if is_required and operator in INDEXED:
            self.bounds.append(Bound(normal_path(path), operator, operand))
        return test

    def _note_condition(self) -> None:
        self._conditions += 1
        if self._conditions > CONDITIONS_MAX:
            raise bad(f"the filter has more than {CONDITIONS_MAX} conditions; many values of one field fit in one $in")


def bad(what: str) -> StrataError:
    """The error of a malformed query."""
    return fail("invalid_argument.engine.query", f"{what}; a filter looks like {_EXAMPLE}")


def _holds(value: Any, tests: list[Test]) -> bool:
    return all(test(value) for test in tests)


def _always(_: Any) -> bool:
    return True


def _is_operator(name: Any) -> bool:
    return isinstance(name, str) and name.startswith("$") and name[1:2].isalpha()


def kind_of(value: Any) -> str:
    """JSON type of a value; integers and floats are both numbers, booleans are not."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "bool"
    if type(value) in (int, float):
        return "number"
    if type(value) is str:
        return "string"
    return "array" if type(value) in (list, tuple) else "object"


def equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 equals 1.0, but not true."""
    kind = kind_of(left)
    if left is MISSING or kind != kind_of(right):
        return False
    if kind == "array":
        return len(left) == len(right) and all(equal(*pair) for pair in zip(left, right, strict=True))
    if kind == "object":
        return left.keys() == right.keys() and all(equal(value, right[name]) for name, value in left.items())
    return bool(left == right)


def _comparison(holds: Callable[[Any, Any], bool]) -> Callable[[Any], Test]:
    def make(operand: Any) -> Test:
        kind = kind_of(operand)
        if kind not in ("number", "string"):
            raise bad("$gt, $gte, $lt and $lte compare with a number or a text")
        return lambda value: value is not MISSING and kind_of(value) == kind and holds(value, operand)

    return make


def _membership(operand: Any) -> Test:
    if type(operand) not in (list, tuple):
        raise bad("$in and $nin take a list of values")
    scalars = {(kind, choice) for choice in operand if (kind := kind_of(choice)) not in ("array", "object")}
    others = [choice for choice in operand if type(choice) in (list, tuple, dict)]

    def test(value: Any) -> bool:
        if type(value) in (list, dict):
            return any(equal(value, choice) for choice in others)
        return value is not MISSING and (kind_of(value), value) in scalars

    return test


def _exists(operand: Any) -> Test:
    if type(operand) is not bool:
        raise bad("$exists takes true or false")
    return lambda value: (value is not MISSING) is operand


def _prefixed(operand: Any) -> Test:
    if type(operand) is not str:
        raise bad("$prefix takes a text")
    return lambda value: type(value) is str and value.startswith(operand)


def _negated(make: Callable[[Any], Test]) -> Callable[[Any], Test]:
    def negated(operand: Any) -> Test:
        test = make(operand)
        return lambda value: not test(value)

    return negated


def _equality(operand: Any) -> Test:
    return lambda value: equal(value, operand)


def _containing(operand: Any) -> Test:
    return lambda value: type(value) is list and any(equal(item, operand) for item in value)


OPERATORS: Final[dict[str, Callable[[Any], Test]]] = {
    "$eq": _equality,
    "$ne": _negated(_equality),
    "$gt": _comparison(lambda left, right: bool(left > right)),
    "$gte": _comparison(lambda left, right: bool(left >= right)),
    "$lt": _comparison(lambda left, right: bool(left < right)),
    "$lte": _comparison(lambda left, right: bool(left <= right)),
    "$in": _membership,
    "$nin": _negated(_membership),
    "$exists": _exists,
    "$prefix": _prefixed,
    "$contains": _containing,
}
INDEXED: Final = frozenset({"$eq", "$in", "$gt", "$gte", "$lt", "$lte", "$prefix"})
_KINDS: Final = ("null", "bool", "number", "string", "array", "object")


def _rank(value: Any) -> tuple[int, Any]:
    kind = kind_of(value)
    rank = _KINDS.index(kind)
    return (rank, value) if kind in ("bool", "number", "string") else (rank, 0)


def _order_term(term: str) -> tuple[Path, bool]:
    return _path(term.removeprefix("-")), term.startswith("-")


def _path(text: str) -> Path:
    try:
        return parse_path(text)
    except StrataError as error:
        raise bad(f"{text[:60]!r} is no path: {error.message}") from error


def _texts(what: str, given: Sequence[str] | None) -> Sequence[str]:
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)) or not all(isinstance(text, str) for text in given):
        raise bad(f'{what} is a list of paths such as ["name", "address.city"]')
    return given
