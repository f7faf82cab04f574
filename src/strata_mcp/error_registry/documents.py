"""Codes about key-value rows, JSON documents and events."""

from __future__ import annotations

from strata_mcp.error_registry.base import NEVER, NOT_APPLICABLE, NOT_STARTED, REPORT, section

_KV = section(
    NEVER,
    NOT_STARTED,
    {
        "invalid_argument.engine.expires_in": (
            "The time to live is not a usable number of seconds.",
            "Pass `expires_in` as a number above 0 (seconds), or leave it out for a key that stays.",
        ),
        "invalid_argument.engine.kv_batch": (
            "The batch of keys is not well formed.",
            "Pass `entries` as {key, value} pairs or `keys` as a list, every key with at least one byte.",
        ),
        "invalid_argument.engine.kv_batch_duplicate_key": (
            "The batch names a key more than once; none of it was applied.",
            "Keep one entry for each key, or send the entries in separate batches.",
        ),
        "invalid_argument.engine.kv_key": (
            "A key, prefix or start of no bytes was given.",
            "Pass at least one byte; leave `prefix` or `start` out to begin at the first key.",
        ),
        "invalid_argument.executor.kv_batch_duplicate_key": (
            "The same key appears more than once in the batch; none of it was applied.",
            "Keep one entry for each key, or send the entries in separate batches.",
        ),
    },
)

_JSON = section(
    NEVER,
    NOT_STARTED,
    {
        "already_exists.engine.json_document": (
            "A document of that id is there already.",
            "Choose another id, or write with json.set to replace what is there.",
        ),
        "already_exists.engine.json_index": (
            "An index of that name is there already.",
            "Use it, choose another name, or remove it first with json.index.drop.",
        ),
        "invalid_argument.engine.json_array_too_large": (
            "An array holds more than 1,000,000 items.",
            "Split the array over several documents.",
        ),
        "invalid_argument.engine.json_batch": (
            "The batch of documents is not well formed.",
            "Pass `entries` as a list of objects with key, path and, for json.batch_set, value.",
        ),
        "invalid_argument.engine.json_batch_duplicate_document": (
            "The batch names a document more than once; none of it was applied.",
            "Keep one entry for each document, or send the entries in separate batches.",
        ),
        "invalid_argument.engine.json_document": (
            "The document is not valid JSON of the kind Strata stores.",
            "Pass an object, array, text, finite number, boolean or null.",
        ),
        "invalid_argument.engine.json_document_id": (
            "That text cannot be the id of a document.",
            'Give 1 to 65535 bytes of UTF-8 without NUL and newline, such as "user:42".',
        ),
        "invalid_argument.engine.json_document_too_deep": (
            "The document nests more than 100 objects and arrays.",
            "Flatten it, or keep the inner part as a document of its own.",
        ),
        "invalid_argument.engine.json_document_too_large": (
            "The document takes more than 16,777,216 bytes as JSON.",
            "Split it over several documents, or keep large texts as KV values.",
        ),
        "invalid_argument.engine.json_index": (
            "The definition of the index is not usable.",
            'Pass `name`, a `field_path` such as "profile.age", and `index_type` as numeric, tag or text.',
        ),
        "invalid_argument.engine.json_index_name": (
            "That text cannot be the name of an index.",
            "Give 1 to 256 bytes of UTF-8 without NUL and newline.",
        ),
        "invalid_argument.engine.json_index_name_reserved": (
            "Index names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.engine.json_path": (
            "The path cannot be parsed.",
            'Write it as "a.b[0]" or "a[\'odd key\']"; "$" stands for the whole document.',
        ),
        "invalid_argument.engine.json_path_not_found": (
            "The path points behind the end of an array, and arrays do not grow by index.",
            "Read the array with json.get, append to it yourself, and write the whole array.",
        ),
        "invalid_argument.engine.json_path_too_long": (
            "The path has more than 256 steps.",
            "Read or write a shorter path that contains the place you mean.",
        ),
        "invalid_argument.engine.json_path_type": (
            "The path goes through a value of another kind: a name needs an object, an index needs an array.",
            "Look at the parent with json.get, then correct the path or replace the parent.",
        ),
        "invalid_argument.engine.json_value": (
            "The value cannot be stored as JSON.",
            "Pass null, a boolean, a finite number, text, a list, or an object with text keys.",
        ),
        "invalid_argument.engine.query": (
            "The query cannot be understood.",
            'Pass `filter` as {"field": value} or {"field": {"$gte": 3}}; see json.query in the reference.',
        ),
        "invalid_argument.executor.json_batch_duplicate_key": (
            "The same document and path appear more than once in the batch; none of it was applied.",
            "Keep one entry for each document and path.",
        ),
        "invalid_argument.executor.json_number": (
            "A whole number lies outside -2^63 to 2^64-1.",
            "Send it as text, or as a floating-point number if its last digits do not matter.",
        ),
    },
)

_EVENTS = section(
    NEVER,
    NOT_STARTED,
    {
        "invalid_argument.engine.event_batch": (
            "The batch of events is not well formed or is too large.",
            "Pass `entries` as {event_type, payload} objects and split long batches.",
        ),
        "invalid_argument.engine.event_metadata": ("An event head record that breaks the rules was made.", REPORT),
        "invalid_argument.engine.event_payload": (
            "The payload of an event has to be a JSON object.",
            'Wrap the value, as in {"value": 3}.',
        ),
        "invalid_argument.engine.event_payload_too_large": (
            "The payload takes more than 16,777,216 bytes as JSON.",
            "Store the large part with kv.put and refer to its key in the payload.",
        ),
        "invalid_argument.engine.event_record": (
            "An event record that breaks the rules was about to be stored.",
            REPORT,
        ),
        "invalid_argument.engine.event_type": (
            "That text cannot be the type of an event.",
            "Give 1 to 256 bytes of UTF-8 without NUL, or leave the filter out to read every type.",
        ),
    },
)

_MISSING = section(
    NEVER,
    NOT_APPLICABLE,
    {
        "not_found.engine.json_document": (
            "There is no document of that id.",
            "See what there is with json.list, or make it with json.set.",
        ),
    },
)

DOCUMENTS = {**_KV, **_JSON, **_EVENTS, **_MISSING}
