"""What every journal promises, whatever keeps its commits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.journal.support import commit, write

from strata_mcp.errors import StrataError
from strata_mcp.journal.file import FileJournal
from strata_mcp.journal.memory import MemoryJournal
from strata_mcp.journal.port import Journal
from strata_mcp.model import FRESH_HEAD, Durability

WAIT_S = 5

MAKERS: dict[str, Callable[[Path], Journal]] = {
    "memory": lambda path: MemoryJournal(),
    "standard": lambda path: FileJournal(path, Durability.STANDARD),
    "always": lambda path: FileJournal(path, Durability.ALWAYS),
}


@pytest.fixture(params=sorted(MAKERS))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """A fresh journal of each kind, level."""
    made = MAKERS[request.param](tmp_path)
    assert made.read() == []
    yield made
    made.close()


def test_fresh_journal_stands_at_its_creation(journal: Journal) -> None:
    """Ours: a journal nobody wrote to has the head of a fresh database and nothing wrong with it."""
    assert journal.head == FRESH_HEAD
    assert journal.damage is None
    assert not journal.read_only
    assert journal.recovered_bytes == 0
    assert not journal.stale()


def test_append_moves_the_head_to_the_last_number(journal: Journal) -> None:
    """Ours: the head is the highest number a commit occupies, and the appender stays level."""
    journal.acquire()
    journal.append(commit(4, last=6))
    journal.append(commit(7))
    journal.release()
    journal.sync()
    assert journal.head == 7
    assert not journal.stale()
    assert journal.control_words[0] == journal.seen
    assert journal.read() == []


def test_append_changes_the_shared_sequence(journal: Journal) -> None:
    """Ours: word 0 of the control words differs after every append."""
    values = {journal.control_words[0]}
    for number in range(3, 8):
        write(journal, number)
        values.add(journal.control_words[0])
    assert len(values) == 6


def test_append_out_of_order_is_refused(journal: Journal) -> None:
    """Ours: a number that is taken already cannot be appended, and nothing changes."""
    write(journal, 3)
    journal.acquire()
    with pytest.raises(StrataError) as refusal:
        journal.append(commit(3))
    journal.release()
    assert refusal.value.code == "internal.engine.persistence"
    assert journal.head == 3
    write(journal, 4)


def test_lock_admits_one_thread_at_a_time(journal: Journal) -> None:
    """Ours: threads that append under the lock never meet."""
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            journal.acquire()
            inside += 1
            most = max(most, inside)
            journal.append(commit(journal.head + 1))
            inside -= 1
            journal.release()
            journal.sync()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert most == 1
    assert journal.head == FRESH_HEAD + 150


def test_seek_makes_the_handle_unlevel_until_it_reads(journal: Journal) -> None:
    """Ours: after a seek the handle must read before it may append."""
    write(journal, 3)
    journal.seek(3)
    assert journal.stale()
    journal.acquire()
    with pytest.raises(StrataError):
        journal.append(commit(4))
    journal.release()
    assert journal.read() == []
    assert journal.head == 3
    write(journal, 4)


def test_truncate_below_everything_changes_nothing(journal: Journal) -> None:
    """Ours: dropping up to a number before the first commit drops none."""
    write(journal, 3)
    journal.truncate(1)
    journal.read()
    assert journal.head == 3
    write(journal, 4)


def test_truncate_of_everything_leaves_no_bytes(journal: Journal) -> None:
    """Ours: once every commit is covered the journal is empty, and goes on with the next number."""
    write(journal, 3)
    write(journal, 4)
    journal.truncate(4)
    journal.read()
    assert journal.base == 4
    assert journal.size_bytes() == 0
    write(journal, 5)
    assert journal.head == 5


def test_closed_journal_refuses_everything(journal: Journal) -> None:
    """Ours: a closed handle says so, and closing again does nothing."""
    journal.close()
    journal.close()
    for call in (journal.acquire, journal.read, lambda: journal.append(commit(3))):
        with pytest.raises(StrataError) as refusal:
            call()
        assert refusal.value.code == "failed_precondition.sdk.handle_closed"
    assert isinstance(journal.control_words[0], int)
