"""Codes about moving data in and out: Arrow files, the hub, and the socket between processes."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    IDEMPOTENT_ONLY,
    MAYBE_COMMITTED,
    NEVER,
    NOT_APPLICABLE,
    NOT_STARTED,
    REPORT,
    SAME_REQUEST,
    UNKNOWN,
    section,
)

_NO_ARROW = ("This installation reads and writes no Arrow files.", "Install strata-mcp with all of its dependencies.")
_NO_HUB = ("This installation has no hub client.", "Install strata-mcp with all of its dependencies.")

_ARROW = section(
    NEVER,
    NOT_STARTED,
    {
        "invalid_argument.executor.arrow_base64": (
            "A cell is marked as base64 but does not decode.",
            "Encode it with the standard alphabet and padding, or mark the row as plain text in its encoding column.",
        ),
        "invalid_argument.executor.arrow_collection": (
            "Moving vectors in or out needs a collection.",
            "Pass `collection`; vector.collection.list shows them.",
        ),
        "invalid_argument.executor.arrow_embedding_type": (
            "The column of vectors has a type that cannot be read.",
            "Store it as a list, or fixed-size list, of 32-bit or 64-bit floats.",
        ),
        "invalid_argument.executor.arrow_empty_export": (
            "There is nothing to export.",
            "Check `branch`, `space` and the filters, or write some rows first.",
        ),
        "invalid_argument.executor.arrow_encoding": (
            "The encoding column holds a word that is not known.",
            "Use utf8 or base64 in that column, or leave the column out.",
        ),
        "invalid_argument.executor.arrow_event": (
            "A row has no usable event type or payload.",
            "Give every row a type that is not empty and a payload that is a JSON object.",
        ),
        "invalid_argument.executor.arrow_format": (
            "The file format is unknown or cannot hold this kind of data.",
            "Pass `format` as parquet, csv or jsonl; vectors need parquet or jsonl.",
        ),
        "invalid_argument.executor.arrow_graph": (
            "Moving a graph in or out needs its name.",
            "Pass `graph`; graph.list shows them.",
        ),
        "invalid_argument.executor.arrow_input_missing": (
            "The file to import is not there.",
            "Check `file_path`; a graph is read from two files, whose names end in _nodes and _edges.",
        ),
        "invalid_argument.executor.arrow_json_key": (
            "A document id in the file is not valid UTF-8.",
            "Store the key column as UTF-8 text.",
        ),
        "invalid_argument.executor.arrow_key_column": (
            "No column of the file can serve as the key.",
            "Name it with `key_column`, spelled as in the file.",
        ),
        "invalid_argument.executor.arrow_non_finite_float": (
            "A column holds NaN or an infinity, which JSON cannot express.",
            "Replace such numbers with null before the import.",
        ),
        "invalid_argument.executor.arrow_value_column": (
            "No column of the file can serve as the value.",
            "Name it with `value_column`, spelled as in the file.",
        ),
        "invalid_argument.executor.arrow_vector_dimension": (
            "A vector in the file has another length than its collection.",
            "Import into a collection of that dimension, or correct the file.",
        ),
        "invalid_argument.executor.arrow_vector_key": (
            "A vector key in the file is not usable.",
            "Give every row a key of at most 1024 bytes of UTF-8 without NUL.",
        ),
    },
)

_HUB = section(
    NEVER,
    NOT_STARTED,
    {
        "failed_precondition.executor.hub_clone": (
            "The destination of the clone is in use.",
            "Pass a `dest` that does not exist yet, or an empty folder.",
        ),
        "invalid_argument.executor.hub_branch": (
            "The branch to clone has an empty name.",
            "Name a branch of the dataset (hub.list_refs shows them), or leave `branch` out.",
        ),
        "invalid_argument.executor.hub_dataset": (
            "That text is not the name of a dataset.",
            "Write it as owner/name, as hub.list_datasets shows it.",
        ),
        "invalid_argument.executor.hub_filter": (
            "A filter of the listing is out of range.",
            "Pass `limit` from 1 to 200 and a size_min_bytes that is not above size_max_bytes.",
        ),
        "invalid_argument.executor.hub_since": (
            "The starting moment of the listing cannot be read.",
            "Write `since` like \"2026-01-31T00:00:00Z\".",
        ),
        "invalid_argument.executor.hub_url": (
            "The address of the hub cannot be parsed.",
            "Pass `hub_url` as an absolute https address.",
        ),
    },
)

_SOCKET = section(
    NEVER,
    NOT_STARTED,
    {
        "access_denied.executor.read_only_session": (
            "This connection was opened for reading only.",
            "Open a handle that may write and send the write there.",
        ),
        "failed_precondition.sdk.durability_brokered": (
            "The durability was chosen by the process that serves this database.",
            "Open without `durability`, or choose it where the database is served.",
        ),
        "invalid_argument.executor.ipc_hello": (
            "The first message on the connection is not a greeting this version knows.",
            "Use the same version of Strata on both sides.",
        ),
        "invalid_argument.executor.wire_request": (
            "The bytes of the request cannot be decoded.",
            "Use the same version of Strata on both sides; a request is one JSON object.",
        ),
    },
)

_MISSING = section(
    NEVER,
    NOT_APPLICABLE,
    {
        "not_found.executor.hub_dataset": (
            "The hub has no dataset of that name.",
            "Look for it with hub.list_datasets; a private dataset needs your token.",
        ),
        "not_found.executor.hub_resource": (
            "The hub does not have what was asked for.",
            "Check `hub_url`, and with hub.info that this hub offers the feature.",
        ),
    },
)

_SWITCHED_OFF = section(
    AFTER_STATE_CHANGE,
    NOT_STARTED,
    {
        "invalid_argument.executor.arrow_feature_disabled": _NO_ARROW,
        "invalid_argument.executor.hub_feature_disabled": _NO_HUB,
        "unsupported.executor.arrow_feature_disabled": _NO_ARROW,
        "unsupported.executor.hub_feature_disabled": _NO_HUB,
        "resource_exhausted.executor.ipc_connections": (
            "The process that serves this database has as many clients as it takes.",
            "Close handles that are not needed (admin.ipc_status lists them) and try again.",
        ),
    },
)

_FAILED = {
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "unavailable.executor.arrow_io": (
                "The file could not be read or written.",
                "Check that the path exists, that you may use it and that the disk has room, then try again.",
            ),
        },
    ),
    **section(
        SAME_REQUEST,
        NOT_STARTED,
        {
            "unavailable.executor.hub_transport": (
                "The hub did not answer, or not in a form that can be read.",
                "Check `hub_url` and the network (hub.info is a quick test), then send the same request again.",
            ),
        },
    ),
    **section(
        IDEMPOTENT_ONLY,
        MAYBE_COMMITTED,
        {
            "unavailable.executor.ipc_deadline": (
                "The process that serves this database did not answer in time; a write may have taken effect.",
                "Repeat reads freely; before you repeat a write, read the key to see whether it arrived.",
            ),
            "unavailable.executor.ipc_transport": (
                "The connection to the process that serves this database broke; a write may have taken effect.",
                "Open the database again; before you repeat a write, read the key to see whether it arrived.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "internal.executor.arrow": (
                "The Arrow library failed in a way that was not foreseen.",
                "Check that other tools can read the file; if they can, report the error with its reference id.",
            ),
            "internal.hub.import": (
                "The data arrived from the hub but could not be stored.",
                "Remove the half-made destination folder and clone again; report it when it fails twice.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        MAYBE_COMMITTED,
        {"internal.executor.wire_response": ("The result of the request could not be put on the wire.", REPORT)},
    ),
}

EXCHANGE = {**_ARROW, **_HUB, **_SOCKET, **_MISSING, **_SWITCHED_OFF, **_FAILED}
