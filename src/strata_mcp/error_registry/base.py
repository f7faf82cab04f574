"""How one registered code is described, and the words the description uses."""

from __future__ import annotations

NEVER = "never"
AFTER_STATE_CHANGE = "after_state_change"
SAME_REQUEST = "same_request"
IDEMPOTENT_ONLY = "idempotent_only"
UNKNOWN = "unknown"

NOT_APPLICABLE = "not_applicable"
NOT_STARTED = "not_started"
DEFINITELY_NOT_COMMITTED = "definitely_not_committed"
MAYBE_COMMITTED = "maybe_committed"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Texts: TypeAlias = dict[str, tuple[str, str]]
    Entry: TypeAlias = tuple[str, str, str, str, str]

REPORT = "This is a fault in Strata and not in your call; report it with the code and the reference id."
RESTORE = "Run admin.health to see what is damaged, keep a copy of the folder as it is, and restore the last good copy."
NEWER = "Open the database with the Strata version that wrote it, or upgrade this one; nothing was changed on disk."


def section(retry_policy: str, commit_outcome: str, texts: Texts, error_class: str = "") -> dict[str, Entry]:
    """
    Entries of codes that agree on what a caller may do next.

    `texts` maps a code to (what happened, what to do next). The class of an error is the first part of
    its code unless `error_class` names it. An entry is (class, message, hint, retry policy, commit outcome).
    """
    return {
        code: (error_class or code.partition(".")[0], message, hint, retry_policy, commit_outcome)
        for code, (message, hint) in texts.items()
    }
