"""Checkpointed history: one versioned Lance table per kind of row, and reading it back quickly."""
