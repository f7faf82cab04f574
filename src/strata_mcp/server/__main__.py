"""`python -m strata_mcp.server`."""

from __future__ import annotations

import sys

from strata_mcp.server import main

if __name__ == "__main__":
    sys.exit(main())
