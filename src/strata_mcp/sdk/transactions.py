"""The handle of one `with db.transaction()` block."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strata_mcp.results.common import CommitReceipt
    from strata_mcp.store.writer import Staged


class Transaction:
    """An open or finished transaction; `commit` tells what became of it."""

    __slots__ = ("_staged", "branch", "is_committed")

    def __init__(self, branch: str, staged: Staged) -> None:
        """`staged` collects the writes of the block."""
        self.branch = branch
        self.is_committed = False
        self._staged = staged

    @property
    def commit(self) -> CommitReceipt | None:
        """The receipt of the commit: None while the block runs, and when it wrote nothing."""
        return self._staged.receipt if self.is_committed else None
