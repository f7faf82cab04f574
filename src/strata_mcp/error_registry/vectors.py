"""Codes about vector collections, vectors and their indexes."""

from __future__ import annotations

from strata_mcp.error_registry.base import AFTER_STATE_CHANGE, NEVER, NOT_APPLICABLE, NOT_STARTED, REPORT, section

_REFUSED = section(
    NEVER,
    NOT_STARTED,
    {
        "already_exists.engine.vector_collection": (
            "A collection of that name is there already.",
            "Use it, choose another name, or remove it first with vector.collection.delete.",
        ),
        "failed_precondition.engine.embedding_model_mismatch": (
            "The collection has another embedding model on record, and vectors of two models do not compare.",
            "Use the recorded model (vector.collection.stats shows it), or make a second collection.",
        ),
        "failed_precondition.engine.embedding_model_missing": (
            "Text was given, but the collection has no embedding model to turn it into a vector.",
            "Record one with vector.collection.set_embedding_model, or pass `vector` instead of `text`.",
        ),
        "failed_precondition.engine.vector_collection_not_empty": (
            "The collection still holds vectors.",
            "Pass force=true to delete it with its vectors, or empty it with vector.delete_all.",
        ),
        "invalid_argument.engine.embedding_model": (
            "The name of the embedding model is empty.",
            'Pass a model name such as "openai/text-embedding-3-small", or leave it out.',
        ),
        "invalid_argument.engine.vector_artifact": ("A vector index part that breaks the rules was made.", REPORT),
        "invalid_argument.engine.vector_artifact_budget": (
            "The memory budget for building the vector index is not usable.",
            "Open the database with a memory_budget (bytes) of at least 1 MiB, or leave it out.",
        ),
        "invalid_argument.engine.vector_batch": (
            "The batch of vectors is not well formed.",
            "Pass `entries` as {key, vector} objects or `keys` as a list.",
        ),
        "invalid_argument.engine.vector_collection": (
            "That text cannot be the name of a collection.",
            'Give 1 to 256 bytes of UTF-8 without slash and NUL, such as "notes".',
        ),
        "invalid_argument.engine.vector_collection_reserved": (
            "Collection names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.engine.vector_dimension": (
            "The number of components does not fit.",
            "Give a dimension of 1 to 32768, and vectors of exactly the collection's dimension"
            " (vector.collection.stats shows it).",
        ),
        "invalid_argument.engine.vector_embedding": (
            "A component of the vector is not a finite 32-bit number.",
            "Replace NaN, infinities and numbers beyond about 3.4e38 before you send the vector.",
        ),
        "invalid_argument.engine.vector_filter": (
            "The filter is not usable here.",
            'Give at least one condition, such as {"lang": "en"}; vector.delete_all removes everything.',
        ),
        "invalid_argument.engine.vector_index_manifest": (
            "A vector index manifest that breaks the rules was made.",
            REPORT,
        ),
        "invalid_argument.engine.vector_key": (
            "That text cannot be the key of a vector.",
            "Give at most 1024 bytes of UTF-8 without NUL.",
        ),
        "invalid_argument.engine.vector_metadata": (
            "The metadata of a vector has to be a JSON object.",
            'Pass something like {"lang": "en"}, or leave `metadata` out.',
        ),
        "invalid_argument.engine.vector_metadata_field": (
            "A filter names a field that cannot exist.",
            "Name one top-level field of the metadata: not empty and without a dot.",
        ),
        "invalid_argument.engine.vector_metadata_patch": (
            "The change to the metadata is not an object with at least one field.",
            'Pass `patch` as something like {"seen": true}.',
        ),
        "invalid_argument.engine.vector_metadata_too_large": (
            "The metadata of the vector is too large for one row (16 MiB).",
            "Keep the large part in a JSON document or KV value and refer to it by key.",
        ),
        "invalid_argument.engine.vector_record": (
            "A vector record that breaks the rules was about to be stored.",
            REPORT,
        ),
        "invalid_argument.executor.vector_batch_duplicate_key": (
            "The same vector key appears more than once in the batch; none of it was applied.",
            "Keep one entry for each key.",
        ),
        "invalid_argument.executor.vector_dimension": (
            "A vector has another length than its collection.",
            "Send vectors of the collection's dimension; vector.collection.stats shows it.",
        ),
        "invalid_argument.executor.vector_input": (
            "Exactly one of a vector and a text is needed.",
            "Pass `vector` (or `query`) or `text`, not both and not neither.",
        ),
        "invalid_argument.executor.vector_limit": (
            "The number of results asked for is not usable.",
            "Pass `k` as a whole number from 0 to 2^31-1.",
        ),
    },
)

_STATE = {
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "failed_precondition.engine.vector_artifact": (
                "A part of the vector index does not fit the data it belongs to.",
                "Run admin.compact to build the index again; searches stay exact without it.",
            ),
            "failed_precondition.engine.vector_index_manifest": (
                "The manifest of the vector index does not fit the data it belongs to.",
                "Run admin.compact to build the index again; searches stay exact without it.",
            ),
            "not_found.engine.vector_collection": (
                "There is no collection of that name in this branch and space.",
                "See what there is with vector.collection.list, or make it with vector.collection.create.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "unavailable.engine.vector_artifacts": (
                "The vector index cannot be read at the moment.",
                "Try again when the current build of the index has ended, or use vector.query, which needs no index.",
            ),
        },
    ),
}

VECTORS = {**_REFUSED, **_STATE}
