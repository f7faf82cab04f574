"""Where the calls of one view go: engine, branch, space, and the author who signs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from strata_mcp.engine import Engine

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a view binds. Names are not checked here; the first use does that."""

    engine: Engine
    branch: str
    space: str
    author: str | None = None

    def signed(self, write: Callable[P, R]) -> Callable[P, R]:
        """A writing call that signs its commits with the view's author; the call itself when there is none."""
        author = self.author
        if author is None:
            return write
        attribution = self.engine.store.attribution

        def signed_write(*args: P.args, **kwargs: P.kwargs) -> R:
            with attribution(author=author):
                return write(*args, **kwargs)

        return signed_write
