"""
Background upkeep of an open database: checkpoints by size, by time and at the end, and short memory.

One thread looks at the journal's size now and then; the work itself is done by a worker process, so
neither readers nor writers wait for it.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from strata_mcp.errors import StrataError

if TYPE_CHECKING:
    from strata_mcp.store.store import Store
    from strata_mcp.tables.checkpoint import CheckpointOutcome
    from strata_mcp.tables.worker import CheckpointWorker

CHECKPOINT_BYTES: Final = 16 << 20
"""Journal size that calls for a checkpoint."""
CHECKPOINT_AGE_S: Final = 60.0
"""How long commits may wait for a checkpoint."""
LOOK_EVERY_S: Final = 1.0
RETRY_AFTER_S: Final = 30.0

_logger = logging.getLogger("strata")


class Upkeep:
    """Keeps the journal short and the memory within its budget."""

    def __init__(
        self, store: Store, path: Path, memory_budget: int, *, checkpoint_bytes: int = CHECKPOINT_BYTES
    ) -> None:
        """Start looking."""
        self._store = store
        self._path = path
        self._overlay_bytes_max = memory_budget // 2
        self._checkpoint_bytes = checkpoint_bytes
        self._stop = threading.Event()
        self._worker: CheckpointWorker | None = None
        self._worker_lock = threading.Lock()
        self._age_s = 0.0
        self.checkpointed = store.state.floor
        self.last_error: StrataError | None = None
        self._thread = threading.Thread(target=self._look_after, name="strata-upkeep", daemon=True)
        self._thread.start()

    def run(self, kind: Literal["checkpoint", "compact"]) -> CheckpointOutcome:
        """Run one command in the worker process and wait for it."""
        outcome = self._worker_process().run(kind)
        self._note(outcome)
        return outcome

    def close(self, *, checkpoint: bool) -> None:
        """Stop looking; checkpoint what is left. A failure is logged: the journal still holds everything."""
        self._stop.set()
        self._thread.join()
        if checkpoint and self._is_behind():
            try:
                self.run("checkpoint")
            except StrataError as error:
                self.last_error = error
                _logger.warning("the checkpoint at close failed, the journal keeps the commits: %s", error)
        if self._worker is not None:
            self._worker.close()

    def _look_after(self) -> None:
        pause_s = LOOK_EVERY_S
        while not self._stop.wait(pause_s):
            pause_s = LOOK_EVERY_S
            try:
                self._look()
            except StrataError as error:
                if self._stop.is_set():
                    return
                self.last_error = error
                pause_s = RETRY_AFTER_S
                _logger.warning("background checkpoint failed, trying again later: %s", error)

    def _look(self) -> None:
        store = self._store
        is_full = store.state.overlay_bytes > self._overlay_bytes_max
        if self._is_behind():
            self._age_s += LOOK_EVERY_S
            is_due = self._age_s >= CHECKPOINT_AGE_S or store.journal.size_bytes() >= self._checkpoint_bytes
            if is_due or is_full:
                self.run("checkpoint")
                self._age_s = 0.0
                self.last_error = None
        if is_full and not self._is_behind():
            store.reload()

    def _is_behind(self) -> bool:
        return self._store.damage is None and self._store.state.newest > self.checkpointed

    def _note(self, outcome: CheckpointOutcome) -> None:
        if outcome.checkpoint_ts > self.checkpointed:
            self.checkpointed = outcome.checkpoint_ts

    def _worker_process(self) -> CheckpointWorker:
        with self._worker_lock:
            if self._worker is None:
                from strata_mcp.tables.worker import CheckpointWorker

                self._worker = CheckpointWorker(self._path)
            return self._worker
