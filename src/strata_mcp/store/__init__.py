"""Views, commits, branches, diff and merge: time travel written once, for every family."""
