"""A command line for every test of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.shell import Shell


@pytest.fixture
def strata(tmp_path: Path) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path)
