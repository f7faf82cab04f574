"""Texts for agents that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).resolve().parent.parent / "data"


def guide() -> str:
    """How to use Strata, for an agent that has never seen it."""
    return (DATA / "agents_guide.md").read_text(encoding="utf-8")


def skill() -> str:
    """The same as a skill file: front matter, then what to do."""
    return (DATA / "agents_skill.md").read_text(encoding="utf-8")
