"""The documents tell the truth: their Python blocks run, and the generated pages match the code."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def python_blocks(document: str) -> str:
    """All Python blocks of a document as one program, each on the lines it has in the document."""
    lines: list[str] = []
    inside = False
    for line in (ROOT / document).read_text(encoding="utf-8").splitlines():
        if inside and line.startswith("```"):
            inside = False
        keep = inside
        if line.startswith("```python"):
            inside = True
        lines.append(line if keep else "")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("document", ["README.md", "docs/guide.md"])
def test_python_blocks_run(document: str, tmp_path: Path) -> None:
    """Ours: what a document shows works as shown, top to bottom, in an empty folder."""
    program = tmp_path / re.sub(r"\W", "_", document)
    program.write_text(python_blocks(document), encoding="utf-8")
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", str(program)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr


def test_generated_pages_are_up_to_date() -> None:
    """Ours: docs/errors.md, docs/reference.md and docs/cli.md are what scripts/generate_docs.py writes."""
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.differences() == [], "run .venv/bin/python scripts/generate_docs.py"
