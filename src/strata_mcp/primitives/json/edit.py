"""Reading and changing a decoded document at a path. Changes happen in place and return the new root."""

from __future__ import annotations

from typing import Any, Final

from strata_mcp.errors import StrataError, fail
from strata_mcp.primitives.json.path import Path, normal_path

MISSING: Final = object()
"""What `get` returns for a path that leads nowhere; a stored null is None."""


def get(document: Any, path: Path) -> Any:
    """The value at a path, or MISSING when any step does not fit."""
    for segment in path:
        if type(segment) is str:
            if type(document) is not dict or segment not in document:
                return MISSING
            document = document[segment]
        else:
            if type(document) is not list or segment >= len(document):  # type: ignore[operator]  # int here
                return MISSING
            document = document[segment]  # type: ignore[index]  # int here
    return document


def put(document: Any, path: Path, value: Any) -> Any:
    """
    Put a value at a path; missing or null parents of names become objects.

    `document` is MISSING when there is none yet.

    Raises:
        StrataError: `json_path_type` when a step meets the wrong container, `json_path_not_found` for
            an index past the end: arrays neither grow nor appear.
    """
    if not path:
        return value
    if type(document) is dict and _put_in_objects(document, path, value):
        return document
    root = {} if document is MISSING or (document is None and isinstance(path[0], str)) else document
    parent = root
    for position, segment in enumerate(path[:-1]):
        _expect(parent, segment, path, position)
        child = parent.get(segment, MISSING) if type(segment) is str else parent[segment]
        if child is MISSING or (child is None and isinstance(path[position + 1], str)):
            if not isinstance(path[position + 1], str):
                raise _clash(path, position + 1, "an array that does not exist")
            child = parent[segment] = {}
        parent = child
    _expect(parent, path[-1], path, len(path) - 1)
    parent[path[-1]] = value
    return root


def _put_in_objects(document: dict[str, Any], path: Path, value: Any) -> bool:
    """The common case, every step a name in an object that is there; False when the path is anything else."""
    parent = document
    for segment in path[:-1]:
        child = parent.get(segment) if type(segment) is str else None
        if type(child) is not dict:
            return False
        parent = child
    last = path[-1]
    if type(last) is not str:
        return False
    parent[last] = value
    return True


def remove(document: Any, path: Path) -> bool:
    """
    Remove what a (non-root) path leads to; False when there is nothing.

    Raises:
        StrataError: `json_path_type` when a step meets the wrong container.
    """
    for position, segment in enumerate(path[:-1]):
        if not _fits(document, segment, path, position):
            return False
        document = document[segment]
    if not _fits(document, path[-1], path, len(path) - 1):
        return False
    del document[path[-1]]
    return True


def _fits(container: Any, segment: str | int, path: Path, position: int) -> bool:
    if type(segment) is str:
        if type(container) is not dict:
            raise _clash(path, position, "something that is no object")
        return segment in container
    if type(container) is not list:
        raise _clash(path, position, "something that is no array")
    return segment < len(container)  # type: ignore[operator]  # int here


def _expect(container: Any, segment: str | int, path: Path, position: int) -> None:
    if not _fits(container, segment, path, position) and not isinstance(segment, str):
        raise fail(
            "invalid_argument.engine.json_path_not_found",
            f"index {segment} is past the end of an array of {len(container)}; arrays do not grow by themselves",
            path=normal_path(path),
        )


def _clash(path: Path, position: int, found: str) -> StrataError:
    return fail(
        "invalid_argument.engine.json_path_type",
        f"the path meets {found} at {normal_path(path[:position])!r}; read the document, then set a value that fits",
        path=normal_path(path),
        at=normal_path(path[:position]),
    )
