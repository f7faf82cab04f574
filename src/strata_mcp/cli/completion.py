"""Completion in the shell: which of the two command lines the words on it belong to."""

from __future__ import annotations

import os
from collections.abc import Collection

import typer

LINE = "_TYPER_COMPLETE_ARGS"
"""Where zsh and fish put the line up to the cursor."""
WORDS = "COMP_WORDS"
"""Where bash puts the words."""
INDEX = "COMP_CWORD"
"""Where bash says which word the cursor is on."""


def complete(
    general: typer.Typer, database: typer.Typer, general_words: Collection[str], families: Collection[str]
) -> int:
    """
    Answer the shell; it asks by environment variables.

    Args:
        general: the command line without a database.
        database: the command line of a database.
        general_words: first words of the general one.
        families: first words of a line that leaves the database out.
    """
    typer.main.get_command(general)  # makes typer's shells known, also to the other command line
    words = os.environ.get(LINE, os.environ.get(WORDS, "")).split()
    first = words[1] if _is_past_first(words) else ""
    is_general = not first or first in general_words or (first.startswith("-") and first != "--cache")
    if not is_general and first not in families:
        _forget_database(first)
    chosen = general if is_general else database
    status = chosen([], prog_name="strata", standalone_mode=False)
    return status if isinstance(status, int) else 0


def _is_past_first(words: list[str]) -> bool:
    """Whether the cursor is behind the first word after the program's name."""
    if LINE in os.environ:
        return len(words) > 2 or (len(words) == 2 and os.environ[LINE].endswith(" "))
    return len(words) > 1 and int(os.environ.get(INDEX, "0")) > 1


def _forget_database(first: str) -> None:
    """Take the database out of the line, so that what is left is a command line of it."""
    if LINE in os.environ:
        os.environ[LINE] = os.environ[LINE].replace(f" {first}", "", 1)
        return
    os.environ[WORDS] = os.environ[WORDS].replace(f" {first}", "", 1)
    os.environ[INDEX] = str(int(os.environ[INDEX]) - 1)
