"""`python -m strata_mcp.cli`."""

from __future__ import annotations

import sys

from strata_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
