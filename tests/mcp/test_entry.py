"""The entry point `strata-mcp`: what it makes of its command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("words", [[], ["a", "--db", "b"], ["/"], ["db", "--durability", "never"]], ids=str)
def test_a_server_says_what_is_wrong_with_its_command_line(tmp_path: Path, words: list[str]) -> None:
    """Ours: status 2 and a sentence on stderr; no traceback, nothing on stdout, nothing made."""
    done = subprocess.run(
        [sys.executable, "-m", "strata_mcp.server", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "strata-mcp" in done.stderr or "database" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
