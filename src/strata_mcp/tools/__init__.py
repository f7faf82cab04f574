"""The vocabulary: one typed operation per command. MCP, the command line and `db.execute` are made from it."""
