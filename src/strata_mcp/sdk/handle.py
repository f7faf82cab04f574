"""The open database: `Strata`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from strata_mcp import __version__
from strata_mcp.errors import fail
from strata_mcp.model import DEFAULT_BRANCH, DEFAULT_SPACE
from strata_mcp.sdk.arguments import text
from strata_mcp.sdk.opening import open_engine
from strata_mcp.sdk.scope import Scope

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from types import TracebackType

    from strata_mcp.results.common import JsonValue
    from strata_mcp.sdk.admin import AdminNamespace
    from strata_mcp.sdk.branches import BranchesNamespace
    from strata_mcp.sdk.json import JSONNamespace
    from strata_mcp.sdk.kv import KVNamespace
    from strata_mcp.sdk.spaces import SpacesNamespace
    from strata_mcp.sdk.tags import TagsNamespace
    from strata_mcp.sdk.transactions import Transaction

LATER: Final = ("ai", "arrow", "events", "graphs", "vectors")


class Strata:
    """
    An open database, or a view of it on one branch and space.

    One handle may be used by many threads; views made by `at` share it. A forked child must open its own.

    Args:
        path: folder of the database; its last part is created when missing.
        cache: a database in memory instead, gone when it is closed.
        branch: the branch that calls go to; checked by the first of them.
        space: the space that calls go to.
        durability: `standard` (survives the process) or `always` (survives the machine).
        ipc: `host`, `client` or `off`; taken for compatibility, since processes share a database without a host.
        memory_budget: bytes the handle may keep in memory, from 1 MiB.
    """

    _scope: Scope
    _session: Scope

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        cache: bool = False,
        branch: str | None = None,
        space: str | None = None,
        durability: str | None = None,
        ipc: str | None = None,
        memory_budget: int | None = None,
    ) -> None:
        if branch is not None:
            text(branch, "branch")
        if space is not None:
            text(space, "space")
        engine = open_engine(path, cache, durability, ipc, memory_budget)
        self._session = Scope(
            engine, DEFAULT_BRANCH if branch is None else branch, DEFAULT_SPACE if space is None else space
        )
        self._scope = self._session

    @cached_property
    def kv(self) -> KVNamespace:
        """Keys and values."""
        from strata_mcp.sdk.kv import KVNamespace

        return KVNamespace(self._scope)

    @cached_property
    def json(self) -> JSONNamespace:
        """JSON documents."""
        from strata_mcp.sdk.json import JSONNamespace

        return JSONNamespace(self._scope)

    @cached_property
    def branches(self) -> BranchesNamespace:
        """Branches: fork, diff, merge, log."""
        from strata_mcp.sdk.branches import BranchesNamespace

        return BranchesNamespace(self._scope)

    @cached_property
    def spaces(self) -> SpacesNamespace:
        """Spaces of this view's branch."""
        from strata_mcp.sdk.spaces import SpacesNamespace

        return SpacesNamespace(self._scope)

    @cached_property
    def tags(self) -> TagsNamespace:
        """Names for moments."""
        from strata_mcp.sdk.tags import TagsNamespace

        return TagsNamespace(self._scope)

    @cached_property
    def admin(self) -> AdminNamespace:
        """The database as a whole."""
        from strata_mcp.sdk.admin import AdminNamespace

        return AdminNamespace(self._session)

    @property
    def version(self) -> str:
        """Version of Strata."""
        return __version__

    @property
    def branch(self) -> str:
        """The branch that calls of this view go to."""
        self._check_open()
        return self._scope.branch

    @property
    def space(self) -> str:
        """The space that calls of this view go to."""
        self._check_open()
        return self._scope.space

    @property
    def state(self) -> NoReturn:
        """Gone: the state cells of earlier generations are now `kv` and `json`."""
        raise fail("unsupported.sdk.state_removed")

    @property
    def hub(self) -> NoReturn:
        """Not in this release: exchange of data sets."""
        raise fail("unsupported.executor.hub_feature_disabled")

    if not TYPE_CHECKING:  # type checkers should report a name that is not there

        def __getattr__(self, name: str) -> NoReturn:
            """Say when a known name is of a later release."""
            later = f"; db.{name} comes with a later release" if name in LATER else ""
            raise AttributeError(f"'Strata' object has no attribute {name!r}{later}", name=name, obj=self)

    def execute(self, command: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """
        Run one command in wire form, as the MCP server would.

        A command that names no branch or space goes to those the database was opened with, on every view.

        Args:
            command: `{"type": ..., ...}`; `command_index()` lists what there is.

        Returns:
            `{"type": ..., "data": ...}`.
        """
        self._check_open()
        from strata_mcp.tools.dispatch import execute

        return execute(self._session.engine, command, self._session.branch, self._session.space)

    def at(self, *, branch: str | None = None, space: str | None = None, author: str | None = None) -> Strata:
        """
        A view of the same open database that reads and writes elsewhere.

        Closing a view closes the database. Names are checked by the first call that uses them.

        Args:
            branch: branch of the view; this one's without it.
            space: space of the view; this one's without it.
            author: who signs the view's commits; this one's author without it.
        """
        scope = self._scope
        view = Strata.__new__(Strata)
        view._session = self._session
        view._scope = Scope(
            scope.engine,
            scope.branch if branch is None else text(branch, "branch"),
            scope.space if space is None else text(space, "space"),
            scope.author if author is None else text(author, "author"),
        )
        return view

    @contextmanager
    def transaction(self, *, message: str = "", author: str = "") -> Iterator[Transaction]:
        """
        Make everything this thread writes on the view's branch inside the block one commit.

        Reads inside see the block's own writes. An exception drops all of them.

        Args:
            message: what the commit is for.
            author: who signs it; the view's author without it.

        Yields:
            The transaction; after the block its `commit` is the receipt.

        Raises:
            StrataError: `conflict.engine.persistence` when somebody changed a key that the block read or
                wrote; nothing was written then. Run the block again.
        """
        from strata_mcp.sdk.transactions import Transaction

        scope = self._scope
        store = scope.engine.store
        signed = text(author, "author") or scope.author
        with store.transaction(scope.branch, author=signed, message=text(message, "message") or None) as staged:
            transaction = Transaction(scope.branch, staged)
            yield transaction
        transaction.is_committed = True

    def close(self) -> None:
        """Close the database for this handle and all its views. Closing again does nothing."""
        self._scope.engine.close()

    def __enter__(self) -> Strata:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        self.close()
        return False

    def __repr__(self) -> str:
        scope = self._scope
        place = scope.engine.path or "cache"
        state = " closed" if scope.engine.closed else ""
        return f"<Strata {str(place)!r} branch={scope.branch!r} space={scope.space!r}{state}>"

    def _check_open(self) -> None:
        if self._scope.engine.closed:
            raise fail("failed_precondition.sdk.handle_closed")
