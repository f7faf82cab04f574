"""Importing and first use stay light."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    *("duckdb", "lance", "lancedb", "litellm", "mcp", "networkx"),
    *("numpy", "pandas", "pyarrow", "pydantic", "rich", "typer"),
}
REPORT = f"\nimport sys; print(' '.join(name for name in {HEAVY} if name in sys.modules))"


@pytest.mark.parametrize(
    "program",
    [
        "import stratadb",
        "import stratadb; db = stratadb.open(cache=True); db.kv.put('k', 'v'); db.kv.get('k'); db.close()",
        "import stratadb; stratadb.open(cache=True).json.set('d', {'a': 1})",
        "import stratadb; stratadb.errors, stratadb.filters, stratadb.clock, stratadb.agents_guide()",
    ],
)
def test_nothing_heavy_is_loaded(program: str) -> None:
    """Ours: neither the import nor key-value and document work in memory loads a heavy package."""
    result = subprocess.run(
        [sys.executable, "-c", program + REPORT], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.split() == []


def test_import_loads_no_namespace() -> None:
    """Ours: `import stratadb` loads neither the engine nor a namespace nor the result shapes."""
    program = "import stratadb, sys; print(' '.join(name for name in sys.modules if name.startswith('strata')))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert set(result.stdout.split()) <= {"stratadb", "strata_mcp", "strata_mcp.sdk"}
