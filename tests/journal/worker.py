"""What other processes do in the journal's tests: `python -m tests.journal.worker NAME ARGUMENT...`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.journal.doubles import CrashIo
from tests.journal.support import commit, write

from strata_mcp.errors import StrataError
from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.io import OsIo
from strata_mcp.journal.layout import prepare
from strata_mcp.model import Durability

SWEEP_SEGMENT_BYTES = 400
SWEEP_TRUNCATE_AT = 9
SWEEP_LAST = 18
BIG = 7


def append_many(folder: str, count: str, durability: str) -> None:
    """Append `count` commits, level with everybody else each time; print the numbers given."""
    journal = FileJournal(Path(folder), Durability(durability), segment_bytes=4096)
    print("ready", flush=True)
    sys.stdin.readline()
    given = []
    for _ in range(int(count)):
        journal.acquire()
        try:
            while journal.stale():
                journal.read()
            number = journal.head + 1
            journal.append(commit(number))
        finally:
            journal.release()
        journal.sync()
        given.append(number)
    journal.close()
    print(*given)


def append_and_die(folder: str, moment: str) -> None:
    """Append, level with everybody else each time, until killed at a moment."""
    journal = FileJournal(Path(folder), Durability.STANDARD, CrashIo(int(moment)), segment_bytes=SWEEP_SEGMENT_BYTES)
    while True:
        journal.acquire()
        try:
            while journal.stale():
                journal.read()
            journal.append(commit(journal.head + 1))
        finally:
            journal.release()


def hold_lock(folder: str) -> None:
    """Take the lock and keep it until killed."""
    journal = FileJournal(Path(folder), Durability.STANDARD)
    journal.acquire()
    print("locked", flush=True)
    sys.stdin.readline()


def prepare_folder(folder: str) -> None:
    """Wait for the word, then make the database folder."""
    print("ready", flush=True)
    sys.stdin.readline()
    prepare(Path(folder), OsIo())
    FileJournal(Path(folder, "journal"), Durability.STANDARD).close()


def scripted(root: Path, io: OsIo, durability: Durability, acknowledge: int) -> None:
    """The workload of the crash sweep: every kind of step a journal takes, each number told once it is safe."""
    prepare(root, io)
    journal = FileJournal(root / "journal", durability, io, segment_bytes=SWEEP_SEGMENT_BYTES)
    journal.read()
    for number in range(3, SWEEP_LAST + 1):
        write(journal, number, 3 * SWEEP_SEGMENT_BYTES if number == BIG else 20)
        os.write(acknowledge, b"%d\n" % number)
        if number == SWEEP_TRUNCATE_AT:
            journal.truncate(SWEEP_TRUNCATE_AT - 2)
            journal.read()
    journal.truncate(SWEEP_LAST)
    os.write(acknowledge, b"%d\n" % (SWEEP_LAST + 1))
    journal.read()
    write(journal, SWEEP_LAST + 1)
    journal.close()


def sweep(folder: str, durability: str) -> None:
    """Run the workload once per moment, killed there; leaves one database and its acknowledgements for each."""
    moment = 0
    while True:
        moment += 1
        root = Path(folder, str(moment))
        told = os.open(f"{root}.acknowledged", os.O_WRONLY | os.O_CREAT)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                scripted(root, CrashIo(moment), Durability(durability), told)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        os.close(told)
        if status == 0:
            print(moment)
            return
        if os.WIFEXITED(status):
            raise SystemExit(f"the workload failed at moment {moment}")


def fork_child(folder: str) -> None:
    """Use a handle in a forked child; print the codes of the refusals, then use it in the parent."""
    journal = FileJournal(Path(folder), Durability.ALWAYS)
    journal.read()
    write(journal, journal.head + 1)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        for call in (journal.acquire, journal.read, journal.sync, lambda: journal.append(commit(99))):
            try:
                call()
            except StrataError as error:
                print(error.code, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    write(journal, journal.head + 1)
    journal.close()


def fork_holding(folder: str) -> None:
    """Fork while holding the lock, tell the child's id, die; the child lives on."""
    journal = FileJournal(Path(folder), Durability.STANDARD)
    journal.acquire()
    child = os.fork()
    if child == 0:
        print("forked", flush=True)
        sys.stdin.readline()
        os._exit(0)
    os._exit(0)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
