"""`stratadb.init` tells coding agents about Strata and leaves everything else alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import stratadb
from strata_mcp.sdk.scaffold import BEGIN, END

SKILL = ".claude/skills/strata-python/SKILL.md"


def test_first_run_creates_all_files(tmp_path: Path) -> None:
    """Spec: the skill, AGENTS.md and CLAUDE.md, each reported."""
    assert stratadb.init(str(tmp_path)) == [(SKILL, "created"), ("AGENTS.md", "created"), ("CLAUDE.md", "created")]
    assert (tmp_path / SKILL).read_text() == stratadb.agents_skill()
    passage = (tmp_path / "AGENTS.md").read_text()
    assert passage == (tmp_path / "CLAUDE.md").read_text()
    assert passage.startswith(BEGIN)
    assert passage.endswith(END + "\n")


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    """Spec: running again is harmless."""
    stratadb.init(str(tmp_path))
    assert {action for _, action in stratadb.init(str(tmp_path))} == {"unchanged"}


def test_claude_md_can_be_left_out(tmp_path: Path) -> None:
    """Spec: include_claude_md=False neither writes nor reports CLAUDE.md."""
    assert [path for path, _ in stratadb.init(str(tmp_path), include_claude_md=False)] == [SKILL, "AGENTS.md"]
    assert not (tmp_path / "CLAUDE.md").exists()


def test_text_outside_the_markers_stays(tmp_path: Path) -> None:
    """Spec: a passage is appended, later refreshed in place."""
    notes = tmp_path / "AGENTS.md"
    notes.write_text("# Notes\n\nours")
    assert dict(stratadb.init(str(tmp_path)))["AGENTS.md"] == "updated"
    first = notes.read_text()
    assert first.startswith("# Notes\n\nours\n\n" + BEGIN)
    notes.write_text(first.replace("import stratadb", "something old") + "tail")
    assert dict(stratadb.init(str(tmp_path)))["AGENTS.md"] == "updated"
    assert notes.read_text() == first + "tail"


def test_a_passage_of_the_peer_is_replaced(tmp_path: Path) -> None:
    """Ours: whoever changes over keeps one passage, not two."""
    notes = tmp_path / "AGENTS.md"
    notes.write_text("a\n<!-- strata:begin (managed) -->\nformer text\n<!-- strata:end -->\nb\n")
    stratadb.init(str(tmp_path))
    text = notes.read_text()
    assert text.count("strata:begin") == 1
    assert "former text" not in text
    assert text.startswith("a\n")
    assert text.endswith("\nb\n")


def test_only_our_own_former_skill_is_removed(tmp_path: Path) -> None:
    """Spec: a skill this function wrote under its former name goes; somebody else's stays."""
    former = tmp_path / ".claude/skills/strata/SKILL.md"
    former.parent.mkdir(parents=True)
    former.write_text("---\nname: strata\n---\nnot ours\n")
    stratadb.init(str(tmp_path))
    assert former.exists()
    former.write_text(stratadb.agents_skill())
    assert (".claude/skills/strata/SKILL.md", "removed") in stratadb.init(str(tmp_path))
    assert not former.parent.exists()


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    """Spec: `python -m stratadb.init path` does the same and says what it did."""
    command = [sys.executable, "-m", "stratadb.init", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert len(result.stdout.splitlines()) == 3
    assert (tmp_path / SKILL).exists()
    usage = subprocess.run([*command[:3], "--nonsense"], capture_output=True, text=True, timeout=60, check=False)
    assert usage.returncode == 2
    assert "usage" in usage.stderr


def test_the_skill_has_front_matter() -> None:
    """Spec: YAML front matter with the skill's name."""
    text = stratadb.agents_skill()
    assert text.startswith("---\nname: strata-python\ndescription:")
    assert text.index("\n---\n") < text.index("# Strata")


def test_mcp_config_names_the_command(tmp_path: Path) -> None:
    """Spec: command and arguments that start the server."""
    assert stratadb.mcp_config(tmp_path) == {"command": "strata", "args": [str(tmp_path), "mcp", "serve"]}
