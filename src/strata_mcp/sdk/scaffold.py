"""Tell the agents that work in a repository that it uses Strata: a skill file and a passage in their notes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

from strata_mcp.sdk.guides import skill

Action: TypeAlias = Literal["created", "updated", "unchanged", "removed"]

SKILL_PATH: Final = ".claude/skills/strata-python/SKILL.md"
FORMER_SKILL_PATH: Final = ".claude/skills/strata/SKILL.md"
DEMO: Final = "stratadb.demo"
INIT: Final = "stratadb.init"
WRITTEN_BY_US: Final = f"{INIT} writes this file"

BEGIN: Final = f"<!-- strata:begin ({INIT} keeps this passage up to date; edits inside are lost) -->"
END: Final = "<!-- strata:end -->"
# A stanza has something in brackets behind its name: markers people write by hand are left alone.
STANZA: Final = re.compile(r"<!-- strata:begin \([^\n]*\) -->\n.*?<!-- strata:end -->", re.DOTALL)

PASSAGE: Final = f"""\
## Strata

State in this repository lives in Strata, an embedded database with branches and time travel (`import stratadb`).

- `print(stratadb.agents_guide())` is the whole manual: calls, patterns, errors. Read it before the first use.
- `db = stratadb.open("./app-data")` opens a database on disk, `stratadb.open(cache=True)` one in memory for tests.
- `db.kv` holds bytes, `db.json` documents; `db.branches` forks, compares and merges; reads take `as_of=`.
- Risky change? Fork a branch, work in `db.at(branch=...)`, look at `db.branches.diff`, then merge or delete.
- `python -m {DEMO}` shows it at work. `strata ./app-data mcp serve` serves the same database over MCP.
"""


def write(repo_path: str, include_claude_md: bool) -> list[tuple[str, Action]]:
    """
    Bring the files of a repository up to date; text outside our markers stays as it is.

    Args:
        repo_path: the repository's folder.
        include_claude_md: keep a passage in CLAUDE.md too, beside the one in AGENTS.md.

    Returns:
        What happened to each file, by its path within the repository.
    """
    root = Path(repo_path)
    actions: list[tuple[str, Action]] = [(SKILL_PATH, _replace(root / SKILL_PATH, skill()))]
    former = root / FORMER_SKILL_PATH
    if former.is_file() and WRITTEN_BY_US in former.read_text(encoding="utf-8", errors="replace"):
        former.unlink()
        if not any(former.parent.iterdir()):
            former.parent.rmdir()
        actions.append((FORMER_SKILL_PATH, "removed"))
    names = ("AGENTS.md", "CLAUDE.md") if include_claude_md else ("AGENTS.md",)
    actions.extend((name, _put_passage(root / name)) for name in names)
    return actions


def _put_passage(path: Path) -> Action:
    stanza = f"{BEGIN}\n{PASSAGE}{END}"
    if not path.exists():
        return _replace(path, stanza + "\n")
    before = path.read_text(encoding="utf-8")
    if STANZA.search(before):
        after = STANZA.sub(lambda _: stanza, before, count=1)
    else:
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        after = f"{before}{gap}{stanza}\n"
    return _replace(path, after)


def _replace(path: Path, content: str) -> Action:
    existed = path.exists()
    if existed and path.read_text(encoding="utf-8", errors="replace") == content:
        return "unchanged"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return "updated" if existed else "created"
