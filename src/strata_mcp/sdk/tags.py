"""Names for moments: `db.tags`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_mcp.errors import NotFoundError
from strata_mcp.sdk.arguments import optional_natural, text

if TYPE_CHECKING:
    from strata_mcp.results.branches import TagItem
    from strata_mcp.sdk.scope import Scope


class TagsNamespace:
    """
    Tags of the database: names for commits that stay when the branch moves on.

    Read at a tag with `as_of=db.tags.get(name).version`. `name in db.tags` and iterating over names work too.
    """

    __slots__ = ("_branch", "_create", "_delete", "_tags")

    def __init__(self, scope: Scope) -> None:
        """Bind the engine's calls, signed where the view has an author."""
        tags = scope.engine.tags
        self._tags = tags
        self._branch = scope.branch
        self._create = scope.signed(tags.create)
        self._delete = scope.signed(tags.delete)

    def create(self, name: str, *, branch: str | None = None, version: int | None = None, message: str = "") -> TagItem:
        """
        Name a commit.

        Args:
            name: the tag.
            branch: the branch of the commit; the view's own without it.
            version: the commit's number; the branch's newest without it.
            message: why it is worth a name.
        """
        return self._create(
            text(name, "name"),
            self._branch if branch is None else text(branch, "branch"),
            optional_natural(version, "version"),
            message=text(message, "message"),
        )

    def get(self, name: str) -> TagItem | None:
        """One tag, or None when there is none of that name."""
        try:
            return self._tags.get(text(name, "name"))
        except NotFoundError:
            return None

    def list(self) -> builtins.list[TagItem]:
        """Every tag, ordered by name."""
        return self._tags.list().items

    def delete(self, name: str) -> bool:
        """Remove a tag, never the commit; False when there was none of that name."""
        return self._delete(text(name, "name"))

    def __contains__(self, name: object) -> bool:
        return self.get(text(name, "name")) is not None

    def __iter__(self) -> Iterator[str]:
        return iter([tag.name for tag in self.list()])
