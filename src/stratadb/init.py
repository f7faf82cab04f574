"""`python -m stratadb.init [path]` tells the agents that work in a repository about Strata."""

import sys

from strata_mcp.sdk import init


def main(arguments: list[str]) -> int:
    """Write the files and say what happened to each."""
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: python -m stratadb.init [path]", file=sys.stderr)
        return 0 if arguments[0] in ("-h", "--help") else 2
    root = arguments[0] if arguments else "."
    for path, action in init(root):
        print(f"{action:>9}  {root}/{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
