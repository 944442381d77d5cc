"""How long a client uses the entry that it has read, under a clock that the test advances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

import pytest

from rowkey import Design
from rowkey.catalog import CatalogEntry, Lease, open_catalog
from rowkey.catalog.stores.memory import MemoryCatalog
from rowkey.errors import Unavailable

ENTRY = CatalogEntry.from_design(Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"}), (), 0)
NEXT = ENTRY.announce_generation({0: 8}, (), 1)


class SlowCatalog(MemoryCatalog):
    """A catalog that counts its reads, and can be slow or unreachable."""

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


class LeaseCase:
    """A lease on a catalog, with the clock that it uses."""

    def __init__(self, stale_s: float | None = None) -> None:
        self.catalog = SlowCatalog()
        version = self.catalog.write("t", ENTRY, None)
        self.known = replace(ENTRY, version=version)
        self.now = 0.0
        self.lease = Lease(self.catalog, "t", self.known, stale_s, clock=lambda: self.now)

    def wait_for_reader(self) -> None:
        """Wait for the thread that reads in the background, if there is one."""
        thread = self.lease._thread
        if thread is not None:
            thread.join()

    def change_table(self) -> CatalogEntry:
        """Change the table as another client would, and return the new entry."""
        found = self.catalog.read("t")
        assert found is not None
        return replace(NEXT, version=self.catalog.write("t", NEXT, found.version))


def test_a_fresh_entry_is_used_without_reading_the_catalog() -> None:
    """For a third of its time an entry is used without reading the catalog."""
    held = LeaseCase()
    held.change_table()
    reads = held.catalog.reads
    for now in (0.0, 10.0, 19.9):
        held.now = now
        assert held.known == held.lease.get_entry()
    held.wait_for_reader()
    assert reads == held.catalog.reads


def test_an_entry_older_than_a_third_of_its_lease_is_read_in_the_background() -> None:
    """After a third of its time an entry is read again in the background."""
    held = LeaseCase()
    changed = held.change_table()
    held.now = 20.0
    assert held.known == held.lease.get_entry()
    held.wait_for_reader()
    assert changed == held.lease.get_entry()
    assert 0.0 == held.lease.age_s


def test_one_thread_at_a_time_reads_a_slow_catalog_with_pauses() -> None:
    """While the catalog is slow or lost, one thread at a time reads it, with pauses."""
    held = LeaseCase()
    held.now, held.catalog.is_lost = 20.0, True
    held.catalog.gate.clear()
    before = held.catalog.reads
    for _ in range(50):
        assert held.known == held.lease.get_entry()
    held.catalog.gate.set()
    held.wait_for_reader()
    for _ in range(50):
        assert held.known == held.lease.get_entry()
    held.wait_for_reader()
    assert before + 1 == held.catalog.reads
    held.now = 22.0
    assert held.known == held.lease.get_entry()
    held.wait_for_reader()
    assert before + 2 == held.catalog.reads


def test_an_expired_entry_is_read_again_before_it_is_used() -> None:
    """A client that was suspended reads an expired entry again before using it."""
    held = LeaseCase()
    changed = held.change_table()
    held.now = 3_600.0
    assert held.lease.is_expired
    assert changed == held.lease.get_entry()
    assert not held.lease.is_expired


def test_writes_are_refused_once_the_lease_ends_without_a_catalog() -> None:
    """Without the catalog writes continue until the lease ends, and again once it is back."""
    held = LeaseCase()
    held.catalog.is_lost = True
    for now in (1.0, 30.0, 59.9):
        held.now = now
        assert held.known == held.lease.get_entry()
        held.wait_for_reader()
    held.now = 60.0
    for _ in range(2):
        with pytest.raises(Unavailable) as refused:
            held.lease.get_entry()
        assert str(refused.value) == (
            "table t: its catalog has not answered for 60 s: shelf: nobody answers; "
            "expected an answer within 60 s. "
            "Reads and writes go on by themselves once the catalog answers."
        )
    held.catalog.is_lost = False
    assert held.known == held.lease.get_entry()


def test_a_removed_or_older_catalog_entry_is_refused() -> None:
    """A removed entry or an earlier version of it is refused."""
    held = LeaseCase()
    changed = held.change_table()
    held.lease.adopt_entry(changed)
    held.catalog.remove("t")
    held.now = 60.0
    with pytest.raises(Unavailable, match="no longer has an entry for this table"):
        held.lease.get_entry()
    held.catalog.write("t", ENTRY, None)
    with pytest.raises(Unavailable, match="an older entry than was read before, version 1"):
        held.lease.get_entry()


BORN_A, BORN_B = replace(ENTRY, table_id="a"), replace(ENTRY, table_id="b")
OTHER_COUNTS = CatalogEntry.from_design(
    Design("t", "[bucket(id, 9)][id]", fields={"id": "u64"}), (), 0
)
OTHER_KEY = replace(ENTRY, declaration=OTHER_COUNTS.declaration)
LATER = replace(ENTRY, generations=(replace(ENTRY.generations[0], opened_ms=5),))
ACTIVATED_ENTRY = replace(NEXT.activate_generation(), version=2)


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
        (ACTIVATED_ENTRY, replace(NEXT, version=7)),
        (ACTIVATED_ENTRY, replace(NEXT, version=2)),
    ],
)
def test_an_entry_of_a_restored_catalog_or_recreated_table_is_refused(
    known: CatalogEntry, found: CatalogEntry
) -> None:
    """An entry of a restored catalog or a recreated table is refused at once."""
    held = LeaseCase()
    held.lease._set_entry(replace(known, version=max(1, known.version)))
    held.catalog._entries["t"] = replace(found, version=max(1, found.version))
    for ask in (held.lease.renew_entry, held.lease.get_entry, held.lease.get_entry):
        with pytest.raises(Unavailable, match="table was created again; expected version") as no:
            ask()
    assert no.value.mistake.remedy.startswith("If the table was created again, open it again")
    with pytest.raises(Unavailable, match="restored from a backup, or the table was created again"):
        held.lease.adopt_entry(held.catalog._entries["t"])
    held.catalog._entries["t"] = held.lease.last_entry
    assert held.lease.last_entry == held.lease.get_entry()


@pytest.mark.parametrize("known", [ENTRY, BORN_A, replace(BORN_A, version=3)])
@pytest.mark.parametrize(
    "found",
    [
        replace(ENTRY, version=8, codes={"id": ("x",)}),
        replace(BORN_A, version=8, declaration="description = 'more'"),
        replace(NEXT, version=8),
        ACTIVATED_ENTRY,
        replace(
            NEXT.activate_generation().announce_generation({0: 2}, (), 3), version=8, table_id="a"
        ),
    ],
)
def test_new_ids_and_safe_changes_of_the_same_table_are_adopted(
    known: CatalogEntry, found: CatalogEntry
) -> None:
    """New ids, safe changes and other bucket counts of the same table are adopted."""
    held = LeaseCase()
    held.lease._set_entry(replace(known, version=1))
    held.catalog._entries["t"] = found
    assert found == held.lease.renew_entry() == held.lease.get_entry()


def test_a_table_whose_catalog_was_rebuilt_is_accepted_as_the_same() -> None:
    """An unchanged table is accepted after its catalog was rebuilt with another creation time."""
    held = LeaseCase()
    (first,) = ENTRY.generations
    back = replace(held.known, generations=(replace(first, opened_ms=None),), table_id="a")
    held.catalog._entries["t"] = back
    held.now = 70.0
    assert held.known == held.lease.get_entry()
    assert 0.0 == held.lease.age_s


def test_a_read_begun_before_the_clients_own_write_is_not_taken_for_an_older_copy() -> None:
    """A read that began before the client's own write does not count as an older copy."""
    held = LeaseCase()
    held.now = 10.0
    read = held.catalog.read

    def late(table: str) -> CatalogEntry | None:
        found = read(table)
        held.catalog.read = read  # type: ignore[method-assign]
        held.lease.adopt_entry(held.change_table())
        return found

    held.catalog.read = late  # type: ignore[method-assign]
    assert 2 == held.lease.renew_entry().version
    assert (0.0, 2) == (held.lease.age_s, held.lease.get_entry().version)


def test_an_entry_read_by_a_watch_is_used_if_the_read_at_lease_end_fails() -> None:
    """If a read fails at the end of a lease, the entry that a watch has just read is used."""
    held = LeaseCase()
    changed, held.now = held.change_table(), 61.0
    read = held.catalog.read

    def fails(_: str) -> CatalogEntry | None:
        held.catalog.read = read  # type: ignore[method-assign]
        held.catalog.changed()
        held.wait_for_reader()
        raise Unavailable("shelf", "the answer was lost")

    held.catalog.read = fails  # type: ignore[method-assign, assignment]
    assert changed == held.lease.get_entry()


def test_a_thread_that_waited_for_a_failed_read_checks_the_lease_again() -> None:
    """A thread that waited for another thread's failed read checks the lease again."""
    held = LeaseCase()
    changed, held.now = held.change_table(), 61.0

    @contextmanager
    def waiting() -> Iterator[None]:
        held.catalog.is_lost = True
        with pytest.raises(Unavailable, match="nobody answers"):
            held.lease.renew_entry()
        held.catalog.is_lost = False
        held.lease.renew_entry()
        yield

    held.lease._renewal_lock = waiting()  # type: ignore[assignment]
    assert changed == held.lease.get_entry()


def test_an_entry_the_client_wrote_is_used_at_once() -> None:
    """The client's own entry is used at once, though a read returns an older one."""
    held = LeaseCase()
    changed = held.change_table()
    held.lease.adopt_entry(changed)
    assert changed == held.lease.get_entry()
    held.lease.adopt_entry(held.known)
    assert changed == held.lease.get_entry()


def test_a_notified_change_is_read_at_once() -> None:
    held = LeaseCase()
    changed = held.change_table()
    held.catalog.changed()
    held.wait_for_reader()
    assert changed == held.lease.get_entry()


def test_a_read_that_began_before_a_notified_change_is_repeated() -> None:
    held = LeaseCase()
    held.catalog.gate.clear()
    held.catalog.changed()
    before = held.catalog.reads
    held.catalog.changed()
    held.catalog.gate.set()
    held.wait_for_reader()
    assert held.catalog.reads >= max(before, 1) + 1


def test_a_lease_lasts_the_shorter_of_the_times_of_table_and_client() -> None:
    """The lease lasts as long as the table allows, or shorter if the client asks so."""
    assert 60.0 == LeaseCase().lease.max_stale_s
    assert 2.0 == LeaseCase(2.0).lease.max_stale_s
    held = LeaseCase(600.0)
    assert 60.0 == held.lease.max_stale_s
    held.lease.adopt_entry(replace(ENTRY.announce_generation({0: 8}, (), 1, 5.0), version=9))
    assert 5.0 == held.lease.max_stale_s


def test_closing_a_lease_waits_for_a_running_read_and_starts_no_other() -> None:
    """Closing a lease waits for a running read, and no read follows."""
    held = LeaseCase()
    held.now = 20.0
    held.lease.get_entry()
    held.lease.close()
    reads = held.catalog.reads
    held.now = 50.0
    held.lease.get_entry()
    held.catalog.changed()
    held.lease.close()
    assert reads == held.catalog.reads


def test_one_of_many_threads_reads_the_catalog_when_the_lease_expires() -> None:
    """Of many threads that find the lease expired one reads the catalog for all."""
    held = LeaseCase()
    changed = held.change_table()
    before, held.now = held.catalog.reads, 90.0
    held.catalog.gate.clear()
    found: list[CatalogEntry] = []
    threads = [Thread(target=lambda: found.append(held.lease.get_entry())) for _ in range(8)]
    for thread in threads:
        thread.start()
    held.catalog.gate.set()
    for thread in threads:
        thread.join()
    assert [changed] * 8 == found
    assert before + 1 == held.catalog.reads


def test_with_a_real_clock_a_background_read_notices_a_change() -> None:
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
