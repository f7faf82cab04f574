"""Branches: `db.branches`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from strata_mcp.errors import NotFoundError, fail
from strata_mcp.sdk.arguments import natural, optional_natural, text
from strata_mcp.sdk.pages import Cursor, Page, read

if TYPE_CHECKING:
    from strata_mcp.clock import TimeLike
    from strata_mcp.results import common
    from strata_mcp.results.branches import (
        BranchComparisonItem,
        BranchDeleteResult,
        BranchItem,
        BranchPreviewItem,
        CommitItem,
        PromotionOutcomeItem,
        PromotionStrategy,
    )
    from strata_mcp.sdk.scope import Scope

LOG_LIMIT: Final = 100


def strategy_of(strategy: object) -> PromotionStrategy:
    """A merge strategy by its name; dashes do for underscores."""
    from strata_mcp.results.branches import PromotionStrategy

    if isinstance(strategy, PromotionStrategy):
        return strategy
    if isinstance(strategy, str):
        for known in PromotionStrategy:
            if strategy.replace("-", "_") == known.value:
                return known
    names = ", ".join(known.value for known in PromotionStrategy)
    raise fail(
        "invalid_argument.sdk.command",
        f"there is no merge strategy {strategy!r}; choose one of {names}",
        field="strategy",
    )


class BranchesNamespace:
    """
    The branches of the database. Calls name the branches they mean; the view's own branch matters to `log` only.

    A branch is a pointer: forking copies nothing. `name in db.branches` and iterating over names work too.
    """

    __slots__ = (
        "_branch",
        "_branches",
        "_cherry_pick",
        "_create",
        "_delete",
        "_fork",
        "_fork_at",
        "_fork_version",
        "_merge",
        "_revert",
    )

    def __init__(self, scope: Scope) -> None:
        """Bind the engine's calls, signed where the view has an author."""
        branches = scope.engine.branches
        self._branches = branches
        self._branch = scope.branch
        self._create = scope.signed(branches.create)
        self._fork = scope.signed(branches.fork)
        self._fork_version = scope.signed(branches.fork_at_version)
        self._fork_at = scope.signed(branches.fork_at_timestamp)
        self._delete = scope.signed(branches.delete)
        self._merge = scope.signed(branches.merge)
        self._revert = scope.signed(branches.revert)
        self._cherry_pick = scope.signed(branches.cherry_pick)

    def list(self) -> builtins.list[BranchItem]:
        """Every branch, ordered by name."""
        return self._branches.list().items

    def get(self, name: str) -> BranchItem | None:
        """One branch, or None when there is none of that name."""
        try:
            return self._branches.get(text(name, "name"))
        except NotFoundError:
            return None

    def create(self, name: str) -> BranchItem:
        """Make an empty branch, related to no other."""
        return self._create(text(name, "name"))

    def fork(self, source: str, name: str, *, version: int | None = None, timestamp: int | None = None) -> BranchItem:
        """
        Make a branch that starts as another one is, or was.

        Args:
            source: the branch to start from.
            name: the new branch.
            version: start behind exactly this commit of the source.
            timestamp: start at this position of the source's history; not together with `version`.
        """
        if version is not None and timestamp is not None:
            raise fail("invalid_argument.sdk.fork_ambiguous", field="version")
        if version is not None:
            return self.fork_at_version(source, name, version)
        if timestamp is not None:
            return self.fork_at_timestamp(source, name, timestamp)
        return self._fork(text(source, "source"), text(name, "name"))

    def fork_at_version(self, source: str, name: str, version: int) -> BranchItem:
        """Make a branch that starts as another one was behind one of its commits."""
        return self._fork_version(text(source, "source"), text(name, "name"), natural(version, "version"))

    def fork_at_timestamp(self, source: str, name: str, timestamp: int) -> BranchItem:
        """Make a branch that starts as another one was at a position of the commit counter."""
        return self._fork_at(text(source, "source"), text(name, "name"), natural(timestamp, "timestamp"))

    def delete(self, name: str) -> BranchDeleteResult:
        """Delete a branch. What it was is then unreadable; its forks live on."""
        return self._delete(text(name, "name"))

    def diff(
        self,
        branch_a: str,
        branch_b: str,
        *,
        as_of: int | None = None,
        as_of_time: TimeLike | None = None,
    ) -> BranchComparisonItem:
        """
        What turns one branch into another: keys added, removed and modified, by space and family.

        Args:
            branch_a: the branch to start from.
            branch_b: the branch to arrive at.
            as_of: compare both as they were at this commit number.
            as_of_time: refused; two branches have no common instant. Take the number from `log`.
        """
        if as_of_time is not None:
            raise fail(
                "invalid_argument.sdk.argument",
                "diff takes as_of=, a commit number, not as_of_time=; branches.log tells the number of a moment",
                field="as_of_time",
            )
        return self._branches.diff(
            text(branch_a, "branch_a"), text(branch_b, "branch_b"), optional_natural(as_of, "as_of")
        )

    def preview(self, source: str, target: str, *, strategy: str | PromotionStrategy = "strict") -> BranchPreviewItem:
        """What `merge` would meet; nothing is written."""
        return self._branches.preview(text(source, "source"), text(target, "target"), strategy_of(strategy))

    def merge(self, source: str, target: str, *, strategy: str | PromotionStrategy = "strict") -> PromotionOutcomeItem:
        """
        Apply what changed on a branch to its parent, or the other way round.

        Args:
            source: the branch whose changes are taken.
            target: the branch that gets them, in one commit.
            strategy: what to do when both changed a key: `strict` refuses and writes nothing, `source_wins`
                takes the source's value, `target_wins` keeps the target's.
        """
        return self._merge(text(source, "source"), text(target, "target"), strategy_of(strategy))

    def log(self, name: str | None = None, limit: int | None = LOG_LIMIT, *, cursor: Cursor = None) -> Page[CommitItem]:
        """
        The commits of a branch, newest first, inherited ones included.

        Args:
            name: the branch; the view's own without it.
            limit: at most so many; None reads on, page by page, as the caller iterates.
            cursor: continue behind the page that had this cursor.
        """
        branch = self._branch if name is None else text(name, "name")

        def fetch(before: Cursor, size: int) -> common.Page[CommitItem]:
            return self._branches.log(branch, limit=size, cursor=optional_natural(before, "cursor"))

        return read(fetch, cursor, limit)

    def revert(self, branch: str, version: int) -> PromotionOutcomeItem:
        """Undo one commit of a branch by a new commit that restores what it changed."""
        return self._revert(text(branch, "branch"), natural(version, "version"))

    def cherry_pick(self, source: str, version: int, into: str) -> PromotionOutcomeItem:
        """Apply one commit of a branch to another branch."""
        return self._cherry_pick(text(source, "source"), natural(version, "version"), text(into, "into"))

    def __contains__(self, name: object) -> bool:
        return self.get(text(name, "name")) is not None

    def __iter__(self) -> Iterator[str]:
        return iter([branch.name for branch in self.list()])
