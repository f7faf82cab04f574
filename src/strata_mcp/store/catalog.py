"""
The branch catalogue: names to nodes, decoded from the records of the BRANCH family.

Nodes are shared by everything that reads; a node's `record` follows the newest version of its row.
"""

from __future__ import annotations

import msgspec

from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_BRANCH, BranchRecord, Commit, Family, Row
from strata_mcp.store.lineage import GLOBAL_NODE, NO_LIMIT, Node, default_record
from strata_mcp.store.scan import Range, live_rows
from strata_mcp.store.state import State

BRANCH_NAME_BYTES_MAX = 255
NIL_UUID = "00000000-0000-0000-0000-000000000000"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(BranchRecord).decode


def encode_branch(record: BranchRecord) -> bytes:
    """JSON text of a branch record, as stored."""
    return _encode(record)


def check_branch_name(name: str) -> None:
    """Refuse names no branch can have; the reserved ones get their own code."""
    size = len(name.encode(errors="surrogatepass"))
    if not name.strip() or size > BRANCH_NAME_BYTES_MAX or name == NIL_UUID:
        raise fail(
            "invalid_argument.engine.branch_name",
            f"a branch name has 1 to {BRANCH_NAME_BYTES_MAX} bytes and is not blank; this one has {size}",
            branch=name[:80],
        )
    if any(ord(char) < 0x20 or ord(char) == 0x7F or 0xD800 <= ord(char) <= 0xDFFF for char in name):
        raise fail(
            "invalid_argument.engine.branch_name",
            "a branch name holds no control characters and no lone surrogates",
            branch=ascii(name)[:80],
        )
    if name.startswith("_"):
        raise fail("invalid_argument.engine.branch_name_reserved", branch=name)


class Catalog:
    """Live branches of one state, by name."""

    def __init__(self, state: State, nodes: dict[int, Node]) -> None:
        """`nodes` outlives states: ancestry never changes."""
        self._state = state
        self._nodes = nodes
        state.nodes = nodes
        self.by_name: dict[str, Node] = {}
        self._children: dict[int, set[int]] | None = None

    def node(self, name: str) -> Node:
        """The live branch of that name, or not_found."""
        found = self.by_name.get(name)
        if found is None:
            found = self.find(name)
            if found is None:
                check_branch_name(name)
                raise fail("not_found.engine.branch", branch=name)
        return found

    def find(self, name: str) -> Node | None:
        """The live branch of that name, or None."""
        found = self.by_name.get(name)
        if found is None:
            record = self.last_record(name)
            if record is None or record.deleted_at is not None:
                return None
            found = self.by_name[name] = self._node_of(record)
        return found

    def last_record(self, name: str) -> BranchRecord | None:
        """Newest record under the name, deleted lives included."""
        row = self._row(name)
        if row is not None and row[1] is not None:
            return _decode(row[1])
        return default_record() if name == DEFAULT_BRANCH else None

    def live(self) -> list[Node]:
        """Every live branch in byte order of its name."""
        table = self._state.table(Family.BRANCH, "")
        nodes = {DEFAULT_BRANCH.encode(): self.node(DEFAULT_BRANCH)}
        for key, row in live_rows(self._state, GLOBAL_NODE, table, NO_LIMIT, Range(), 0):
            name = key.decode()
            node = self.by_name.get(name)
            if node is None:
                record = _decode(row[1] or b"")
                if record.deleted_at is not None:
                    continue
                node = self.by_name[name] = self._node_of(record)
            nodes[key] = node
        return [nodes[key] for key in sorted(nodes)]

    def has_children(self, uid: int) -> bool:
        """Whether a live branch was forked from this one."""
        if self._children is None:
            children: dict[int, set[int]] = {}
            for node in self.live():
                if node.parent is not None:
                    children.setdefault(node.parent.uid, set()).add(node.uid)
            self._children = children
        return bool(self._children.get(uid))

    def note(self, commit: Commit) -> None:
        """Follow the branch records of a commit that was just applied."""
        for family, _, key, value, _ in commit.records:
            if family != Family.BRANCH or value is None:
                continue
            name = key.decode()
            record = _decode(value)
            alive = record.deleted_at is None
            if self._children is not None and record.parent_uid is not None:
                siblings = self._children.setdefault(record.parent_uid, set())
                (siblings.add if alive else siblings.discard)(record.uid)
            known = self._nodes.get(record.uid)
            if known is not None:
                known.record = record
            if not alive:
                self.by_name.pop(name, None)
            elif known is not None:
                self.by_name[name] = known
            else:
                self.by_name.pop(name, None)

    def _row(self, name: str) -> Row | None:
        key = name.encode(errors="surrogatepass")
        return self._state.row(GLOBAL_NODE, self._state.table(Family.BRANCH, ""), key, NO_LIMIT)

    def _node_of(self, record: BranchRecord) -> Node:
        """Node of a record, after those of its ancestors; iterative, lineages can be deep."""
        pending: list[BranchRecord] = []
        step: BranchRecord | None = record
        while step is not None and step.uid not in self._nodes:
            pending.append(step)
            step = self._parent_record(step)
        for missing in reversed(pending):
            parent = self._nodes.get(missing.parent_uid) if missing.parent_uid is not None else None
            self._nodes[missing.uid] = Node(missing, parent)
        node = self._nodes[record.uid]
        node.record = record
        return node

    def _parent_record(self, record: BranchRecord) -> BranchRecord | None:
        if record.parent_uid is None:
            return None
        known = self._nodes.get(record.parent_uid)
        if known is not None:
            return known.record
        table = self._state.table(Family.BRANCH, "")
        for row in self._state.versions(GLOBAL_NODE, table, record.parent_name.encode(), NO_LIMIT):
            candidate = _decode(row[1] or b"")
            if candidate.uid == record.parent_uid:
                return candidate
        if record.parent_name == DEFAULT_BRANCH:
            return default_record()
        raise fail("data_loss.engine.branch_catalog", branch=record.name, parent=record.parent_name)
