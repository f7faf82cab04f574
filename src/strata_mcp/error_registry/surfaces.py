"""Codes of the surfaces: the Python SDK, the command line, the wire and processes that share a database."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    IDEMPOTENT_ONLY,
    MAYBE_COMMITTED,
    NEVER,
    NOT_APPLICABLE,
    NOT_STARTED,
    REPORT,
    UNKNOWN,
    section,
)

SURFACES = {
    **section(
        NEVER,
        NOT_STARTED,
        {
            "access_denied.executor.read_only_session": (
                "The session was opened for reading and refuses writes.",
                "Open the database without the read-only option to write to it.",
            ),
            "failed_precondition.sdk.durability_brokered": (
                "Another process decides the durability of this handle.",
                "Open the database without durability=, or open it yourself with the mode you need.",
            ),
            "failed_precondition.sdk.fork_not_supported": (
                "This process was forked, and the open database belongs to its parent.",
                "Open the database again in the child; handles do not survive a fork.",
            ),
            "failed_precondition.sdk.handle_closed": (
                "The database was closed; a view shares the handle it was made from.",
                "Open the database again with stratadb.open and make the call there.",
            ),
            "invalid_argument.cli.no_database": (
                "No database was named.",
                "Give a path, set STRATA_DB, or ask for a database in memory with cache=True.",
            ),
            "invalid_argument.executor.batch_item": (
                "An entry of the batch cannot be carried out.",
                "Look at the error of the entry, correct it and send that entry again.",
            ),
            "invalid_argument.executor.ipc_hello": (
                "The greeting on the socket was not understood.",
                "Use clients and servers of the same release.",
            ),
            "invalid_argument.executor.limit": (
                "The limit is not usable.",
                "Give a whole number from 0 up, or leave the limit out.",
            ),
            "invalid_argument.executor.wire_request": (
                "The request could not be decoded.",
                "Send one JSON object with a type field and the fields of that command.",
            ),
            "resource_exhausted.executor.result_size": (
                "The answer is longer than one tool result may be.",
                "Ask for less: pass limit and go on with cursor, name a path or a projection, or narrow the prefix.",
            ),
            "invalid_argument.sdk.argument": (
                "An argument has a type the method does not take.",
                "Look at the signature of the method and pass the type it names.",
            ),
            "invalid_argument.sdk.as_of_kind": (
                "as_of is a position in the commit counter, a whole number.",
                "Pass the version of a commit, or use as_of_time for an instant.",
            ),
            "invalid_argument.sdk.as_of_time": (
                "as_of_time is no instant.",
                'Pass UTC microseconds, a datetime, a date, or ISO 8601 text such as "2026-01-31T12:00:00Z".',
            ),
            "invalid_argument.sdk.command": (
                "The command is not well formed.",
                "Compare it with the reference of that command: its name, its fields, and their types.",
            ),
            "invalid_argument.sdk.entry": (
                "An entry of the batch lacks a field.",
                "Give each entry all the fields that the method names.",
            ),
            "invalid_argument.sdk.fork_ambiguous": (
                "A fork starts at a version or at a timestamp, not at both.",
                "Leave one of the two out.",
            ),
            "invalid_argument.sdk.limit": (
                "A page holds at least one item.",
                "Pass limit as a whole number from 1 up, or leave it out to read everything.",
            ),
            "invalid_argument.sdk.vector_metadata": (
                "Vector metadata is an object with text keys.",
                "Pass a dict, or leave the metadata out.",
            ),
            "invalid_argument.sdk.vector_metric": (
                "There is no such distance metric.",
                "Choose cosine, euclidean or dot_product.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "internal.executor.unregistered_code": (
                "An error without a registered code came up.",
                REPORT,
            ),
            "internal.executor.wire_response": (
                "The answer could not be put into its wire form.",
                REPORT,
            ),
        },
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "invalid_argument.sdk.committed_at": (
                "Only a number of UTC microseconds can be turned into a datetime.",
                "Pass the committed_at of a receipt or history item.",
            ),
            "unsupported.sdk.state_removed": (
                "The state namespace does not exist any more.",
                "Use db.kv with if_version= to keep state that changes by compare-and-set.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_STARTED,
        {
            "resource_exhausted.executor.ipc_connections": (
                "Too many clients are connected to the process that hosts the database.",
                "Close clients that are done, then connect again.",
            ),
        },
    ),
    **section(
        IDEMPOTENT_ONLY,
        MAYBE_COMMITTED,
        {
            "unavailable.executor.ipc_deadline": (
                "The process that hosts the database did not answer in time.",
                "Try again; if it keeps happening, look at that process.",
            ),
            "unavailable.executor.ipc_transport": (
                "The process that hosts the database went away.",
                "Open the database again; read back what the last write did before repeating it.",
            ),
        },
    ),
}
