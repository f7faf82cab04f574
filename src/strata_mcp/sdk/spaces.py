"""Spaces of a branch: `db.spaces`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_mcp.sdk.arguments import flag, text

if TYPE_CHECKING:
    from strata_mcp.results.branches import SpaceCreateResult, SpaceDeleteResult
    from strata_mcp.sdk.scope import Scope


class SpacesNamespace:
    """
    The spaces of the view's branch: separate sets of keys.

    The first write into a space makes it. `name in db.spaces` and iterating over names work too.
    """

    __slots__ = ("_branch", "_create", "_delete", "_spaces")

    def __init__(self, scope: Scope) -> None:
        """Bind the engine's calls, signed where the view has an author."""
        spaces = scope.engine.spaces
        self._spaces = spaces
        self._branch = scope.branch
        self._create = scope.signed(spaces.create)
        self._delete = scope.signed(spaces.delete)

    def list(self) -> builtins.list[str]:
        """Names of the spaces, in order."""
        return self._spaces.list(self._branch).items

    def create(self, name: str) -> SpaceCreateResult:
        """Make a space; making one that is there already changes nothing."""
        return self._create(self._branch, text(name, "name"))

    def exists(self, name: str) -> bool:
        """Whether there is a space of that name."""
        return self._spaces.exists(self._branch, text(name, "name"))

    def delete(self, name: str, *, force: bool = False) -> SpaceDeleteResult:
        """
        Delete a space.

        Args:
            name: the space; not `default`.
            force: delete what it holds along with it. Without it, a space that holds something stays.
        """
        return self._delete(self._branch, text(name, "name"), force=flag(force, "force"))

    def __contains__(self, name: object) -> bool:
        return self.exists(text(name, "name"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.list())
