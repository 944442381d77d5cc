"""Clients of one table with manual clocks, and bucket changes that take no real time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rowkey
from rowkey.errors import RowError
from rowkey.move import BucketRetirement
from rowkey.table.generations.bucket_change import BucketChange
from table.buckets import refuse_to_wait

if TYPE_CHECKING:
    from rowkey.catalog import CatalogEntry, Lease
    from rowkey.move import BucketRetirementResult
    from rowkey.table import Table
    from rowkey.table.generations.bucket_change import BucketChangeResult


@dataclass
class ManualClock:
    """Seconds that pass only when a test advances the clock or a client waits."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += seconds


def open_client(
    design: rowkey.Design | str, url: str, time: ManualClock, clock: Callable[[], int] | None = None
) -> Table:
    """Open a table with a manual clock."""
    table = rowkey.open(design, url, clock=clock)
    set_clock(table.lease, time)
    table.tracker.pause = time.pause
    return table


def set_clock(lease: Lease, clock: Callable[[], float]) -> None:
    """Give a lease another clock, by which its entry was read now."""
    while (thread := lease._thread) is not None:
        thread.join()  # it would note a time of the former clock
    lease.clock = clock
    lease._read_at_s = lease._next_try_s = clock()


def set_buckets(table: Table, count: int, part: Any = None, **words: Any) -> BucketChangeResult:
    """Change the buckets of a client's table, while only this client's clock advances."""
    time = table.lease.clock
    assert isinstance(time, ManualClock)
    return BucketChange(table.tracker, count, part, pause=time.pause, **words).run()


def announce_count(table: Table, count: int) -> CatalogEntry:
    """Announce another number of buckets, as a client does that dies then; return the entry."""
    return BucketChange(table.tracker, count, pause=refuse_to_wait)._announce_counts()


def retire_buckets(table: Table, **words: Any) -> BucketRetirementResult:
    """Retire earlier bucket counts of a client's table, while only this client's clock advances."""
    time = table.lease.clock
    assert isinstance(time, ManualClock)
    return BucketRetirement(table, pause=time.pause, **words).run()


def list_stored_rows(table: Table) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield every physical row of a table with the fields of each event in the row."""
    from rowkey.engines import ScanRange

    live = table.get_state()
    with table.store.scan([ScanRange()])[0] as cursor:
        for row, cells in cursor:
            for cell in cells:
                yield row, live.decode_identity(row, [cell])


def list_misplaced_rows(table: Table) -> list[bytes]:
    """Return the physical rows that are where no live generation puts them."""
    live = table.get_state()
    found = []
    for row, values in list_stored_rows(table):
        keys = []
        for design in live.designs:
            salts = range(design.key.salt_count) if design.key.is_salted else (None,)
            try:
                keys += [design.key.encode(values, salt=salt) for salt in salts]
            except RowError:  # the key holds a field in part: its cells tell the rest
                keys.append(row)
        if row not in keys:
            found.append(row)
    return found
