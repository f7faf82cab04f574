"""
What happens to open journals when their process forks.

A child shares the parent's locks and positions, so its handles must not be used. They are switched off
once, in the child, instead of asking for the process id at every call.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Handle(Protocol):
    """Something that must not be used in a forked child."""

    def forget_after_fork(self) -> None:
        """Switch off in the child, leaving the parent's resources alone."""


_open: weakref.WeakSet[Handle] = weakref.WeakSet()


def remember(handle: Handle) -> None:
    """Switch this handle off in every child forked from now on."""
    _open.add(handle)


def _forget_all() -> None:
    for handle in list(_open):
        handle.forget_after_fork()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
