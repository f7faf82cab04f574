"""Codes of the Python handle, the command line and the command decoder, before the engine is reached."""

from __future__ import annotations

from strata_mcp.error_registry.base import NEVER, NOT_APPLICABLE, NOT_STARTED, REPORT, UNKNOWN, section

_REFUSED = section(
    NEVER,
    NOT_STARTED,
    {
        "failed_precondition.sdk.fork_not_supported": (
            "This handle was opened before the process forked and cannot be used in the child.",
            "Open the database again in the child process.",
        ),
        "failed_precondition.sdk.handle_closed": (
            "This handle has been closed.",
            "Open the database again with stratadb.open(path), and keep it open while you use it.",
        ),
        "invalid_argument.cli.no_database": (
            "Nothing says which database to open.",
            "Pass a path, set STRATA_DB, or ask for one in memory with cache=True.",
        ),
        "invalid_argument.executor.batch_item": (
            "An entry of the batch is not usable; the other entries are not affected.",
            "Correct the entry at the index shown and send it again.",
        ),
        "invalid_argument.executor.limit": (
            "The limit is larger than this platform can count.",
            "Pass `limit` as a whole number below 2^63, or leave it out.",
        ),
        "invalid_argument.sdk.argument": (
            "An argument has a type this method does not take.",
            "Pass the type the method's signature names: keys and values of kv are bytes or text, versions are whole"
            " numbers.",
        ),
        "invalid_argument.sdk.as_of_kind": (
            "`as_of` is a version, so it has to be a whole number.",
            "Pass the `version` of a commit as an int; for a wall-clock moment use `as_of_time`.",
        ),
        "invalid_argument.sdk.as_of_time": (
            "That is not a moment in time.",
            "Pass UTC microseconds as an int, a datetime, a date, or ISO 8601 text such as \"2026-01-31T09:00:00Z\".",
        ),
        "invalid_argument.sdk.command": (
            "The command is not one Strata knows, or its fields do not fit.",
            "Compare `type` and the fields with the command reference; stratadb.command_index() lists every command.",
        ),
        "invalid_argument.sdk.entry": (
            "An entry of the batch lacks a field it needs.",
            "Pass each entry as a dict (or tuple) with every required field.",
        ),
        "invalid_argument.sdk.fork_ambiguous": (
            "A fork starts at one moment, and two were given.",
            "Pass either `version` or `timestamp`, not both.",
        ),
        "invalid_argument.sdk.limit": (
            "The page size is not usable.",
            "Pass `limit` as a whole number of at least 1.",
        ),
        "invalid_argument.sdk.vector_metadata": (
            "The metadata of a vector has to be a dict.",
            "Pass something like {\"lang\": \"en\"}, or None.",
        ),
        "invalid_argument.sdk.vector_metric": (
            "The distance metric is not one of the known ones.",
            "Pass `metric` as cosine, euclidean or dot_product.",
        ),
    },
)

_OTHER = {
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "invalid_argument.sdk.committed_at": (
                "That is not a count of microseconds that a datetime can show.",
                "Pass the `committed_at` of a commit (an int, UTC microseconds), or None.",
            ),
            "unsupported.sdk.state_removed": (
                "`db.state` does not exist any more.",
                "Use db.kv with `if_version` for values that are compared before they are set.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {"internal.executor.unregistered_code": ("An error came up that has no entry in the registry.", REPORT)},
    ),
}

SURFACES = {**_REFUSED, **_OTHER}
