"""
A scripted life of a database that is killed at the n-th step: `python script.py FOLDER N`.

Every acknowledged step is printed at once; the parent compares what survived with what was printed.
With N = 0 nothing dies and the number of moments is printed last.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.journal.doubles import CrashIo

from strata_mcp.engine import Engine
from strata_mcp.journal.file import FileJournal
from strata_mcp.model import Durability
from strata_mcp.tables.checkpoint import run_checkpoint
from strata_mcp.tables.compaction import compact
from strata_mcp.tables.state import read_state


def main(folder: str, moment: int) -> None:
    """Write, branch, merge, checkpoint, compact; say what was acknowledged."""
    path = Path(folder)
    io = CrashIo(moment)

    def say(*words: object) -> None:
        print(*words, flush=True)

    def checkpoint() -> None:
        journal = FileJournal(path / "journal", Durability.STANDARD, io, start_after=read_state(path).head)
        run_checkpoint(path, journal, io)
        journal.close()
        say("checkpoint")

    engine = Engine.open(path, io=io, durability="always")
    for number in range(4):
        engine.kv.put("default", "default", b"k%d" % number, b"v")
        say("kv", "default", number)
    engine.json.set("default", "default", "doc", "$", {"a": 1})
    say("json", 1)
    engine.branches.fork("default", "f")
    say("fork")
    pairs = [(b"b%d" % number, b"v") for number in range(3)]
    engine.kv.batch_put("f", "default", pairs)
    say("batch")
    checkpoint()
    with engine.store.transaction("f"):
        engine.kv.put("f", "notes", b"t", b"v")
        engine.json.set("f", "default", "doc", "$.b", 2)
    say("transaction")
    engine.branches.merge("f", "default")
    say("merge")
    checkpoint()
    compact(path, io)
    say("compact")
    engine.kv.delete("default", "default", b"k0")
    say("delete")
    engine.close(checkpoint=False)
    say("moments", io.moments)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
