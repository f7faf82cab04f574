"""Instants in the forms people write, to UTC microseconds and back."""

from strata_mcp.clock import TimeLike, to_datetime, to_micros

__all__ = ["TimeLike", "to_datetime", "to_micros"]
