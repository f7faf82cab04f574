"""
What type checkers must make of the public interface. Checked by mypy and pyright, never run.

Each `assert_type` is a promise to users; each ignored line is a mistake that must be reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import assert_type

import stratadb
from stratadb import Page, PromotionStrategy, Strata
from stratadb.errors import ConflictError, StrataError
from stratadb.filters import eq
from stratadb.namespaces import JSONNamespace, KVNamespace


def opening(path: Path) -> None:
    """Handles and views."""
    with stratadb.open(path, durability="always", memory_budget=1 << 30) as db:
        assert_type(db, Strata)
        assert_type(db.at(branch="b", space="s", author="me"), Strata)
        assert_type(db.kv, KVNamespace)
        assert_type(db.json, JSONNamespace)
        assert_type(db.branch, str)
    stratadb.open(3)  # type: ignore[arg-type]  # not a path
    stratadb.opne(path)  # type: ignore[attr-defined]  # not a name
    db.vectors  # type: ignore[attr-defined]  # not in this release  # noqa: B018
    assert_type(stratadb.to_micros("2030-01-01"), int | None)
    assert_type(stratadb.to_datetime(0), datetime | None)


def keys_and_values(db: Strata) -> None:
    """`db.kv`."""
    assert_type(db.kv.get("k"), bytes | None)
    assert_type(db.kv.get(b"k", as_of_time=datetime(2030, 1, 1, tzinfo=UTC)), bytes | None)
    assert_type(db.kv.keys(), Page[bytes])
    assert_type(db.kv.keys(limit=1)[0], bytes)
    assert_type(db.kv.iter_keys(), Iterator[bytes])
    assert_type(db.kv.get_many(["a", b"b"]), list[bytes | None])
    assert_type(db.kv.exists_many(["a"]), list[bool])
    assert_type(db.kv.count(), int)
    page = db.kv.keys(limit=10)
    db.kv.keys(limit=10, cursor=page.cursor)
    for row in db.kv.scan():
        assert_type(row.value, bytes)
    receipt = db.kv.put("k", b"v", expires_in=timedelta(hours=1), if_version=0).commit
    if receipt is not None:
        assert_type(receipt.version, int)
    db.kv.put_many({"a": "1"})
    db.kv.put_many({b"a": b"1"})
    db.kv.put_many([("a", "1"), {"key": "b", "value": "2"}])
    db.kv.put("k", 3)  # type: ignore[arg-type]  # not a value
    db.kv.get("k", as_of="yesterday")  # type: ignore[arg-type]  # not a commit number


def documents(db: Strata) -> None:
    """`db.json`."""
    db.json.set("d", {"a": [1, 2, None]})
    db.json.set("d", "$.a", 1, if_version=3)
    db.json.set("d")  # type: ignore[call-overload]  # no value
    assert_type(db.json.keys(), Page[str])
    assert_type(db.json.exists_many(["a"]), list[bool])
    entry = db.json.get_entry("d")
    if entry is not None:
        assert_type(entry.document_version, int)
    for row in db.json.query({"plan": "pro"}, order=["-age", "name"], limit=5, projection=["name"]):
        assert_type(row.key, str)
    db.json.query(eq("plan", "pro") & eq("active", True))
    db.json.set_many({"a": 1})
    db.json.set_many([("a", 1), ("a", "$.b", 2), {"key": "c", "value": 3}])
    db.json.get_many(["a", ("b", "$.c"), {"key": "d"}])


def branches(db: Strata) -> None:
    """`db.branches`, `db.tags`, transactions, errors."""
    item = db.branches.get("b")
    if item is not None:
        assert_type(item.name, str)
    for name in db.branches:
        assert_type(name, str)
    outcome = db.branches.merge("a", "b", strategy=PromotionStrategy.SOURCE_WINS)
    assert_type(outcome.target_version, int | None)
    for commit in db.branches.log(limit=5):
        assert_type(commit.message, str)
    tag = db.tags.get("t")
    if tag is not None:
        db.kv.get("k", as_of=tag.version)
    with db.transaction(message="why") as transaction:
        db.kv.put("k", "v")
    assert_type(transaction.branch, str)
    try:
        db.spaces.delete("s", force=True)
    except ConflictError as error:
        assert_type(error.code, str)
        assert_type(error.retryable, bool)
    except StrataError:
        raise
