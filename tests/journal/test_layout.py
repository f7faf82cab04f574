"""The folder of a database: which folders become one, which are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_mcp.errors import StrataError
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.layout import prepare


def code_of(path: Path) -> str:
    """Code of the refusal to prepare `path`."""
    with pytest.raises(StrataError) as refusal:
        prepare(path, OsIo())
    return refusal.value.code


def tree(path: Path) -> list[str]:
    """Everything below a folder."""
    return sorted(str(entry.relative_to(path)) for entry in path.rglob("*"))


@pytest.mark.parametrize("exists", [False, True])
def test_new_or_empty_folder_becomes_a_database(tmp_path: Path, exists: bool) -> None:
    """Spec: one missing level is created, an empty folder is taken, and the second time it is there already."""
    path = tmp_path / "db"
    if exists:
        path.mkdir()
    assert prepare(path, OsIo()) is True
    assert tree(path) == ["FORMAT", "indexes", "journal", "tables"]
    assert (path / "FORMAT").read_text() == "strata 1\n"
    assert prepare(path, OsIo()) is False


def test_missing_parent_or_plain_file_is_an_invalid_path(tmp_path: Path) -> None:
    """Spec: only one level is created, and a file is no folder."""
    assert code_of(tmp_path / "a" / "b") == "invalid_argument.engine.persistence"
    (tmp_path / "file").write_text("hello")
    assert code_of(tmp_path / "file") == "invalid_argument.engine.persistence"
    assert code_of(tmp_path / "file" / "db") == "invalid_argument.engine.persistence"
    assert tree(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["notes.txt", "journal/old.log", "FORMAT"])
def test_foreign_folder_is_left_alone(tmp_path: Path, name: str) -> None:
    """Ours: a folder with anybody else's files in it is refused untouched."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = tree(tmp_path)
    assert code_of(tmp_path) == "failed_precondition.engine.foreign_folder"
    assert tree(tmp_path) == before
    assert (tmp_path / name).read_text() == "mine"


def test_newer_format_is_refused_untouched(tmp_path: Path) -> None:
    """Spec: a format this build does not know is named in the refusal and nothing is changed."""
    (tmp_path / "FORMAT").write_text("strata 2\n")
    assert code_of(tmp_path) == "failed_precondition.engine.format_version"
    assert tree(tmp_path) == ["FORMAT"]


def test_interrupted_creation_is_finished(tmp_path: Path) -> None:
    """Ours: what a creation that died leaves behind counts as an empty folder, and is tidied up."""
    (tmp_path / "journal").mkdir()
    (tmp_path / "FORMAT.123.456.tmp").write_text("str")
    assert prepare(tmp_path, OsIo()) is True
    assert tree(tmp_path) == ["FORMAT", "indexes", "journal", "tables"]


def test_database_without_its_journal_is_refused(tmp_path: Path) -> None:
    """Ours: a database that lost a folder is not silently given an empty one; rebuildable caches are."""
    prepare(tmp_path, OsIo())
    (tmp_path / "indexes").rmdir()
    assert prepare(tmp_path, OsIo()) is False
    assert (tmp_path / "indexes").is_dir()
    (tmp_path / "journal").rmdir()
    assert code_of(tmp_path) == "data_loss.engine.control_plane_missing"
