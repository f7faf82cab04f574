"""Spaces: named partitions of a branch. A space exists once something was written in it, or by creation."""

from __future__ import annotations

from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_SPACE, USER_FAMILIES, Family, RecordTuple
from strata_mcp.results.branches import SpaceCreateResult, SpaceDeleteResult
from strata_mcp.results.common import CommitReceipt, MutationEffect, MutationEffectKind, Page
from strata_mcp.store.lineage import NO_LIMIT
from strata_mcp.store.store import Store


class Spaces:
    """The space commands over one store."""

    def __init__(self, store: Store) -> None:
        """Work on a store."""
        self._store = store

    def list(self, branch: str) -> Page[str]:
        """Every space of a branch, by name bytes."""
        keys = set(self._store.view(branch).keys(Family.SPACE, "")) | {DEFAULT_SPACE.encode()}
        return Page([key.decode() for key in sorted(keys)])

    def exists(self, branch: str, space: str) -> bool:
        """Whether the branch has the space."""
        self._store.space(space)
        view = self._store.view(branch)
        return space == DEFAULT_SPACE or view.get(Family.SPACE, "", space.encode()) is not None

    def create(self, branch: str, space: str) -> SpaceCreateResult:
        """Register a space; one that is there already is left alone."""
        self._store.space(space)
        receipt: CommitReceipt | None = None
        with self._store.committing():
            node = self._store.catalog.node(branch)
            if not self._is_registered(branch, space):
                receipt = self._store.append(node.uid, [(Family.SPACE, "", space.encode(), b"{}", 0)])
                receipt.put_count = 1
        effect = (
            MutationEffect(0, False, MutationEffectKind.UNCHANGED, True)
            if receipt is None
            else MutationEffect(1, True, MutationEffectKind.CREATED, False)
        )
        return SpaceCreateResult(space, effect, receipt)

    def delete(self, branch: str, space: str, force: bool = False) -> SpaceDeleteResult:
        """
        Remove a space; with `force` its rows get tombstones in the same commit.

        Raises:
            StrataError: `failed_precondition.engine.space_not_empty` without `force` while rows are visible.
        """
        self._store.space(space)
        store = self._store
        with store.committing():
            node = store.catalog.node(branch)
            if space == DEFAULT_SPACE:
                raise fail("invalid_argument.engine.space_delete_default", space=space)
            if not self._is_registered(branch, space):
                effect = MutationEffect(0, False, MutationEffectKind.NOT_FOUND, False)
                return SpaceDeleteResult(space, force, 0, effect, None)
            view = store.view(branch)
            families = (*USER_FAMILIES, Family.JSON_INDEX)
            records: list[RecordTuple] = [
                (family, space, key, None, 0) for family in families for key in view.keys(family, space)
            ]
            rows = sum(record[0] in USER_FAMILIES for record in records)
            if rows and not force:
                raise fail("failed_precondition.engine.space_not_empty", space=space, rows=rows)
            records.append((Family.SPACE, "", space.encode(), None, 0))
            receipt = store.append(node.uid, records)
        effect = MutationEffect(1, True, MutationEffectKind.DELETED, True)
        return SpaceDeleteResult(space, force, rows, effect, receipt)

    def _is_registered(self, branch: str, space: str) -> bool:
        if space == DEFAULT_SPACE:
            return True
        state = self._store.state
        row = state.row(self._store.catalog.node(branch), state.table(Family.SPACE, ""), space.encode(), NO_LIMIT)
        return row is not None and row[1] is not None
