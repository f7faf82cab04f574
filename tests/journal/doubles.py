"""Stand-ins for the operating system that fail, die or lose power at a chosen call."""

from __future__ import annotations

import errno
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strata_mcp.journal.io import OsIo

CHANGING = ("open", "pwrite", "fallocate", "ftruncate", "fsync", "fdatasync", "rename", "unlink", "fsync_dir", "mkdir")
"""Calls that count as steps, and `step` with them."""


class _WatchedIo(OsIo):
    """Calls `before` and `after` around every call that changes something."""

    def __init__(self) -> None:
        for name in CHANGING:
            setattr(self, name, self._watched(name, getattr(self, name)))

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self.before(name, arguments, call)
            result = call(*arguments)
            self.after(name, arguments, result)
            return result

        return watched

    def step(self, label: str) -> None:
        """Count a step of another layer."""
        self.before(f"step:{label}", (), lambda: None)

    def before(self, name: str, arguments: tuple[Any, ...], call: Callable[..., Any]) -> None:
        """Act before the call."""

    def after(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Act after the call."""


class CrashIo(_WatchedIo):
    """
    Kills its process at the n-th moment (from 1): before a call, in the middle of a write, after a call.

    With n = 0 nothing dies and `moments` counts how many there are.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self.moments = 0

    def before(self, name: str, arguments: tuple[Any, ...], call: Callable[..., Any]) -> None:
        """Die before the call, or with half of a write done."""
        self._moment()
        if name == "pwrite" and self.n == self.moments + 1:
            fd, data, offset = arguments
            call(fd, bytes(data)[: len(data) // 2], offset)
        if name == "pwrite":
            self._moment()

    def after(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Die after the call, before anybody heard of its success."""
        self._moment()

    def _moment(self) -> None:
        self.moments += 1
        if self.moments == self.n:
            os.kill(os.getpid(), signal.SIGKILL)


class FaultIo(_WatchedIo):
    """
    Fails the n-th step (from 1) with an error of the operating system; a failing write leaves half its bytes.

    Args:
        n: the step; 0 fails none and `steps` counts.
        code: errno of the failure.
        name: count only calls of this name.
        is_lasting: fail every later counted step as well.
    """

    def __init__(self, n: int, code: int = errno.ENOSPC, *, name: str | None = None, is_lasting: bool = False) -> None:
        super().__init__()
        self.n = n
        self.code = code
        self.name = name
        self.is_lasting = is_lasting
        self.steps = 0

    def before(self, name: str, arguments: tuple[Any, ...], call: Callable[..., Any]) -> None:
        """Fail when it is time."""
        if self.name is not None and name != self.name:
            return
        self.steps += 1
        if self.n and (self.steps == self.n or (self.is_lasting and self.steps > self.n)):
            if name == "pwrite":
                fd, data, offset = arguments
                call(fd, bytes(data)[: len(data) // 2], offset)
            raise OSError(self.code, os.strerror(self.code))


class CountingIo(_WatchedIo):
    """Counts calls by name."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, int] = {}

    def before(self, name: str, arguments: tuple[Any, ...], call: Callable[..., Any]) -> None:
        """Count."""
        self.calls[name] = self.calls.get(name, 0) + 1


class PowerCut(BaseException):
    """The machine is off."""


class PowerCutIo(_WatchedIo):
    """
    Stops the workload at the n-th step and can then show the disk as a power cut may leave it.

    What was synced is kept. Of what was written since, any part may have reached the disk.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.steps = 0
        self._paths: dict[int, str] = {}
        self._durable: dict[str, bytes] = {}
        self._pending: dict[str, list[tuple[int, bytes]]] = {}
        super().__init__()

    def before(self, name: str, arguments: tuple[Any, ...], call: Callable[..., Any]) -> None:
        """Cut the power when it is time."""
        self.steps += 1
        if self.steps == self.n:
            raise PowerCut

    def after(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Remember what has reached the disk and what has not."""
        if name == "open":
            self._paths[result] = os.fspath(arguments[0])
            return
        path = self._paths.get(arguments[0]) if arguments and isinstance(arguments[0], int) else None
        if path is None:
            return
        if name in {"fsync", "fdatasync"}:
            self._durable[path] = Path(path).read_bytes()
            self._pending[path] = []
        elif name == "pwrite":
            self._pending.setdefault(path, []).append((arguments[2], bytes(arguments[1])))

    def leave_disk(self, rng: random.Random, piece_bytes: int = 48) -> None:
        """Rewrite the files the way the power cut left them."""
        for path in set(self._paths.values()):
            if not path.endswith(".log") or not os.path.exists(path):
                continue
            content = bytearray(self._durable.get(path, b""))
            for offset, data in self._pending.get(path, []):
                for at in range(0, len(data), piece_bytes):
                    if rng.random() < 0.6:
                        piece = data[at : at + piece_bytes]
                        content.extend(bytes(max(0, offset + at + len(piece) - len(content))))
                        content[offset + at : offset + at + len(piece)] = piece
            Path(path).write_bytes(content)
