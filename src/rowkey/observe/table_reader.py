"""Read the counters of a table at intervals, with a sample of its rows where writes are uneven."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import ceil

from rowkey.boottime import read_boottime_s
from rowkey.design import Design
from rowkey.engines import Engine, Store, get_time_ms, open_engine
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.observe.entry_lookup import find_table, find_table_name, look_up_entry
from rowkey.observe.region_deltas import CounterSnapshot, LoadInterval
from rowkey.observe.table_watch import MAX_INTERVALS, LiveLoad, TableWatch
from rowkey.observe.write_sample import sample_writes
from rowkey.open_file_limit import explain_shortage

ROUNDING_ERROR = 1e-9
"""By how much the quotient of two durations may fall short of a whole number."""


class TableReader:
    """Reads the counters of one table, and judges its load after each reading.

    Args:
        engine: where the table is; it stays open as long as the reader is used.
        table: its name.
        design: its design, in place of the one in the catalog or the table.
        clock: seconds that never go back; for tests.
        max_intervals: as for `TableWatch`.

    >>> import rowkey
    >>> readings = rowkey.Design("readings", "[id]", fields={"id": "u64"})
    >>> with rowkey.open(readings, "memory:") as table:
    ...     reader = TableReader(table.engine, table.store, "readings")
    ...     _ = reader.read(1.0)
    ...     table.put({"id": 1})
    ...     reader.read(1.0).intervals[-1].sum_operations("writes")
    1
    """

    def __init__(
        self,
        engine: Engine,
        store: Store,
        table: str,
        design: Design | None = None,
        clock: Callable[[], float] = read_boottime_s,
        max_intervals: int = MAX_INTERVALS,
    ) -> None:
        self.engine, self.store, self._clock = engine, store, clock
        self._given_design = design
        self._servers: list[str] = []
        known_design = design or look_up_entry(engine, store, table).design
        self.watch = TableWatch(table, known_design, max_intervals)
        self.last_interval: LoadInterval | None = None
        """What the last reading added; None if it failed or was the first."""

    def read(self, wait_s: float) -> LiveLoad:
        """Read the counters once, and return the load of the table.

        A reading that fails is a remark of the load.

        Args:
            wait_s: seconds to wait for the counters.

        Raises:
            InvalidArgument: the table does not exist any more.

        Cost: two or three RPCs, and one for each region server; if the writes are uneven, also a
            scan of some thousand rows that were just written.
        """
        self.last_interval = None
        try:
            self._servers = _read_servers(self.engine, wait_s) or self._servers
            regions = self.store.list_open_regions(wait_s)
        except Unavailable as problem:
            self.watch.note_failure(str(problem))
        else:
            snapshot = CounterSnapshot.from_regions(self._clock(), regions, self._servers)
            self.last_interval = self.watch.add_snapshot(snapshot)
            if self.last_interval is not None:
                with suppress(Unavailable):  # a server has stopped: only the next one is sampled
                    self._sample_uneven_writes(self.last_interval)
        return self.watch.build_live_load(get_time_ms())

    def _sample_uneven_writes(self, interval: LoadInterval) -> None:
        """Sample the rows written in an interval, if they are uneven and can be decoded."""
        watch = self.watch
        if not interval.sum_operations("writes") or not watch.judge_balance("writes").is_uneven:
            return
        # The bucket count may change meanwhile; rows until then use both counts.
        current_design = (
            self._given_design or look_up_entry(self.engine, self.store, watch.table).design
        )
        if watch.set_design(current_design):
            return
        if watch.design is not None and watch.design.key.is_decodable:
            sample = sample_writes(self.store, watch.design, interval, get_time_ms())
            watch.add_sample(interval, sample)


def watch_table(
    table: str,
    url: str,
    *,
    design: Design | None = None,
    every_s: float = 2.0,
    for_s: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = read_boottime_s,
) -> Iterator[LiveLoad]:
    """Read a table's region counters at intervals; yield its load after each reading.

    Args:
        table: its name.
        design: its design, to be used instead of the one in the catalog or the table, or if there
            is none.
        every_s: seconds from one reading to the next, above 0.
        for_s: seconds until the watch ends.
        sleep: waits; for tests.
        clock: seconds that never go back; for tests.

    Raises:
        InvalidArgument: there is no such table, or a number is out of range.
        Unavailable: no reading succeeded.

    Cost: two or three RPCs a reading, and one for each region server; if the writes are uneven,
        also a scan of some thousand rows that were just written.
    """
    for name, value in (("every_s", every_s), ("for_s", for_s)):
        if not 0 < value < 86_400 * 366:
            path = name.removesuffix("_s")
            raise InvalidArgument(
                path, f"{value:g} s is out of range", "a time above 0 s and at most a year"
            )
    if for_s < every_s:
        what = f"a watch of {for_s:g} s ends before the second reading, after {every_s:g} s"
        allowed = f"at least {every_s:g} s, the time between two readings"
        raise InvalidArgument("for", what, allowed, "Watch longer, or read more often.")
    return _run_watch(table, url, design, every_s, for_s, sleep, clock)


@explain_shortage
def _run_watch(
    table: str,
    url: str,
    design: Design | None,
    every_s: float,
    for_s: float,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> Iterator[LiveLoad]:
    """Open the table, read its counters until the time is over, and yield each load.

    Raises:
        Unavailable: the counters could not be read twice.
    """
    with open_engine(url, create=False) as engine:
        table = find_table_name(engine, table)
        reader = TableReader(engine, find_table(engine, table, url), table, design, clock)
        watch = reader.watch
        began = clock()
        number, last = 0, int(for_s / every_s + ROUNDING_ERROR)
        while number <= last:
            sleep(max(began + number * every_s - clock(), 0.0))
            yield reader.read(every_s)
            # A reading whose time has passed is skipped.
            late = max(number + 1, ceil((clock() - began) / every_s - ROUNDING_ERROR))
            if number < last < late and not watch.intervals:
                # But a rate needs two readings, even if the first one took very long.
                began, late = clock() - (last - 1) * every_s, last
            number = late
        if not watch.intervals:
            what = (
                f"the request counters of {table} could be read at most once, which gives no rate"
            )
            raise Unavailable(
                url,
                f"{what}: {watch.missed_reason}" if watch.missed_reason else what,
                remedy="Try again, or watch longer.",
            )


def _read_servers(engine: Engine, wait_s: float) -> list[str]:
    """Return the live region servers; none if no master answers."""
    try:
        return engine.list_servers(wait_s)
    except Unavailable:
        return []
