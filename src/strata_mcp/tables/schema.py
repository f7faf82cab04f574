"""
Which table a family's rows stand in, and how rows become Arrow columns.

A new family needs a line in `TABLES` and nothing else: checkpoint, loading and compaction read the
registry. Columns are typed so that the tables make sense to anyone who opens them without us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from strata_mcp.errors import fail
from strata_mcp.model import GLOBAL_FAMILIES, GLOBAL_UID, Commit, Family

COMMITS: Final = "commits"
"""The table of commits: one row each, no family."""

SortedRow: TypeAlias = tuple[int, str, bytes, int, int, bytes | None, int]
"""(family, space, key, branch uid, timestamp, value, extra): the order rows are sorted by, then the payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """
    One table of rows.

    Attributes:
        name: folder name without `.lance`, and name of the table for LanceDB.
        families: families whose rows it holds; more than one adds a column `family`.
        has_text_keys: keys are stored as strings, otherwise as binary.
        value: column of the row's value, null where the row is a deletion.
        has_text_values: values are stored as strings, otherwise as binary.
        extra: column of the row's own integer.
        is_extra_instant: the integer is UTC microseconds, 0 stored as null.
    """

    name: str
    families: tuple[Family, ...]
    has_text_keys: bool
    value: str
    has_text_values: bool
    extra: str
    is_extra_instant: bool = False

    @property
    def has_family(self) -> bool:
        """Whether rows say which family they belong to."""
        return len(self.families) > 1


TABLES: Final = (
    TableSpec(
        name="kv",
        families=(Family.KV,),
        has_text_keys=False,
        value="value",
        has_text_values=False,
        extra="expires_at",
        is_extra_instant=True,
    ),
    TableSpec(
        name="json",
        families=(Family.JSON,),
        has_text_keys=True,
        value="document",
        has_text_values=True,
        extra="document_version",
    ),
    TableSpec(
        name="catalog",
        families=(Family.SPACE, Family.JSON_INDEX, Family.BRANCH, Family.TAG, Family.MERGE),
        has_text_keys=True,
        value="value",
        has_text_values=True,
        extra="extra",
    ),
)
SPEC_OF_NAME: Final = {spec.name: spec for spec in TABLES}
SPEC_OF_FAMILY: Final[dict[int, TableSpec]] = {int(family): spec for spec in TABLES for family in spec.families}
TABLE_NAMES: Final = (*SPEC_OF_NAME, COMMITS)


def family_name(family: int) -> str:
    """What the column `family` says."""
    return Family(family).name.lower()


def sorted_rows(commits: Iterable[Commit]) -> dict[str, list[SortedRow]]:
    """
    Rows of some commits by table, in table order.

    Where one commit writes a key twice, the later record stands: that is what readers of the journal see.
    """
    found: dict[str, dict[tuple[int, str, bytes, int, int], SortedRow]] = {}
    for commit in commits:
        timestamp = commit.timestamp
        for family, space, key, value, extra in commit.records:
            spec = SPEC_OF_FAMILY.get(family)
            if spec is None:
                raise fail(
                    "failed_precondition.engine.storage_registry",
                    f"commit {timestamp} holds rows of family {family}, which this build does not know",
                    family=family,
                )
            uid = int(GLOBAL_UID) if family in GLOBAL_FAMILIES else commit.branch
            rows = found.setdefault(spec.name, {})
            rows[family, space, key, uid, timestamp] = (family, space, key, uid, timestamp, value, extra)
    return {name: sorted(rows.values(), key=itemgetter(0, 1, 2, 3, 4)) for name, rows in found.items()}


def rows_schema(spec: TableSpec) -> Any:
    """Arrow schema of a table of rows."""
    import pyarrow as pa

    family = [pa.field("family", pa.string())] if spec.has_family else []
    return pa.schema(
        [
            *family,
            pa.field("branch", pa.string()),
            pa.field("branch_uid", pa.int64()),
            pa.field("space", pa.string()),
            pa.field("key", pa.string() if spec.has_text_keys else pa.binary()),
            pa.field("ts", pa.int64()),
            pa.field("deleted", pa.bool_()),
            pa.field(spec.value, pa.string() if spec.has_text_values else pa.binary()),
            pa.field(spec.extra, pa.timestamp("us", "UTC") if spec.is_extra_instant else pa.int64()),
        ]
    )


def rows_to_arrow(spec: TableSpec, rows: list[SortedRow], branch_names: Mapping[int, str]) -> Any:
    """Rows of one table as Arrow columns, in the order given."""
    import pyarrow as pa

    families, spaces, keys, uids, timestamps, values, extras = zip(*rows, strict=True)
    schema = rows_schema(spec)
    value_array = pa.array(values, pa.binary())
    extra_array = pa.array([extra or None for extra in extras] if spec.is_extra_instant else extras, pa.int64())
    columns = {
        "branch": pa.array([branch_names[uid] for uid in uids], pa.string()),
        "branch_uid": pa.array(uids, pa.int64()),
        "space": pa.array(spaces, pa.string()),
        "key": pa.array(keys, pa.binary()),
        "ts": pa.array(timestamps, pa.int64()),
        "deleted": value_array.is_null(),
        spec.value: value_array,
        spec.extra: extra_array,
    }
    if spec.has_family:
        columns["family"] = pa.array([family_name(family) for family in families], pa.string())
    # The casts from binary to string check that the bytes are UTF-8.
    return pa.table([columns[field.name].cast(field.type) for field in schema], schema=schema)


def commits_schema() -> Any:
    """Arrow schema of the table of commits."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("ts", pa.int64()),
            pa.field("last", pa.int64()),
            pa.field("committed_at", pa.timestamp("us", "UTC")),
            pa.field("branch", pa.string()),
            pa.field("branch_uid", pa.int64()),
            pa.field("author", pa.string()),
            pa.field("message", pa.string()),
            pa.field("puts", pa.int32()),
            pa.field("deletes", pa.int32()),
        ]
    )


def commits_to_arrow(commits: list[Commit], branch_names: Mapping[int, str]) -> Any:
    """One row per commit, in order."""
    import pyarrow as pa

    schema = commits_schema()
    deletes = [sum(record[3] is None for record in commit.records) for commit in commits]
    columns = [
        [commit.timestamp for commit in commits],
        [commit.last for commit in commits],
        [commit.committed_at_us for commit in commits],
        [branch_names[commit.branch] for commit in commits],
        [commit.branch for commit in commits],
        [commit.author for commit in commits],
        [commit.message for commit in commits],
        [len(commit.records) - deleted for commit, deleted in zip(commits, deletes, strict=True)],
        deletes,
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)
