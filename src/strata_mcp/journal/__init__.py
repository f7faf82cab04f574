"""Durability and order: the append-only log every commit goes through first."""
