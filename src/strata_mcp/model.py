"""
The values every layer speaks: ids, records, commits.

A database is a log of commits; a commit holds records; a record is one row of one family.
Nothing here does I/O, reads a clock or imports anything heavy.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, NewType, TypeAlias

import msgspec

Timestamp = NewType("Timestamp", int)
"""Position in the database's logical commit counter (1, 2, ...)."""

BranchUid = NewType("BranchUid", int)
"""Internal id of one life of one branch: the commit number that created it. Never reused."""

BranchName = NewType("BranchName", str)
SpaceName = NewType("SpaceName", str)

DEFAULT_BRANCH: Final = "default"
DEFAULT_SPACE: Final = "default"
DEFAULT_BRANCH_UID: Final = BranchUid(0)
GLOBAL_UID: Final = BranchUid(-1)
"""Owner of the rows of the global families: they belong to the database, not to a branch."""

FIRST_TIMESTAMP: Final = Timestamp(1)
FRESH_HEAD: Final = Timestamp(2)
"""Counter of a database nobody has written to; 1 and 2 stand for its own creation."""


class Family(IntEnum):
    """What a record means. Numbers are part of the journal format: append only."""

    KV = 1
    JSON = 2
    SPACE = 65
    JSON_INDEX = 66
    BRANCH = 80
    TAG = 81
    MERGE = 82


GLOBAL_FAMILIES: Final = frozenset({Family.BRANCH, Family.TAG, Family.MERGE})
USER_FAMILIES: Final = (Family.KV, Family.JSON)
SYSTEM_FAMILIES_FROM: Final = 64
"""Families from this number on are the store's own."""


class Durability(StrEnum):
    """What an acknowledged commit has survived already."""

    NOT_DURABLE = "not_durable"
    STANDARD = "standard"
    ALWAYS = "always"


RecordTuple: TypeAlias = tuple[int, str, bytes, bytes | None, int]
"""
One record on the wire of the journal: (family, space, key, value, extra).

`value` None is a tombstone. `extra` is the family's own integer: for KV the expiry instant in UTC
microseconds (0 = never), for JSON the document version.
"""

Row: TypeAlias = tuple[int, bytes | None, int]
"""One version of one key in memory: (timestamp, value or None for a tombstone, extra)."""


class Commit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """
    One atomic change. All its records become visible together.

    `timestamp` is the commit's number and the version of each record in it. `last` is the highest
    number the commit occupies (catalogue operations take a short range, see ADR 0003).
    `committed_at_us` is UTC microseconds and never goes backwards.
    """

    timestamp: int
    last: int
    committed_at_us: int
    branch: int
    records: list[RecordTuple]
    author: str = ""
    message: str = ""


class BranchRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    What the catalogue knows of one life of a branch; stored as JSON text under the branch's name.

    `created_at` and `uid` are equal except for `default` (uid 0, created_at None). `first` is the
    earliest readable position. `newest` is the last number its own catalogue commits occupy.
    """

    uid: int
    name: str
    generation: int = 1
    created_at: int | None = None
    created_at_us: int = 0
    first: int = 1
    newest: int = 1
    parent_uid: int | None = None
    parent_name: str = ""
    parent_generation: int = 0
    fork_version: int = 0
    fork_timestamp: int | None = None
    deleted_at: int | None = None
    state_revision: int = 0
    merged_from_uid: int | None = None
    merged_from_name: str = ""
    merged_from_generation: int = 0
    merged_at: int = 0
