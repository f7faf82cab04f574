"""Codes about branches, spaces, tags, commits, transactions and reading the past."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    DEFINITELY_NOT_COMMITTED,
    MAYBE_COMMITTED,
    NEVER,
    NOT_APPLICABLE,
    NOT_STARTED,
    REPORT,
    UNKNOWN,
    section,
)

_REFUSED = section(
    NEVER,
    NOT_STARTED,
    {
        "already_exists.engine.branch": (
            "A branch of that name is there already.",
            "Use that branch, choose another name, or remove it first with branch.delete.",
        ),
        "already_exists.engine.tag": (
            "A tag of that name is there already; a tag never moves by itself.",
            "Choose another name, or remove the old tag with tag.delete and create it again.",
        ),
        "invalid_argument.engine.branch_delete": (
            "The default branch stays for as long as the database does.",
            "Delete another branch, or empty this one with space.delete and kv.delete.",
        ),
        "invalid_argument.engine.branch_name": (
            "That text cannot be the name of a branch.",
            'Give 1 to 255 bytes of UTF-8 that are not all blank and hold no control character, such as "try-2".',
        ),
        "invalid_argument.engine.branch_name_reserved": (
            "Branch names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.engine.branch_point": (
            "These two branches have no direct parent and child relation, so nothing says what changed since when.",
            "Merge a branch with the branch it was forked from, one step at a time; branch.get shows the parent.",
        ),
        "invalid_argument.engine.branch_catalog": (
            "A branch record that breaks the rules was about to be stored.",
            REPORT,
        ),
        "invalid_argument.engine.product_space": (
            "That text cannot be the name of a space.",
            'Give a name that is not empty and holds neither NUL nor a newline, or leave `space` out for "default".',
        ),
        "invalid_argument.engine.product_space_reserved": (
            "Space names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.engine.space_catalog": (
            "A space record that breaks the rules was about to be stored.",
            REPORT,
        ),
        "invalid_argument.engine.space_delete_default": (
            "Every branch keeps its default space.",
            "Delete another space, or remove the keys of this one with kv.batch_delete and json.batch_delete.",
        ),
        "invalid_argument.engine.space_delete_too_large": (
            "The space holds more rows than one commit can remove.",
            "Remove rows with kv.batch_delete and json.batch_delete first, then delete the space.",
        ),
        "invalid_argument.engine.tag_name": (
            "That text cannot be the name of a tag.",
            'Give 1 to 255 bytes of UTF-8 with no control character and no leading underscore, such as "v1".',
        ),
        "invalid_argument.engine.transaction": (
            "This command cannot take part in the open transaction.",
            "Keep to reads and writes on the branch the transaction was opened on, and run the rest after it.",
        ),
        "invalid_argument.executor.as_of_conflict": (
            "Two different moments were asked for at once.",
            "Give either `as_of` (a version) or `as_of_time` (UTC microseconds), not both.",
        ),
        "failed_precondition.engine.branch_has_children": (
            "Another live branch was forked from this one and still reads its history.",
            "Delete the branches forked from it first; branch.list shows each branch's parent.",
        ),
        "failed_precondition.engine.space_not_empty": (
            "The space still holds data.",
            "Pass force=true to delete the space with everything in it; its history stays readable with as_of.",
        ),
        "failed_precondition.engine.transaction_closed": (
            "The transaction has ended already.",
            "Open another one and repeat the writes in it.",
        ),
        "failed_precondition.engine.transaction_open": (
            "This thread has a transaction open already.",
            "Finish it first, or make the extra writes part of it; transactions do not nest.",
        ),
    },
)

_MISSING = section(
    NEVER,
    NOT_APPLICABLE,
    {
        "not_found.engine.branch": (
            "There is no branch of that name.",
            "See what there is with branch.list, or make it with branch.create or branch.fork.",
        ),
        "not_found.engine.commit": (
            "There is no such commit on that branch.",
            "List the commits of the branch with branch.log and pass the `version` of one of them.",
        ),
        "not_found.engine.tag": (
            "There is no tag of that name.",
            "See what there is with tag.list, or make it with tag.create.",
        ),
        "failed_precondition.engine.branch_status": (
            "The branch is not in use any more.",
            "Pick a live branch from branch.list.",
        ),
        "failed_precondition.engine.default_branch": (
            "The database was made with another default branch than the one asked for.",
            "Open it without naming a default branch and pass `branch` with each command.",
        ),
    },
)

_MOVED = {
    **section(
        AFTER_STATE_CHANGE,
        DEFINITELY_NOT_COMMITTED,
        {
            "conflict.engine.branch_generation": (
                "The branch was deleted or made again while this was running; nothing was written.",
                "Look at the branch with branch.get and repeat the work if it is still wanted.",
            ),
            "conflict.engine.persistence": (
                "Another commit changed what this one depends on; nothing was written.",
                "Read the keys again and repeat the transaction from its start.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_STARTED,
        {
            "conflict.engine.promotion": (
                "Both branches changed the same entries in different ways; nothing was merged.",
                "List the conflicts with branch.preview, then settle them on one side or merge with"
                ' strategy="source_wins" or "target_wins".',
            ),
            "conflict.engine.revert": (
                "A later commit changed a key that this revert would put back; nothing was written.",
                "Revert the later commits first (branch.log lists them), or write the wanted value yourself.",
            ),
            "conflict.engine.version": (
                "The stored version is not the one `if_version` asked for; nothing was written.",
                "Read the key again, decide anew, and pass the version you read (0 means the key must be absent).",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "history_unavailable.engine.persistence_history": (
                "The branch has no readable state at that moment.",
                "Choose a moment between the branch's first and newest commit (branch.log lists them), or leave"
                " `as_of` and `as_of_time` out to read the present.",
            ),
        },
    ),
    **section(
        UNKNOWN,
        MAYBE_COMMITTED,
        {
            "ambiguous_commit.engine.persistence": (
                "It is not known whether the write took effect.",
                "Reopen the database and read the key before you decide whether to write again.",
            ),
        },
    ),
}

VERSIONS = {**_REFUSED, **_MISSING, **_MOVED}
