"""The command line as a subprocess."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Shell:
    """Runs `strata` with settings of its own."""

    errors = ""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": str(home)}
        for name in ("STRATA_DB", "CLAUDE_PROJECT_DIR"):
            self.environment.pop(name, None)

    def __call__(self, *words: str, status: int = 0, **variables: str) -> str:
        """Standard output of a command that must end with `status`; stderr is kept in `errors`."""
        done = subprocess.run(
            [sys.executable, "-m", "strata_mcp.cli", *words],
            capture_output=True,
            text=True,
            env={**self.environment, **variables},
            cwd=self.home,
            timeout=60,
            check=False,
        )
        self.errors = done.stderr
        assert done.returncode == status, (done.stdout, done.stderr)
        return done.stdout
