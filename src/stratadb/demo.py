"""`python -m stratadb.demo` prints a short tour of a database in memory."""

from strata_mcp.sdk import demo

if __name__ == "__main__":
    demo()
