"""Clients of one table whose time a test moves, and changes of buckets that take none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rowkey
from rowkey.errors import RowError
from rowkey.table.generations.bucket_change import BucketChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.table import Table
    from rowkey.table.generations.bucket_change import BucketChangeResult


@dataclass
class Time:
    """Seconds that pass when a test says so, or somebody waits."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        """Let some pass."""
        self.now += seconds


def client(
    design: rowkey.Design | str, url: str, time: Time, clock: Callable[[], int] | None = None
) -> Table:
    """A client of a table that goes by a time of its own."""
    table = rowkey.open(design, url, clock=clock)
    table.lease.clock = time
    table.lease._read_at_s = table.lease._next_try_s = time.now
    table.tracker.pause = time.pause
    return table


def set_buckets(table: Table, count: int, part: Any = None, **words: Any) -> BucketChangeResult:
    """Change the buckets of a client's table; its time passes, no other's does."""
    time = table.lease.clock
    assert isinstance(time, Time)
    return BucketChange(table, count, part, pause=time.pause, **words).run()


def rows_in(table: Table) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Every physical row of a table with what its key and qualifiers hold of each event."""
    from rowkey.engines import ScanRange

    live = table.get_state()
    with table.store.scan([ScanRange()])[0] as cursor:
        for row, cells in cursor:
            for cell in cells:
                yield row, live.decode_identity(row, [cell])


def misplaced(table: Table) -> list[bytes]:
    """The physical rows that stand where no live generation puts them."""
    live = table.get_state()
    found = []
    for row, values in rows_in(table):
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
