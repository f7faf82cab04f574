"""Branches as pointers: create, fork, list, delete. A fork writes one record, whatever the size of the database."""

from __future__ import annotations

import msgspec

from strata_mcp.clock import branch_id
from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_BRANCH, BranchRecord, Family, RecordTuple
from strata_mcp.results.branches import (
    BranchCleanupItem,
    BranchDeleteResult,
    BranchItem,
    BranchMergeItem,
    BranchParentItem,
    BranchStatus,
)
from strata_mcp.results.common import MutationEffect, MutationEffectKind, Page
from strata_mcp.store.catalog import check_branch_name, encode_branch
from strata_mcp.store.lineage import NO_LIMIT, Node
from strata_mcp.store.store import Store
from strata_mcp.store.view import newest_position, position

FORK_TRAIL = 2
"""Numbers a creation occupies after its own, as in the peer (ADR 0003)."""
DELETE_TRAIL = 1


class Branches:
    """The branch commands over one store."""

    def __init__(self, store: Store, *, refuse_orphans: bool) -> None:
        """`refuse_orphans`: a branch with live forks cannot be deleted (durable databases)."""
        self._store = store
        self._refuse_orphans = refuse_orphans

    def get(self, branch: str) -> BranchItem:
        """One live branch."""
        check_branch_name(branch)
        self._store.catch_up()
        return branch_item(self._store.catalog.node(branch).record)

    def list(self) -> Page[BranchItem]:
        """Every live branch, by name bytes."""
        self._store.catch_up()
        with self._store.reading:
            return Page([branch_item(node.record) for node in self._store.catalog.live()])

    def create(self, branch: str) -> BranchItem:
        """An empty branch without ancestry."""
        check_branch_name(branch)
        with self._store.committing():
            generation = self._free_generation(branch)
            created_at = self._store.journal.head + 1
            record = BranchRecord(
                uid=created_at,
                name=branch,
                generation=generation,
                created_at=created_at,
                first=created_at + 1,
                newest=created_at + 1,
                state_revision=int(generation > 1),
            )
            self._write(record)
        return branch_item(record)

    def fork(self, source: str, branch: str) -> BranchItem:
        """A branch that starts as the source is now."""
        return self._fork(source, branch, None, None)

    def fork_at_version(self, source: str, branch: str, version: int) -> BranchItem:
        """A branch that starts as the source was after one of its commits."""
        return self._fork(source, branch, version, None)

    def fork_at_timestamp(self, source: str, branch: str, timestamp: int) -> BranchItem:
        """A branch that starts as the source was at any position of its history."""
        return self._fork(source, branch, None, timestamp)

    def delete(self, branch: str) -> BranchDeleteResult:
        """Remove a branch; its rows stay in the past of whoever inherited them."""
        if branch == DEFAULT_BRANCH:
            raise fail("invalid_argument.engine.branch_delete", branch=branch)
        check_branch_name(branch)
        store = self._store
        with store.committing():
            node = store.catalog.find(branch)
            if node is None:
                raise fail("invalid_argument.engine.branch_delete", f"there is no branch {branch!r}", branch=branch)
            if self._refuse_orphans and store.catalog.has_children(node.uid):
                raise fail("failed_precondition.engine.branch_has_children", branch=branch, branch_id=branch_id(branch))
            record = msgspec.structs.replace(
                node.record, deleted_at=store.journal.head + 1, state_revision=node.record.state_revision + 2
            )
            store.append(node.uid, [branch_record_tuple(record)], trail=DELETE_TRAIL)
            releasable = sum(1 for table in store.state.by_branch.get(node.uid, ()) if table.layers[node.uid].rows)
        return BranchDeleteResult(
            branch_item(record),
            True,
            MutationEffect(1, True, MutationEffectKind.DELETED, True),
            BranchCleanupItem(0, max(1, releasable), 1),
            record.generation,
            record.generation,
        )

    def _fork(self, source: str, branch: str, version: int | None, timestamp: int | None) -> BranchItem:
        check_branch_name(branch)
        with self._store.committing():
            generation = self._free_generation(branch)
            check_branch_name(source)
            parent = self._store.catalog.node(source)
            anchor = self._anchor(parent, version, timestamp)
            created_at = self._store.journal.head + 1
            record = BranchRecord(
                uid=created_at,
                name=branch,
                generation=generation,
                created_at=created_at,
                first=parent.record.first,
                newest=created_at + 1,
                parent_uid=parent.uid,
                parent_name=parent.name,
                parent_generation=parent.record.generation,
                fork_version=anchor,
                fork_timestamp=timestamp,
            )
            self._write(record)
        return branch_item(record)

    def _anchor(self, parent: Node, version: int | None, timestamp: int | None) -> int:
        state = self._store.state
        if version is not None:
            if not self._is_commit(parent, version):
                raise fail(
                    "history_unavailable.engine.persistence_history",
                    f"{version} is not a commit of {parent.name!r}; branch.log lists the commits",
                    reason="not a commit of the source",
                    branch=parent.name,
                    version=version,
                )
            return version
        if timestamp is None:
            return newest_position(state, parent)
        limit = position(state, parent, timestamp, None)
        for step, bound in parent.path(limit):
            entry = state.newest_commit(step.uid, bound)
            if entry is not None and entry.timestamp != step.record.created_at:
                return entry.timestamp
            if step.record.created_at is not None and step.record.newest <= bound:
                return step.record.newest
        return min(limit, parent.record.first)

    def _is_commit(self, node: Node, version: int) -> bool:
        if version == node.record.first:
            return True
        for step, bound in node.path(NO_LIMIT):
            if version > bound:
                continue
            created = step.record.created_at
            if created is not None and version in (created, created + 1):
                return True
            if self._store.state.commit(step.uid, version) is not None:
                return True
        return False

    def _free_generation(self, branch: str) -> int:
        catalog = self._store.catalog
        if catalog.find(branch) is not None:
            raise fail("already_exists.engine.branch", branch=branch)
        last = catalog.last_record(branch)
        return 1 if last is None else last.generation + 1

    def _write(self, record: BranchRecord) -> None:
        self._store.append(record.uid, [branch_record_tuple(record)], trail=FORK_TRAIL)


def branch_record_tuple(record: BranchRecord) -> RecordTuple:
    """The journal record that stores a branch's catalogue entry."""
    return (Family.BRANCH, "", record.name.encode(), encode_branch(record), 0)


def branch_item(record: BranchRecord) -> BranchItem:
    """What the branch commands tell about a branch."""
    parent = merged = None
    if record.parent_uid is not None:
        parent = BranchParentItem(
            branch_id(record.parent_name),
            record.fork_version,
            record.parent_generation,
            record.parent_name,
            record.fork_timestamp,
        )
    if record.merged_from_uid is not None:
        merged = BranchMergeItem(
            record.merged_at,
            branch_id(record.merged_from_name),
            record.merged_from_generation,
            record.merged_from_name,
            record.merged_at,
        )
    return BranchItem(
        branch_id(record.name),
        record.generation,
        record.name,
        record.state_revision,
        BranchStatus.ACTIVE if record.deleted_at is None else BranchStatus.DELETED,
        record.created_at,
        record.deleted_at,
        merged,
        parent,
    )
