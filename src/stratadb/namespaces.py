"""The classes behind `db.kv`, `db.json` and so on, for annotations."""

from strata_mcp.sdk.admin import AdminNamespace
from strata_mcp.sdk.branches import BranchesNamespace
from strata_mcp.sdk.json import JSONNamespace
from strata_mcp.sdk.kv import KVNamespace
from strata_mcp.sdk.spaces import SpacesNamespace
from strata_mcp.sdk.tags import TagsNamespace

__all__ = [
    "AdminNamespace",
    "BranchesNamespace",
    "JSONNamespace",
    "KVNamespace",
    "SpacesNamespace",
    "TagsNamespace",
]
