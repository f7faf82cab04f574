"""
Every error code Strata can raise: its class, what happened, what to do next, and whether a retry helps.

Codes are append-only: a released code keeps its meaning. Loaded on the first error, not before.
"""

from __future__ import annotations

from strata_mcp.error_registry.documents import DOCUMENTS
from strata_mcp.error_registry.exchange import EXCHANGE
from strata_mcp.error_registry.graphs import GRAPHS
from strata_mcp.error_registry.models import MODELS
from strata_mcp.error_registry.storage import STORAGE
from strata_mcp.error_registry.surfaces import SURFACES
from strata_mcp.error_registry.vectors import VECTORS
from strata_mcp.error_registry.versions import VERSIONS

PARTS = (VERSIONS, STORAGE, DOCUMENTS, VECTORS, GRAPHS, EXCHANGE, MODELS, SURFACES)

ENTRIES = {code: entry for part in PARTS for code, entry in part.items()}
"""code -> (class, message, hint, retry policy, commit outcome)."""
