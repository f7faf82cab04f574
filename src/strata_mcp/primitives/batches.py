"""Effects and batch results, the same for every family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from strata_mcp.errors import StrataError
from strata_mcp.results.common import (
    BatchItem,
    BatchItemStatus,
    BatchMode,
    BatchResult,
    BatchStatus,
    MutationEffect,
    MutationEffectKind,
)

if TYPE_CHECKING:
    from strata_mcp.store.writer import Staged

CREATED: Final = MutationEffect(1, True, MutationEffectKind.CREATED, False)
UPDATED: Final = MutationEffect(1, True, MutationEffectKind.UPDATED, True)
DELETED: Final = MutationEffect(1, True, MutationEffectKind.DELETED, True)
NOT_FOUND: Final = MutationEffect(0, False, MutationEffectKind.NOT_FOUND, False)


def failed(index: int, error: StrataError, result: Any = None) -> BatchItem:
    """An entry that could not be carried out."""
    return BatchItem(index, BatchItemStatus.ERROR, False, result, error.to_status())


def written(items: list[BatchItem], staged: Staged) -> BatchResult:
    """Share the commit with every applied item and sum the statuses up; an open transaction fills it in later."""
    applied = errors = 0
    receipt = staged.receipt
    if receipt is None and staged.is_transaction and any(item.applied for item in items):
        receipt = staged.pending_receipt()
    for item in items:
        if item.applied:
            item.commit = receipt
            applied += 1
        elif item.error is not None:
            errors += 1
    if errors == len(items) and items:
        status = BatchStatus.ERROR
    elif errors or 0 < applied < len(items):
        status = BatchStatus.PARTIAL
    else:
        status = BatchStatus.OK
    return BatchResult(status, BatchMode.ITEMWISE, applied > 0, items, receipt if applied else None)


def read(items: list[BatchItem]) -> BatchResult:
    """Sum up a batch of reads: any miss or error makes it partial, nothing but errors makes it an error."""
    statuses = {item.status for item in items}
    if statuses == {BatchItemStatus.ERROR}:
        status = BatchStatus.ERROR
    elif statuses <= {BatchItemStatus.OK}:
        status = BatchStatus.OK
    else:
        status = BatchStatus.PARTIAL
    return BatchResult(status, BatchMode.ITEMWISE, False, items)
