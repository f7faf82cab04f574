"""Several commands as one commit: `transaction.run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from strata_mcp.errors import StrataError, error_from_status, fail
from strata_mcp.results.common import BatchResult, CommitReceipt
from strata_mcp.tools import shapes
from strata_mcp.tools.fields import WriteArgs
from strata_mcp.tools.operation import SCOPE_ERRORS, WRITE_ERRORS, Operation
from strata_mcp.tools.wire import encode

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

Step = tuple[Operation[Any], Any]


class RunArgs(WriteArgs):
    """Arguments of `transaction.run`."""

    commands: list[dict[str, Any]] = Field(
        description="kv and json commands in wire form, run in order; each sees what the ones before it wrote"
    )


def _run(engine: Engine, args: RunArgs, branch: str, space: str) -> object:
    steps = [_step(command, index) for index, command in enumerate(args.commands)]
    done: list[tuple[Operation[Any], Any]] = []
    with engine.store.transaction(branch, author=args.author, message=args.message) as staged:
        for index, (operation, arguments) in enumerate(steps):
            try:
                result = operation.call(engine, arguments, branch, space)
                _refuse_failed_items(result)
            except StrataError as error:
                raise _located(error, index, operation.wire) from None
            done.append((operation, result))
    for _, result in done:
        _share(result, staged.receipt)
    return {"commit": staged.receipt, "results": [operation.answer(result) for operation, result in done]}


def _step(command: dict[str, Any], index: int) -> Step:
    """One command of the transaction, checked before anything runs."""
    from strata_mcp.tools.dispatch import read

    try:
        operation, arguments = read(command)
    except StrataError as error:
        raise _located(error, index, str(command.get("type", "?"))[:40]) from None
    if not operation.transactional:
        raise fail(
            "invalid_argument.sdk.command",
            f"commands[{index}]: {operation.wire} cannot be part of a transaction; kv and json commands can",
            field=f"commands[{index}].type",
        )
    for name in ("author", "message"):
        if getattr(arguments, name, None) is not None:
            raise fail(
                "invalid_argument.sdk.command",
                f"commands[{index}]: `{name}` belongs to the transaction, which makes one commit",
                field=f"commands[{index}].{name}",
            )
    return operation, arguments


def _located(error: StrataError, index: int, wire: str) -> StrataError:
    """The same error, saying which command met it."""
    error.message = f"commands[{index}] ({wire}): {error.message}"
    error.details["command_index"] = str(index)
    return error


def _refuse_failed_items(result: object) -> None:
    """All or nothing: a batch with a faulty entry fails the transaction."""
    if isinstance(result, BatchResult):
        for item in result.items:
            if item.error is not None:
                raise error_from_status(encode(item.error))


def _share(result: object, receipt: CommitReceipt | None) -> None:
    """Batches learn of the commit only now."""
    if isinstance(result, BatchResult) and result.applied:
        result.commit = receipt
        for item in result.items:
            if item.applied:
                item.commit = receipt


OPERATIONS: Final[tuple[Operation[Any], ...]] = (
    Operation(
        id="transaction.run",
        wire="transaction",
        tag="transaction_result",
        summary="Run several kv and json commands as one commit: all of them, or none.",
        detail=(
            "Any error drops everything. When somebody changed a key that it read or wrote meanwhile, it answers "
            "conflict.engine.persistence; run it again."
        ),
        args=RunArgs,
        result=shapes.TransactionResult,
        run=_run,
        access="write",
        idempotent=False,
        own_errors=(
            *SCOPE_ERRORS,
            *WRITE_ERRORS,
            "conflict.engine.branch_generation",
            "conflict.engine.persistence",
            "conflict.engine.version",
            "failed_precondition.engine.transaction_open",
            "invalid_argument.engine.transaction",
        ),
        example={
            "type": "transaction",
            "commands": [
                {"type": "kv_put", "key": "YQ==", "value": "MQ=="},
                {"type": "kv_put", "key": "Yg==", "value": "Mg=="},
            ],
            "message": "two keys that belong together",
        },
    ),
)
