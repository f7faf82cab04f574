"""Codes about the files of a database: damage, formats, locks, limits and failed input or output."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    DEFINITELY_NOT_COMMITTED,
    MAYBE_COMMITTED,
    NEVER,
    NEWER,
    NOT_APPLICABLE,
    NOT_STARTED,
    REPORT,
    RESTORE,
    SAME_REQUEST,
    UNKNOWN,
    section,
)

_UNREADABLE = {
    "branch_catalog": "catalogue of branches",
    "branch_id": "id of a branch",
    "control_name": "name of a control record",
    "control_plane": "set of control records",
    "event_index_key": "key of an event index row",
    "event_key": "key of an event",
    "event_metadata": "head record of an event log",
    "event_record": "event",
    "graph_binding_key": "key of a graph binding",
    "graph_binding_record": "graph binding",
    "graph_edge_key": "key of a graph edge",
    "graph_edge_record": "graph edge",
    "graph_index": "index of a graph",
    "graph_key": "key of a graph",
    "graph_metadata": "head record of a graph",
    "graph_node_key": "key of a graph node",
    "graph_node_record": "graph node",
    "graph_ontology_record": "ontology of a graph",
    "graph_reverse_edge_key": "key of a reversed graph edge",
    "graph_type_index_key": "key of a graph type index row",
    "graph_type_index_record": "graph type index row",
    "json_document": "JSON document",
    "json_index": "definition of a JSON index",
    "json_index_key": "key of a JSON index row",
    "json_key": "id of a JSON document",
    "kv_key": "key of a KV row",
    "kv_value": "value of a KV row",
    "space_catalog": "catalogue of spaces",
    "vector_artifact": "part of a vector index",
    "vector_artifacts": "set of vector index parts",
    "vector_collection": "definition of a vector collection",
    "vector_collection_key": "key of a vector collection",
    "vector_index_manifest": "manifest of a vector index",
    "vector_index_manifest_key": "key of a vector index manifest",
    "vector_key": "key of a vector",
    "vector_record": "vector",
}

_DAMAGED = section(
    NEVER,
    NOT_APPLICABLE,
    {
        **{
            f"data_loss.engine.{name}": (f"The stored {thing} is missing or cannot be understood.", RESTORE)
            for name, thing in _UNREADABLE.items()
        },
        "data_loss.engine.control_plane_missing": ("The control records of the database are gone.", RESTORE),
        "data_loss.engine.journal": (
            "A commit in the middle of the journal does not match its checksum; the commits before it are intact.",
            "Copy the folder, then restore the named segment from a backup; admin.health says what is still readable.",
        ),
        "data_loss.engine.table": (
            "A table file is missing or is not the file that was written.",
            "Copy the folder, then restore the named file from a backup; admin.health lists every damaged table.",
        ),
        "corruption.engine.artifact_payload": (
            "The bytes of a stored artifact fail their check.",
            "Fetch or build the artifact again; admin.health names the damaged part.",
        ),
        "corruption.engine.persistence_recovery": (
            "The files of the database are damaged and it was not opened.",
            "Copy the folder as it is, then restore the last good copy of it.",
        ),
        "not_found.engine.persistence": (
            "Something the storage layer needs is not there.",
            "Run admin.health; restore the folder from a copy when it reports damage.",
        ),
    },
)

_OTHER_BUILD = section(
    NEVER,
    NOT_APPLICABLE,
    {
        "failed_precondition.engine.capability_registry": (
            "The database uses capabilities that this build does not have.",
            NEWER,
        ),
        "failed_precondition.engine.control_payload_version": ("A control record was written by a newer build.", NEWER),
        "failed_precondition.engine.format_version": ("This build does not read that database format.", NEWER),
        "failed_precondition.engine.layout_version": ("This build does not know that folder layout.", NEWER),
        "failed_precondition.engine.migration_registry": (
            "The database went through a migration that this build does not know.",
            NEWER,
        ),
        "failed_precondition.engine.storage_registry": (
            "The database stores kinds of data that this build does not know.",
            NEWER,
        ),
    },
)

_REFUSED = section(
    NEVER,
    NOT_STARTED,
    {
        "access_denied.engine.read_only": (
            "The database was opened for reading only.",
            "Open it for writing to make changes, or send the write to a server that may write.",
        ),
        "already_exists.engine.persistence": (
            "Something is stored under that name already.",
            "Choose another name, or remove what is there first.",
        ),
        "conflict.engine.artifact_import": (
            "What is being imported clashes with what is stored.",
            "Import into a fresh branch or database, then merge from there.",
        ),
        "failed_precondition.engine.foreign_folder": (
            "The folder holds files but no Strata database; nothing was touched.",
            "Pass the folder of a database, or a new or empty folder to make one there.",
        ),
        "failed_precondition.engine.runtime_closed": (
            "The database has been closed.",
            "Open it again with stratadb.open(path).",
        ),
        "failed_precondition.engine.writer_lock": (
            "Another process holds this database for itself.",
            "Close it there, or open it without asking for exclusive use (leave `ipc` out).",
        ),
        "invalid_argument.engine.config_key": (
            "A configuration key has to be named.",
            "Pass `key` as one of target, created, durable or default_branch; admin.config shows them all.",
        ),
        "invalid_argument.engine.limit": (
            "The limit is not a usable number of rows.",
            "Pass `limit` as a whole number of at least 0, or leave it out.",
        ),
        "invalid_argument.engine.persistence": (
            "A size or an opening argument is outside what the storage layer takes.",
            "Compare `actual` with `limit` in the details: split the write, store less, or correct the argument.",
        ),
    },
)

_FAILED = {
    **section(
        AFTER_STATE_CHANGE,
        NOT_STARTED,
        {
            "failed_precondition.engine.read_only_after_error": (
                "This handle stopped writing after a failed write, so that nothing half-done can follow.",
                "Free disk space or repair the disk, then close the handle and open the database again.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        DEFINITELY_NOT_COMMITTED,
        {
            "failed_precondition.engine.persistence": (
                "The storage layer cannot do this in its present state; nothing was written.",
                "Run admin.health, settle what it reports, and try again.",
            ),
            "io.engine.journal_write": (
                "The commit could not be written to the journal; nothing was committed.",
                "Free disk space or repair the disk, open the database again, and repeat the write.",
            ),
            "resource_exhausted.engine.persistence_budget": (
                "The memory budget of this handle is used up.",
                "Write less at once, or open the database with a larger memory_budget (bytes).",
            ),
        },
    ),
    **section(
        UNKNOWN,
        MAYBE_COMMITTED,
        {
            "io.engine.journal_sync": (
                "The disk did not confirm the commit, so it may or may not survive a power cut.",
                "Open the database again and read the key before you decide whether to write again.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "io.engine.checkpoint": (
                "Moving commits from the journal into tables failed; every commit is still safe in the journal.",
                "Free disk space or repair the disk, then run admin.checkpoint.",
            ),
            "unavailable.engine.control_plane": (
                "The control records cannot be read at the moment.",
                "Wait for the current opening or repair to end, then try again.",
            ),
            "unsupported.engine.persistence_capability": (
                "A database in memory has no files to report on.",
                "Open a database with a path to use this command.",
            ),
        },
    ),
    **section(
        SAME_REQUEST,
        NOT_APPLICABLE,
        {
            "unavailable.engine.persistence": (
                "The storage layer failed while reading or writing.",
                "Try once more; run admin.health when it fails again.",
            ),
        },
    ),
    **section(
        SAME_REQUEST,
        NOT_STARTED,
        {
            "unavailable.engine.lock_timeout": (
                "Another process kept the write lock for too long; nothing was written.",
                "Send the same request again; look for a stopped process that uses this database if it keeps failing.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "internal.engine.persistence": ("The storage layer found its own rules broken and stopped.", REPORT),
        },
    ),
}

STORAGE = {**_DAMAGED, **_OTHER_BUILD, **_REFUSED, **_FAILED}
