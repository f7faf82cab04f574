"""Strata: an embedded, versioned state layer for AI agents. The public interface is `stratadb`."""

__version__ = "0.1.0"
