"""How long a client goes on with what it has read, under a clock that the test moves."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from rowkey import Design
from rowkey.catalog import CatalogEntry, Lease, open_catalog
from rowkey.catalog.stores.memory import MemoryCatalog
from rowkey.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENTRY = CatalogEntry.from_design(Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"}), (), 0)
NEXT = ENTRY.announce_generation({0: 8}, (), 1)


class Shelf(MemoryCatalog):
    """A catalog that counts what it is asked, and may be out of reach or slow."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.is_lost = False
        self.gate = Event()
        self.gate.set()
        self.changed: Callable[[], None] = lambda: None

    def read(self, table: str) -> CatalogEntry | None:
        self.reads += 1
        self.gate.wait(10)
        if self.is_lost:
            raise Unavailable("shelf", "nobody answers")
        return super().read(table)

    def watch(self, table: str, callback: Callable[[], None]) -> None:
        self.changed = callback


class Held:
    """A lease on a shelf, and the clock that it goes by."""

    def __init__(self, stale_s: float | None = None) -> None:
        self.shelf = Shelf()
        version = self.shelf.write("t", ENTRY, None)
        self.known = replace(ENTRY, version=version)
        self.now = 0.0
        self.lease = Lease(self.shelf, "t", self.known, stale_s, clock=lambda: self.now)

    def settle(self) -> None:
        """Wait for the thread that reads, if there is one."""
        thread = self.lease._thread
        if thread is not None:
            thread.join()

    def change(self) -> CatalogEntry:
        """Somebody else changes the table."""
        found = self.shelf.read("t")
        assert found is not None
        return replace(NEXT, version=self.shelf.write("t", NEXT, found.version))


def test_a_fresh_entry_is_not_read_again() -> None:
    """For a third of its time nobody asks the catalog, and a change is not noticed."""
    held = Held()
    held.change()
    reads = held.shelf.reads
    for now in (0.0, 10.0, 19.9):
        held.now = now
        assert held.known == held.lease.get_entry()
    held.settle()
    assert reads == held.shelf.reads


def test_an_older_entry_is_read_in_the_background() -> None:
    """After a third of its time an entry is read again in the background."""
    held = Held()
    changed = held.change()
    held.now = 20.0
    assert held.known == held.lease.get_entry()
    held.settle()
    assert changed == held.lease.get_entry()
    assert 0.0 == held.lease.age_s


def test_one_thread_reads_at_a_time_and_not_again_at_once() -> None:
    """However many ask while it is slow or lost, the catalog is asked once in a while."""
    held = Held()
    held.now, held.shelf.is_lost = 20.0, True
    held.shelf.gate.clear()
    before = held.shelf.reads
    for _ in range(50):
        assert held.known == held.lease.get_entry()
    held.shelf.gate.set()
    held.settle()
    for _ in range(50):
        assert held.known == held.lease.get_entry()
    held.settle()
    assert before + 1 == held.shelf.reads
    held.now = 22.0
    assert held.known == held.lease.get_entry()
    held.settle()
    assert before + 2 == held.shelf.reads


def test_an_expired_entry_is_read_before_use() -> None:
    """A client that was suspended uses no entry that it has not read since."""
    held = Held()
    changed = held.change()
    held.now = 3_600.0
    assert held.lease.is_expired
    assert changed == held.lease.get_entry()
    assert not held.lease.is_expired


def test_at_its_end_a_catalog_that_is_lost_refuses() -> None:
    """Writing goes on while it is lost, not beyond the time, and goes on when it is back."""
    held = Held()
    held.shelf.is_lost = True
    for now in (1.0, 30.0, 59.9):
        held.now = now
        assert held.known == held.lease.get_entry()
        held.settle()
    held.now = 60.0
    for _ in range(2):
        with pytest.raises(Unavailable) as refused:
            held.lease.get_entry()
        assert str(refused.value) == (
            "table t: its catalog has not answered for 60 s: shelf: nobody answers; "
            "expected an answer within 60 s. "
            "Reads and writes go on by themselves once the catalog answers."
        )
    held.shelf.is_lost = False
    assert held.known == held.lease.get_entry()


def test_a_table_that_is_gone_or_older_is_refused() -> None:
    """An entry that was removed, or is a former one, is no answer."""
    held = Held()
    changed = held.change()
    held.lease.adopt_entry(changed)
    held.shelf.remove("t")
    held.now = 60.0
    with pytest.raises(Unavailable, match="has no entry for it any more"):
        held.lease.get_entry()
    held.shelf.write("t", ENTRY, None)
    with pytest.raises(Unavailable, match="an older entry than was read before, version 1"):
        held.lease.get_entry()


BORN_A, BORN_B = replace(ENTRY, table_id="a"), replace(ENTRY, table_id="b")
OTHER_COUNTS = CatalogEntry.from_design(
    Design("t", "[bucket(id, 9)][id]", fields={"id": "u64"}), (), 0
)
OTHER_KEY = replace(ENTRY, declaration=OTHER_COUNTS.declaration)
LATER = replace(ENTRY, generations=(replace(ENTRY.generations[0], opened_ms=5),))
RULED = replace(NEXT.activate_generation(), version=2)


@pytest.mark.parametrize(
    ("known", "found"),
    [
        (ENTRY, NEXT),  # put back under the version of one who has not read of what it tells
        (ENTRY, replace(ENTRY, codes={"id": ("x",)})),
        (ENTRY, OTHER_KEY),
        (ENTRY, LATER),
        (ENTRY, replace(LATER, version=7)),
        (ENTRY, replace(OTHER_COUNTS, version=7)),
        (BORN_A, BORN_B),
        (BORN_A, replace(BORN_B, version=7)),
        (replace(NEXT, version=2), replace(ENTRY, version=7)),  # the announcement is lost
        (replace(NEXT, version=2), replace(ENTRY.announce_generation({0: 8}, (), 9), version=7)),
        (RULED, replace(NEXT, version=7)),
        (RULED, replace(NEXT, version=2)),
    ],
)
def test_what_does_not_follow_is_refused_at_once(known: CatalogEntry, found: CatalogEntry) -> None:
    """A catalog that was put back, and a table that was created again, count versions from 1 on."""
    held = Held()
    held.lease._set_entry(replace(known, version=max(1, known.version)))
    held.shelf._entries["t"] = replace(found, version=max(1, found.version))
    for ask in (held.lease.renew_entry, held.lease.get_entry, held.lease.get_entry):
        with pytest.raises(Unavailable, match="or it was created again; expected version") as no:
            ask()
    assert no.value.mistake.remedy.startswith("If the table was created again, open it again")
    with pytest.raises(Unavailable, match="restored from a backup, or it was created again"):
        held.lease.adopt_entry(held.shelf._entries["t"])
    held.shelf._entries["t"] = held.lease.last_entry
    assert held.lease.last_entry == held.lease.get_entry()


@pytest.mark.parametrize("known", [ENTRY, BORN_A, replace(BORN_A, version=3)])
@pytest.mark.parametrize(
    "found",
    [
        replace(ENTRY, version=8, codes={"id": ("x",)}),
        replace(BORN_A, version=8, declaration="description = 'more'"),
        replace(NEXT, version=8),
        RULED,
        replace(
            NEXT.activate_generation().announce_generation({0: 2}, (), 3), version=8, table_id="a"
        ),
    ],
)
def test_what_follows_is_gone_by(known: CatalogEntry, found: CatalogEntry) -> None:
    """Whatever was done to the table since: ids, safe changes of its design, other numbers."""
    held = Held()
    held.lease._set_entry(replace(known, version=1))
    held.shelf._entries["t"] = found
    assert found == held.lease.renew_entry() == held.lease.get_entry()


def test_one_that_lost_its_times_with_the_catalog_is_the_same() -> None:
    """A table that never changed is put back as it was, but for when it was made."""
    held = Held()
    (first,) = ENTRY.generations
    back = replace(held.known, generations=(replace(first, opened_ms=None),), table_id="a")
    held.shelf._entries["t"] = back
    held.now = 70.0
    assert held.known == held.lease.get_entry()
    assert 0.0 == held.lease.age_s


def test_an_answer_from_before_an_own_write_is_no_older_copy() -> None:
    """It was asked for before this client wrote; what it wrote follows from that."""
    held = Held()
    held.now = 10.0
    read = held.shelf.read

    def late(table: str) -> CatalogEntry | None:
        found = read(table)
        held.shelf.read = read  # type: ignore[method-assign]
        held.lease.adopt_entry(held.change())
        return found

    held.shelf.read = late  # type: ignore[method-assign]
    assert 2 == held.lease.renew_entry().version
    assert (0.0, 2) == (held.lease.age_s, held.lease.get_entry().version)


def test_good_news_that_came_while_it_failed_is_believed() -> None:
    """A watch may have it read behind who asks at its end, and whose answer is lost."""
    held = Held()
    changed, held.now = held.change(), 61.0
    read = held.shelf.read

    def fails(_: str) -> CatalogEntry | None:
        held.shelf.read = read  # type: ignore[method-assign]
        held.shelf.changed()
        held.settle()
        raise Unavailable("shelf", "the answer was lost")

    held.shelf.read = fails  # type: ignore[method-assign, assignment]
    assert changed == held.lease.get_entry()


def test_good_news_that_came_while_others_waited_is_believed() -> None:
    """Who waits for another's answer looks at the time again, whatever the other was told."""
    held = Held()
    changed, held.now = held.change(), 61.0

    @contextmanager
    def waiting() -> Iterator[None]:
        held.shelf.is_lost = True
        with pytest.raises(Unavailable, match="nobody answers"):
            held.lease.renew_entry()
        held.shelf.is_lost = False
        held.lease.renew_entry()
        yield

    held.lease._renewal_lock = waiting()  # type: ignore[assignment]
    assert changed == held.lease.get_entry()


def test_what_the_client_wrote_itself_holds_at_once() -> None:
    """It goes by it; an older one that a thread was just reading changes nothing."""
    held = Held()
    changed = held.change()
    held.lease.adopt_entry(changed)
    assert changed == held.lease.get_entry()
    held.lease.adopt_entry(held.known)
    assert changed == held.lease.get_entry()


def test_a_notified_change_is_read_at_once() -> None:
    """A change that the catalog notifies is read at once."""
    held = Held()
    changed = held.change()
    held.shelf.changed()
    held.settle()
    assert changed == held.lease.get_entry()


def test_a_change_notified_during_a_read_is_read_again() -> None:
    """A read that began before a notified change is repeated."""
    held = Held()
    held.shelf.gate.clear()
    held.shelf.changed()
    before = held.shelf.reads
    held.shelf.changed()
    held.shelf.gate.set()
    held.settle()
    assert held.shelf.reads >= max(before, 1) + 1


def test_the_time_is_the_table_s_or_a_shorter_one_of_the_client() -> None:
    """A table says how long its clients may go on; a client may be stricter, never laxer."""
    assert 60.0 == Held().lease.max_stale_s
    assert 2.0 == Held(2.0).lease.max_stale_s
    held = Held(600.0)
    assert 60.0 == held.lease.max_stale_s
    held.lease.adopt_entry(replace(ENTRY.announce_generation({0: 8}, (), 1, 5.0), version=9))
    assert 5.0 == held.lease.max_stale_s


def test_a_closed_one_asks_no_more() -> None:
    """What is being read is waited for, and nothing is read after."""
    held = Held()
    held.now = 20.0
    held.lease.get_entry()
    held.lease.close()
    reads = held.shelf.reads
    held.now = 50.0
    held.lease.get_entry()
    held.shelf.changed()
    held.lease.close()
    assert reads == held.shelf.reads


def test_many_threads_at_its_end_ask_once() -> None:
    """Of many that find the time over one reads for all, and all go on."""
    held = Held()
    changed = held.change()
    before, held.now = held.shelf.reads, 90.0
    held.shelf.gate.clear()
    found: list[CatalogEntry] = []
    threads = [Thread(target=lambda: found.append(held.lease.get_entry())) for _ in range(8)]
    for thread in threads:
        thread.start()
    held.shelf.gate.set()
    for thread in threads:
        thread.join()
    assert [changed] * 8 == found
    assert before + 1 == held.shelf.reads


def test_a_real_clock_and_a_real_thread() -> None:
    """Under the machine's own clock a change comes by itself, while somebody asks."""
    catalog = open_catalog("memory:")
    version = catalog.write("t", ENTRY, None)
    lease = Lease(catalog, "t", replace(ENTRY, version=version), 0.3)
    catalog.write("t", NEXT, version)
    pause = Event()
    for _ in range(2_000):
        if lease.get_entry().announced_generation is not None:
            break
        pause.wait(0.005)
    assert NEXT.generations == lease.get_entry().generations
    lease.close()
