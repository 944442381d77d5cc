"""Two clients of one table and a dictionary, during changes of the number of buckets.

The clients share a clock, but each has its own copy of the entry: one client changes the buckets,
the other reads the entry when its lease ends, or before. Between two steps of a change either
client may do anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.errors import InvalidDesign, ReadError
from rowkey.table.client_wait import compute_wait_s
from rowkey.table.generations.activation import activate_announced
from rowkey.table.generations.bucket_change import BucketChange
from table.clients import ManualClock, list_misplaced_rows, open_client, set_buckets
from table.machine import FIELDS, LEVELS, PACKED, WIDE, Clock, TableAndModel

if TYPE_CHECKING:
    from rowkey.table import Table

DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "leading": ("[bucket(host, 7)][host][level][desc(ts)]", {}),
    "of all fields": ("[bucket(host, level, ts, 5, as=hex)][host][level][ts]", {}),
    "in the middle": ("[level][bucket(host, 6)][host][ts]", {}),
    "remainder": ("[host][mod(ts, 3)][level][ts]", {}),
    "two": ("[bucket(host, 4)][host][mod(ts, 3)][level][ts]", {}),
    "of the rest": ("[bucket(4, over=rest)][mod(ts, 3)][host][level][ts]", {}),
    "salted": ("[salt(5)][host][level][ts]", {}),
    "salted within": ("[bucket(host, 2)][host][salt(3)][level][ts]", {}),
    "sliced": ("[bucket(host, 3)][host][level][desc(time_slice(ts, 10ms))]", {}),
    "wide": ("[bucket(ts, 4)][host][level]", WIDE),
    "packed": ("[bucket(host, 2)][host][level][ts]", PACKED),
    "coded": ("[bucket(code(host), 3)][code(host)][level][ts]", {}),
    "digested": ("[bucket(digest(host, 6), 3)][digest(host, 6)][level][ts]", {}),
    "salted slices": ("[salt(2)][host][level][time_slice(ts, 10ms)]", {}),
}
COUNTS = (1, 2, 3, 5, 8, 16)


@cache
def build_design(name: str) -> rowkey.Design:
    """Build one of the designs."""
    key, words = DESIGNS[name]
    return rowkey.Design("t", key, fields=FIELDS | words)


class RisingClock(Clock):
    """Milliseconds that increase with each call, so that no two clients share a timestamp."""

    def __call__(self) -> int:
        self.now += 10
        return self.now


def _skip_reads() -> None:
    """Do nothing in place of the background reads of the entry."""


@dataclass
class ClientPair(TableAndModel):
    """Two clients, or one where an engine allows one, and a dictionary of the expected rows."""

    def __post_init__(self) -> None:
        self.time = ManualClock()
        self.change: BucketChange | None = None
        self.clients: list[Table] = []
        super().__post_init__()
        self.clients.append(self.table)
        if self.url.startswith("memory:"):
            self.clients.append(self._open())

    def _open(self) -> Table:
        table = open_client(build_design(self.name), self.url, self.time, self.clock)
        setattr(table.lease, "start_refresh", _skip_reads)  # noqa: B010 - a step of its own says who reads
        return table

    def turn(self) -> None:
        """Continue with the other client."""
        at = self.clients.index(self.table)
        self.table = self.clients[(at + 1) % len(self.clients)]

    def reopen(self) -> None:
        """Close and open the table of a client."""
        at = self.clients.index(self.table)
        super().reopen()
        self.clients[at] = self.table
        if self.change is not None:
            self.change.tracker = self.clients[0].tracker

    def renew(self) -> None:
        """Let a client read the entry before its lease ends."""
        self.table.lease.renew_entry()

    def wait(self, seconds: float) -> None:
        """Let time pass for both clients."""
        self.time.pause(seconds)

    def announce(self, count: int, part: int) -> None:
        """Begin a change of the buckets, unless one is pending or not possible."""
        table = self.clients[0]
        if self.change is not None or table.lease.renew_entry().announced_generation is not None:
            return
        places = [one.part_index for one in table.buckets.parts]
        place = places[part % len(places)]
        try:
            change = BucketChange(table.tracker, count, place, pause=self.time.pause)
        except InvalidDesign:  # it has this number, or would have a part of one
            return
        change._split_regions()
        change._announce_counts()
        self.change = change
        self.begun = self.time.now

    def finish(self) -> None:
        """Finish an announced change after its waiting time."""
        if self.change is None:
            return
        table = self.clients[0]
        entry = table.lease.renew_entry()
        left = self.begun + compute_wait_s(entry, table.engine) - self.time.now
        if left > 0:
            self.change._wait_for_clients(left)
        table.lease.adopt_entry(
            activate_announced(table.catalog, "t", entry.generations[-1], table.store)
        )
        assert self.change.counts == table.get_state().entry.active_generation.counts
        self.change = None

    def go_on(self, limit: int, count: int, *, falls: bool) -> None:
        """Stop a scan, change the number of buckets, and continue the scan or expect a refusal."""
        down = " desc" if falls else ""
        order = f"host{down}, level{down}, ts{down}"
        rows = sorted(
            self.rows.values(),
            key=lambda row: (row["host"], LEVELS.index(row["level"]), row["ts"]),
            reverse=falls,
        )
        scan = self.table.scan(order=order, limit=limit)
        assert rows[:limit] == list(scan)
        token = scan.token
        self.finish()
        if len(self.clients[0].buckets.parts) == 1 and token is not None:
            part = self.clients[0].buckets.parts[0]
            after = count if count != part.count else next(n for n in COUNTS if n != count)
            set_buckets(self.clients[0], after)
        if token is None:  # sorted, gathered, or there was no row
            return
        expected = rows[limit:]
        if self.table.scan(order=order).can_resume:
            assert expected == list(self.table.scan(order=order, resume=token))
        else:
            with pytest.raises(ReadError, match="so the scan cannot be resumed"):
                self.table.scan(order=order, resume=token)

    def compare(self) -> None:
        """Compare all rows for both clients, and check where the rows are stored."""
        for table in self.clients:
            self.table = table
            super().compare()
        if not self.name.startswith(("digested", "salted")):
            assert [] == list_misplaced_rows(self.clients[0])

    def close(self) -> None:
        """Close both clients' tables and drop the table."""
        for table in self.clients[1:]:
            table.close()
        self.table = self.clients[0]
        super().close()
