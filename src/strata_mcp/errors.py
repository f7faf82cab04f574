"""
One tree of errors, grouped by what a handler does about them.

Every error carries a stable code, a message that says what happened, a hint that says what to do
next, and whether trying again can help. Codes and texts stand in `strata_mcp.error_registry`, which
is loaded with the first error.
"""

from __future__ import annotations

from typing import Any

DOCS_PAGE = "docs/errors.md"


class StrataError(Exception):
    """
    Base of all errors Strata raises on purpose.

    Attributes:
        code: stable, `class.layer.name`; never reused for another meaning.
        error_class: one of the 16 classes, the first part of nearly every code.
        message: what happened, for a person or a model to read.
        hint: what to do next.
        ref: where the code is documented.
        reference_id: tells this occurrence apart from others.
        retry_policy: never, after_state_change, same_request, idempotent_only or unknown.
        retryable: whether some retry can succeed.
        commit_outcome: what is known about the write that failed.
        details: facts as text, by name.
        hints: further advice.
        trace_id: id of the request it belongs to, when there is one.
    """

    error_class = "internal"

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        retry_policy: str = "never",
        commit_outcome: str = "not_applicable",
        details: dict[str, str] | None = None,
        retryable: bool | None = None,
        reference_id: str | None = None,
        hints: list[str] | None = None,
        trace_id: str | None = None,
        ref: str | None = None,
        error_class: str | None = None,
    ) -> None:
        """Fill the fields; `fail` does it from the registry."""
        from strata_mcp.clock import new_id

        super().__init__(code, message)
        self.code = code
        self.message = message
        self.hint = hint
        self.ref = ref if ref is not None else f"{DOCS_PAGE}#{code}"
        self.reference_id = reference_id or new_id()[:16]
        self.retry_policy = retry_policy
        self.retryable = retry_policy not in ("never", "unknown") if retryable is None else retryable
        self.commit_outcome = commit_outcome
        self.details = details or {}
        self.hints = hints or []
        self.trace_id = trace_id
        if error_class is not None:
            self.error_class = error_class

    @property
    def status(self) -> dict[str, Any]:
        """The error as it goes over the wire."""
        status: dict[str, Any] = {
            "class": self.error_class,
            "code": self.code,
            "retry_policy": self.retry_policy,
            "retryable": self.retryable,
            "commit_outcome": self.commit_outcome,
            "message": self.message,
            "suggested_fix": self.hint,
            "docs_url": self.ref,
            "reference_id": self.reference_id,
        }
        if self.details:
            status["details"] = [{"key": key, "value": value} for key, value in self.details.items()]
        if self.hints:
            status["hints"] = list(self.hints)
        if self.trace_id is not None:
            status["trace_id"] = self.trace_id
        return status

    def to_status(self) -> Any:
        """The error as the typed value batch items carry."""
        from strata_mcp.results import common

        return common.ErrorStatus(
            common.ErrorClass(self.error_class),
            self.code,
            common.CommitOutcomeStatus(self.commit_outcome),
            self.ref,
            self.message,
            self.reference_id,
            common.RetryPolicy(self.retry_policy),
            self.retryable,
            self.hint,
            [common.ErrorDetail(key, value) for key, value in self.details.items()],
            list(self.hints),
            self.trace_id,
        )

    def __str__(self) -> str:
        """Code and message, then hint and reference on lines of their own."""
        lines = [f"{self.code}: {self.message}"]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        lines.append(f"  ref: {self.ref}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Class and code."""
        return f"{type(self).__name__}(code={self.code!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle through the wire form."""
        return error_from_status, (self.status,)


class NotFoundError(StrataError, LookupError):
    """Something named in the call does not exist."""

    error_class = "not_found"


class AlreadyExistsError(StrataError):
    """The name is taken."""

    error_class = "already_exists"


class InvalidArgumentError(StrataError, ValueError):
    """The call itself is wrong; correct it and call again."""

    error_class = "invalid_argument"


class FailedPreconditionError(StrataError):
    """The call is fine but the database is not in the state it needs."""

    error_class = "failed_precondition"


class AccessDeniedError(StrataError):
    """The handle may not do this."""

    error_class = "access_denied"


class ConflictError(StrataError):
    """Somebody else changed what the call relied on; read again and decide anew."""

    error_class = "conflict"


class AmbiguousCommitError(StrataError):
    """The write may or may not have happened; read it back."""

    error_class = "ambiguous_commit"


class HistoryUnavailableError(StrataError):
    """The moment asked for lies outside what the branch remembers."""

    error_class = "history_unavailable"


class UnsupportedError(StrataError):
    """This database or this release cannot do that."""

    error_class = "unsupported"


class ResourceExhaustedError(StrataError):
    """A budget or quota is used up."""

    error_class = "resource_exhausted"


class UnavailableError(StrataError):
    """Something the call needs does not answer at present."""

    error_class = "unavailable"


class IoError(StrataError):
    """The operating system refused to read or write."""

    error_class = "io"


class CorruptionError(StrataError):
    """Stored bytes are not what was written."""

    error_class = "corruption"


class DataLossError(StrataError):
    """Stored data cannot be read any more."""

    error_class = "data_loss"


class SerializationError(StrataError):
    """A value could not be encoded or decoded."""

    error_class = "serialization"


class InternalError(StrataError):
    """A fault in Strata itself."""

    error_class = "internal"


CLASSES: dict[str, type[StrataError]] = {
    cls.error_class: cls
    for cls in (
        NotFoundError,
        AlreadyExistsError,
        InvalidArgumentError,
        FailedPreconditionError,
        AccessDeniedError,
        ConflictError,
        AmbiguousCommitError,
        HistoryUnavailableError,
        UnsupportedError,
        ResourceExhaustedError,
        UnavailableError,
        IoError,
        CorruptionError,
        DataLossError,
        SerializationError,
        InternalError,
    )
}
"""Error class name on the wire -> exception class."""


def fail(
    code: str,
    message: str | None = None,
    *,
    hint: str | None = None,
    commit_outcome: str | None = None,
    **details: object,
) -> StrataError:
    """
    Build the typed error of a registered code, to be raised by the caller.

    Args:
        code: a code of the registry.
        message: what happened here, when the registry's sentence is too general.
        hint: what to do next, when the registry's is too general.
        commit_outcome: what is known about the write, when it differs from the registry's.
        details: facts of this occurrence; values are turned into text.
    """
    from strata_mcp.error_registry import ENTRIES

    error_class, known_message, known_hint, retry_policy, known_outcome = ENTRIES[code]
    return CLASSES[error_class](
        code,
        message or known_message,
        hint or known_hint,
        retry_policy=retry_policy,
        commit_outcome=commit_outcome or known_outcome,
        details={key: str(value) for key, value in details.items()},
    )


def catalog() -> list[dict[str, str]]:
    """Every registered code, sorted: code, class, area, message, hint, retry_policy, commit_outcome, ref."""
    from strata_mcp.error_registry import ENTRIES

    return [
        {
            "code": code,
            "class": entry[0],
            "area": code.split(".")[1],
            "message": entry[1],
            "hint": entry[2],
            "retry_policy": entry[3],
            "commit_outcome": entry[4],
            "ref": f"{DOCS_PAGE}#{code}",
        }
        for code, entry in sorted(ENTRIES.items())
    ]


def error_from_status(status: dict[str, Any]) -> StrataError:
    """Rebuild an error from its wire form; an unknown class gives the base class."""
    name = str(status.get("class", ""))
    details = {str(item["key"]): str(item["value"]) for item in status.get("details") or []}
    return CLASSES.get(name, StrataError)(
        str(status.get("code", "internal.executor.unregistered_code")),
        str(status.get("message", "")),
        str(status.get("suggested_fix", "")),
        retry_policy=str(status.get("retry_policy", "unknown")),
        commit_outcome=str(status.get("commit_outcome", "not_applicable")),
        details=details,
        retryable=status.get("retryable"),
        reference_id=status.get("reference_id"),
        hints=list(status.get("hints") or []),
        trace_id=status.get("trace_id"),
        ref=status.get("docs_url"),
        error_class=name or None,
    )


def error_from_payload(payload: str) -> StrataError:
    """Rebuild an error from its wire form as JSON text; text that is no such thing gives an internal error."""
    import json

    try:
        status = json.loads(payload)
    except ValueError:
        status = None
    if not isinstance(status, dict):
        return fail("internal.executor.wire_response", payload=payload[:200])
    return error_from_status(status)


def client_error(cls: type[StrataError], code: str, message: str, hint: str = "") -> StrataError:
    """Build an error of a given class on the client's side; unregistered codes are never retryable."""
    from strata_mcp.error_registry import ENTRIES

    entry = ENTRIES.get(code)
    policy, outcome = (entry[3], entry[4]) if entry is not None else ("never", "not_started")
    return cls(code, message, hint, retry_policy=policy, commit_outcome=outcome)


def require_field(entry: dict[str, Any], field: str) -> Any:
    """The value of a batch entry's field, or `invalid_argument.sdk.entry` naming it."""
    if field not in entry:
        raise fail(
            "invalid_argument.sdk.entry",
            f"the entry has no {field!r}; it has {', '.join(map(repr, entry)) or 'no fields'}",
            field=field,
        )
    return entry[field]
