"""What the packaged texts tell agents is true."""

from __future__ import annotations

import re

import stratadb
from strata_mcp.error_registry import ENTRIES
from strata_mcp.errors import catalog

TEXTS = stratadb.agents_guide() + stratadb.agents_skill()


def test_codes_in_the_texts_are_registered() -> None:
    """Ours: an agent that looks for a code from the guide will meet it."""
    codes = set(re.findall(r"\b[a-z_]+\.(?:engine|sdk|executor)\.[a-z_]+\b", TEXTS))
    assert len(codes) > 5
    assert codes - set(ENTRIES) == set()
    assert catalog()


def test_tools_in_the_guide_exist() -> None:
    """Ours: the guide's table names tools the server has."""
    rows = re.findall(r"^\| `db\.[^|]*\| `([a-z_]+)` \|", stratadb.agents_guide(), re.MULTILINE)
    commands = stratadb.command_index()["commands"]
    assert isinstance(commands, list)
    assert len(rows) == 10
    assert set(rows) - {command["mcp"]["name"] for command in commands} == set()


def test_snippets_run() -> None:
    """Ours: every Python block of the guide and the skill runs."""
    with stratadb.open(cache=True) as db:
        db.kv.put("counter", "1")
        db.json.set("config", {"retries": 3})
        names = {"stratadb": stratadb, "db": db}
        for block in re.findall(r"```python\n(.*?)```", TEXTS, re.DOTALL):
            kept = [line for line in block.splitlines() if "stratadb.open" not in line and "as_of_time=" not in line]
            exec(compile("\n".join(kept), "guide", "exec"), names)
            for name in set(db.branches) - {"default"}:
                db.branches.delete(name)
            for name in list(db.tags):
                db.tags.delete(name)
