"""
Every call to the operating system that changes a database's files goes through here.

Tests hand in a double that fails or dies at the n-th call; nothing else needs to know about it.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_NOT_SUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS})


def _call(name: str) -> Callable[..., Any]:
    """Find a call of `os` that not every platform has; the journal refuses to open where one is missing."""
    found: Callable[..., Any] | None = getattr(os, name, None)
    if found is not None:
        return found

    def missing(*_arguments: object) -> Any:
        raise OSError(errno.ENOSYS, f"this platform has no {name}")

    return missing


class OsIo:
    """The operating system itself. The calls of the hot path are its own functions, with nothing around them."""

    open = staticmethod(os.open)
    pwrite: Callable[[int, bytes | memoryview, int], int] = staticmethod(_call("pwrite"))
    pread: Callable[[int, int, int], bytes] = staticmethod(_call("pread"))
    ftruncate: Callable[[int, int], None] = staticmethod(_call("ftruncate"))
    fsync: Callable[[int], None] = staticmethod(os.fsync)
    fdatasync: Callable[[int], None] = staticmethod(_call("fdatasync") if hasattr(os, "fdatasync") else os.fsync)
    rename = staticmethod(os.replace)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    close = staticmethod(os.close)

    def fallocate(self, fd: int, size_bytes: int) -> None:
        """Reserve disk space so that the file is at least `size_bytes` long, the new part reading as zeros."""
        try:
            os.posix_fallocate(fd, 0, size_bytes)
        except AttributeError:
            self._grow(fd, size_bytes)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                raise
            self._grow(fd, size_bytes)

    def _grow(self, fd: int, size_bytes: int) -> None:
        if os.fstat(fd).st_size < size_bytes:
            os.ftruncate(fd, size_bytes)

    def fsync_dir(self, path: str | os.PathLike[str]) -> None:
        """Make the names in a folder durable."""
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def step(self, label: str) -> None:
        """Mark a point other layers want to be able to fail at; does nothing here."""
