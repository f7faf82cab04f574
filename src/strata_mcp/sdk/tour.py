"""A short tour that anybody can run: every call and what came of it, on a database in memory."""

from __future__ import annotations

import sys

from strata_mcp.errors import ConflictError
from strata_mcp.sdk.handle import Strata


def show() -> None:
    """Print the tour."""
    with Strata(cache=True) as db:
        _say(f"Strata {db.version}: a tour of a database in memory. Nothing is kept.")
        _keys_and_values(db)
        _documents(db)
        _time_travel(db)
        _branches(db)
        _transactions(db)
        _say("\nNext: print(stratadb.agents_guide())")


def _keys_and_values(db: Strata) -> None:
    _title("Keys and values")
    written = db.kv.put("city/oslo", "0.7 million")
    db.kv.put_many({"city/paris": "2.1 million", "city/rome": "2.8 million"})
    _call('kv.put("city/oslo", "0.7 million").effect.kind', written.effect.kind.value)
    _call('kv.get("city/paris")', db.kv.get("city/paris"))
    _call('kv.get("city/atlantis")', db.kv.get("city/atlantis"))
    _call('kv.keys("city/").all()', db.kv.keys("city/").all())


def _documents(db: Strata) -> None:
    _title("JSON documents")
    db.json.set_many({"user:ada": {"plan": "pro", "age": 36}, "user:bob": {"plan": "free", "age": 52}})
    db.json.set("user:ada", "$.address.city", "London")
    _call('json.get("user:ada")', db.json.get("user:ada"))
    found = db.json.query({"plan": "pro"})
    _call('json.query({"plan": "pro"})', [row.key for row in found])


def _time_travel(db: Strata) -> None:
    _title("Time travel")
    entry = db.json.get_entry("user:ada")
    version = entry.version if entry is not None else None
    db.json.set("user:ada", "$.plan", "enterprise")
    _call('json.get("user:ada", "$.plan")', db.json.get("user:ada", "$.plan"))
    _call(f'json.get("user:ada", "$.plan", as_of={version})', db.json.get("user:ada", "$.plan", as_of=version))
    _call('len(json.history("user:ada"))', len(db.json.history("user:ada") or []))


def _branches(db: Strata) -> None:
    _title("Branches")
    db.branches.fork("default", "experiment")
    trial = db.at(branch="experiment")
    trial.kv.put("city/rome", "3 million")
    trial.kv.delete("city/oslo")
    _call('on the fork: kv.get("city/rome")', trial.kv.get("city/rome"))
    _call('on default:  kv.get("city/rome")', db.kv.get("city/rome"))
    changes = db.branches.diff("default", "experiment").spaces[0]
    _call("branches.diff: modified", [item.identity for item in changes.modified])
    _call("branches.diff: removed", [item.identity for item in changes.removed])
    outcome = db.branches.merge("experiment", "default")
    _call("branches.merge: applied, deleted", (len(outcome.applied), len(outcome.deleted)))
    _call('on default:  kv.get("city/rome")', db.kv.get("city/rome"))


def _transactions(db: Strata) -> None:
    _title("One commit, or none")
    with db.transaction(message="move 10 coins") as transaction:
        db.json.set("account:1", {"coins": 90})
        db.json.set("account:2", {"coins": 110})
    receipt = transaction.commit
    _call("transaction.commit.put_count", receipt.put_count if receipt is not None else 0)
    try:
        db.kv.put("city/paris", "nobody", if_version=1)
    except ConflictError as error:
        _call('kv.put("city/paris", ..., if_version=1)', error.code)


def _title(text: str) -> None:
    _say(f"\n{text}")


def _call(call: str, result: object) -> None:
    _say(f"  {call:<52} {result!r}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
