"""Conditions on fields: `eq("plan", "pro") & eq("active", True)`."""

from strata_mcp.sdk.filters import Filter, eq

__all__ = ["Filter", "eq"]
