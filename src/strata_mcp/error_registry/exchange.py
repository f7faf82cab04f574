"""Codes of moving data in and out: Arrow files and the hub."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    NEVER,
    NOT_APPLICABLE,
    NOT_STARTED,
    REPORT,
    SAME_REQUEST,
    UNKNOWN,
    section,
)

EXCHANGE = {
    **section(
        NEVER,
        NOT_STARTED,
        {
            "failed_precondition.executor.hub_clone": (
                "The destination of the clone exists and holds something.",
                "Choose a folder that does not exist yet, or empty this one.",
            ),
            "invalid_argument.executor.arrow_base64": (
                "A cell is marked base64 but does not decode.",
                "Repair the cell, or mark it utf8.",
            ),
            "invalid_argument.executor.arrow_collection": (
                "Vectors are imported into and exported from one collection.",
                "Name the collection.",
            ),
            "invalid_argument.executor.arrow_embedding_type": (
                "The embedding column is not a list of numbers.",
                "Make it a list of 32-bit floats.",
            ),
            "invalid_argument.executor.arrow_empty_export": (
                "There is nothing to export.",
                "Check the branch, the space and the prefix.",
            ),
            "invalid_argument.executor.arrow_encoding": (
                "The encoding column holds a word that names no encoding.",
                "Use utf8 or base64.",
            ),
            "invalid_argument.executor.arrow_event": (
                "A row has no usable event type or payload.",
                "Give each row a text event_type and a JSON object as payload.",
            ),
            "invalid_argument.executor.arrow_format": (
                "The file's format is not known, or cannot hold this data.",
                "Use .parquet, .csv or .jsonl; vectors need .parquet or .jsonl.",
            ),
            "invalid_argument.executor.arrow_graph": (
                "Graph data is imported into and exported from one graph.",
                "Name the graph.",
            ),
            "invalid_argument.executor.arrow_input_missing": (
                "The file to import is not there.",
                "Check the path; a graph import also needs the _nodes file beside it.",
            ),
            "invalid_argument.executor.arrow_json_key": (
                "A document id in the file is not valid UTF-8.",
                "Repair the row, or leave it out.",
            ),
            "invalid_argument.executor.arrow_key_column": (
                "The file has no column for the keys.",
                "Name the key column of the file.",
            ),
            "invalid_argument.executor.arrow_non_finite_float": (
                "A column holds NaN or an infinity.",
                "Replace those cells by null or a number.",
            ),
            "invalid_argument.executor.arrow_value_column": (
                "The file has no column for the values.",
                "Name the value column of the file.",
            ),
            "invalid_argument.executor.arrow_vector_dimension": (
                "A vector's length is not the collection's dimension.",
                "Import into a collection of that dimension.",
            ),
            "invalid_argument.executor.arrow_vector_key": (
                "A vector's key cannot be used.",
                "Use at most 1024 bytes of UTF-8 without NUL.",
            ),
            "invalid_argument.executor.hub_branch": (
                "The branch to clone has an empty name.",
                "Name a branch of the dataset, or leave it out to take its default.",
            ),
            "invalid_argument.executor.hub_dataset": (
                "That text cannot be the name of a dataset.",
                "Use the name as hub.datasets lists it.",
            ),
            "invalid_argument.executor.hub_filter": (
                "The filter of the listing cannot be used.",
                "Give a limit from 1 to 200 and a minimum size below the maximum.",
            ),
            "invalid_argument.executor.hub_since": (
                "since is no date and time.",
                'Give RFC 3339 text such as "2026-01-31T12:00:00Z".',
            ),
            "invalid_argument.executor.hub_url": (
                "The address of the hub does not parse.",
                "Give a full address that begins with http:// or https://.",
            ),
            "unsupported.executor.arrow_feature_disabled": (
                "This release cannot read or write Arrow files.",
                "Read the Lance tables of the database with any Arrow tool instead.",
            ),
            "unsupported.executor.hub_feature_disabled": (
                "This release has no hub client.",
                "Copy the folder of a closed database to share it.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "internal.executor.arrow": (
                "The Arrow library failed.",
                REPORT,
            ),
            "internal.hub.import": (
                "The cloned data could not be taken in.",
                REPORT,
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_STARTED,
        {
            "invalid_argument.executor.arrow_feature_disabled": (
                "This build cannot read or write Arrow files.",
                "Install the Arrow extra and call again.",
            ),
            "invalid_argument.executor.hub_feature_disabled": (
                "This build has no hub client.",
                "Use a release that has it.",
            ),
        },
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "not_found.executor.hub_dataset": (
                "The hub has no dataset of that name.",
                "List the datasets with hub.datasets.",
            ),
            "not_found.executor.hub_resource": (
                "The hub does not have what was asked for.",
                "Check the name; it may have been withdrawn.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "unavailable.executor.arrow_io": (
                "The file could not be read or written.",
                "Check that the folder exists, that it may be written to and that the disk has room.",
            ),
        },
    ),
    **section(
        SAME_REQUEST,
        NOT_STARTED,
        {
            "unavailable.executor.hub_transport": (
                "The hub does not answer, or not in its protocol.",
                "Check the address and the network, then try again.",
            ),
        },
    ),
}
