"""Recorded exchanges of the peer product, replayed: same commands, same answers, same commit numbers."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from strata_mcp.engine import Engine
from strata_mcp.errors import StrataError
from strata_mcp.tools.dispatch import execute
from strata_mcp.tools.operation import find

HERE = Path(__file__).parent
VECTORS = [json.loads(line) for line in (HERE / "data" / "wire-examples.jsonl").read_text().splitlines()]
NOTES = tomllib.loads((HERE / "deviations.toml").read_text())
DEVIATIONS = {entry["id"]: entry["reason"] for entry in NOTES["deviation"]}
PENDING = {entry["id"]: entry["needs"] for entry in NOTES["pending"]}

ANYTHING = {"<volatile>", "<text>", "<url>"}
PLACEHOLDER = re.compile(r"\{\{setup\.(\d+)\.([^}+-]+)([+-]\d+)?\}\}")
CASES = [
    pytest.param(vector, target, id=f"{vector['id']}-{target}")
    for vector in VECTORS
    for target in ("cache", "durable")
    if target == vector["target"] or vector.get("durable_same")
]


class SteppingClock:
    """A clock that moves a millisecond with every look, and by leaps when a recording pauses."""

    def __init__(self) -> None:
        self.at_us = 1_700_000_000_000_000

    def now_us(self) -> int:
        """The next instant."""
        self.at_us += 1000
        return self.at_us


def replay(vector: dict[str, Any], target: str, folder: Path) -> list[str]:
    """What differs from the recording, one line each."""
    clock = SteppingClock()
    path = None if target == "cache" else folder / "app.strata"
    engine = Engine.open(path, cache=path is None, clock=clock)
    try:
        answers: list[Any] = []
        for step in vector["setup"]:
            if "sleep_ms" in step:
                clock.at_us += step["sleep_ms"] * 1000
                answers.append(None)
            else:
                answers.append(execute(engine, filled(step, answers, folder), "default", "default"))
        request = filled(vector["request"], answers, folder)
        try:
            answer = execute(engine, request, "default", "default")
        except StrataError as error:
            return list(error_differences(vector, request, error))
    finally:
        engine.close(checkpoint=False)
    if "error" in vector:
        return [f"expected {vector['error']['code']}, got {answer}"]
    validator(request["type"]).validate(answer["data"])
    return list(differences(filled(vector["response"], answers, folder), answer, "", target == vector["target"]))


def filled(value: Any, answers: list[Any], folder: Path) -> Any:
    """A recorded value with its placeholders replaced by what this run answered."""
    if isinstance(value, dict):
        return {key: filled(item, answers, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, answers, folder) for item in value]
    if not isinstance(value, str):
        return value
    match = PLACEHOLDER.fullmatch(value)
    if match is None:
        return value.replace("{{tmp}}", str(folder))
    found = answers[int(match[1])]
    for part in match[2].split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found + int(match[3] or 0)


def differences(expected: Any, actual: Any, place: str, is_same_target: bool) -> Iterator[str]:
    """Fields that are missing, too many or different."""
    if isinstance(expected, str) and expected in ANYTHING:
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in expected.keys() | actual.keys():
            if key not in actual:
                yield f"{place}.{key} is missing"
            elif key not in expected:
                yield f"{place}.{key} is not in the recording: {actual[key]!r}"
            else:
                yield from differences(expected[key], actual[key], f"{place}.{key}", is_same_target)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(left, right, f"{place}[{index}]", is_same_target)
    elif place.endswith(".durability") and not is_same_target:
        if (expected, actual) != ("not_durable", "standard"):
            yield f"{place}: expected standard, got {actual!r}"
    elif expected != actual or type(expected) is not type(actual):
        yield f"{place}: expected {expected!r}, got {actual!r}"


def error_differences(vector: dict[str, Any], request: dict[str, Any], error: StrataError) -> Iterator[str]:
    """How an error differs from the recorded one; a command must also declare its errors."""
    expected = vector.get("error")
    if expected is None:
        yield f"expected an answer, got {error}"
        return
    actual = {**error.status, "exception": type(error).__name__}
    found = {detail["key"]: detail["value"] for detail in actual.pop("details", [])}
    for detail in expected.get("details", []):
        if detail["key"] not in found or detail["value"] not in (found[detail["key"]], *ANYTHING):
            yield f"details: expected {detail}, got {found}"
    for name, value in expected.items():
        if name != "details" and actual[name] != value:
            yield f"{name}: expected {value!r}, got {actual[name]!r}"
    if error.code not in find(request["type"]).errors:
        yield f"{request['type']} does not declare {error.code}"


@cache
def validator(wire: str) -> Draft202012Validator:
    """Checks answers against the schema the command declares."""
    return Draft202012Validator(find(wire).output_schema())


@pytest.mark.parametrize(("vector", "target"), CASES)
def test_answers_are_those_of_the_recording(vector: dict[str, Any], target: str, tmp_path: Path) -> None:
    """Spec: recorded exchanges of this release's families, in memory and on disk; listed deviations still differ."""
    if vector["id"] in PENDING:
        with pytest.raises(StrataError, match=r"invalid_argument\.sdk\.command"):
            replay(vector, target, tmp_path)
        return
    found = replay(vector, target, tmp_path)
    if vector["id"] in DEVIATIONS:
        assert found, "this deviation is gone: remove its entry"
    else:
        assert found == []


def test_every_exception_is_about_a_recorded_exchange() -> None:
    """Ours: deviations.toml lists known exchanges, each once, with a reason."""
    known = {vector["id"] for vector in VECTORS}
    listed = [entry["id"] for entry in (*NOTES["deviation"], *NOTES["pending"])]
    assert set(listed) - known == set()
    assert len(listed) == len(set(listed))
    assert all(reason.strip() for reason in DEVIATIONS.values())


@pytest.mark.parametrize("identifier", sorted(PENDING))
def test_pending_exchanges_need_what_they_say(identifier: str) -> None:
    """Ours: a pending exchange uses a command of each family it waits for."""
    vector = next(vector for vector in VECTORS if vector["id"] == identifier)
    used = {str(step.get("type", "")).partition("_")[0] for step in (*vector["setup"], vector["request"])}
    assert set(PENDING[identifier]) <= used
    assert PENDING[identifier]


def test_every_difference_names_a_reason_and_a_test_that_exists() -> None:
    """Ours: what we do otherwise on purpose is written down and held by a test."""
    root = HERE.parents[1]
    for entry in NOTES["difference"]:
        path, _, name = entry["test"].partition("::")
        assert entry["reason"]
        assert name.partition("::")[0] in (root / path).read_text(), entry["test"]
