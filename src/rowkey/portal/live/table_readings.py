"""What a portal asks an engine: its tables, their facts, open regions and counters."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE
from rowkey.design import Design
from rowkey.engines import Engine, RegionAvailability
from rowkey.errors import Unavailable
from rowkey.observe import LiveLoad, LoadInterval, TableReader, look_up_entry
from rowkey.portal.live.load_column import build_minute_columns
from rowkey.portal.live.watched_table import Reading, WatchedTable
from rowkey.portal.tables.stored_tables import read_operations, read_stored_table
from rowkey.render import format_server

if TYPE_CHECKING:
    from rowkey.portal.live.alert_writer import AlertWriter
    from rowkey.portal.live.history import LiveHistory
    from rowkey.portal.tables.engine_session import EngineSession


COUNTERS_LIMIT_S = 1.5
"""Seconds that one reading waits for servers, and as long for regions that are on none."""
KEPT_INTERVALS = 3
"""Intervals of a table that are kept, and those of the last minute: 1,000 regions take 0.3 MB each;
all others are in the history."""


class TableReadings:
    """Reads the tables of an engine, and stores what their counters show.

    Args:
        history: where the load is stored.
        find_design: returns the design of the folder for a table whose own design is not known;
            None without one.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        engines: EngineSession,
        history: LiveHistory,
        alerts: AlertWriter,
        find_design: Callable[[str], Design | None],
        clock: Callable[[], float],
    ) -> None:
        self._engines, self._history, self._alerts = engines, history, alerts
        self._find_design, self._clock = find_design, clock
        self.failure_count = 0
        """Readings that failed since the portal was started."""
        self.totals: dict[tuple[str, str], Counter[str]] = {}
        """Writes and reads since the portal was started, by table and server without start code."""

    def list_names(self, *, opens: bool) -> set[str] | None:
        """Return the names of the engine's tables; None if it is not to be opened for that."""
        lend = self._engines.open(quick=True) if opens else self._engines.share()
        with lend as engine:
            if engine is None:
                return None
            engine.check_reachable()
            return set(engine.list_tables()) - {CATALOG_TABLE}

    def read(self, table: WatchedTable, what: Reading, *, opens: bool) -> None:
        """Read something of a table, and store what it shows.

        Raises:
            Unavailable: an earlier reading of the table has had no answer yet.
        """
        if not table.reading.acquire(timeout=COUNTERS_LIMIT_S):
            raise Unavailable(table.name, "an earlier reading has had no answer yet")
        began_s = self._clock()
        try:
            lend = self._engines.open(quick=True) if opens else self._engines.share()
            with lend as engine:
                if engine is None:
                    table.reader = None
                    return
                url = self._engines.require_url()
                if what is Reading.FACTS:
                    table.stored_table = read_stored_table(engine, table.name, url)
                elif what is Reading.OPERATIONS:
                    table.operations = read_operations(engine, table.name, url)
                    table.operations_problem = None
                elif not self._read_counters(engine, table, what):
                    return
                table.read_s[what] = began_s
        finally:
            table.reading.release()

    def _read_counters(self, engine: Engine, table: WatchedTable, what: Reading) -> bool:
        """Count the regions of a table that are open, or read the counters of all.

        Returns:
            Whether they could be read; if not, all regions are open, and the load has a remark.

        Raises:
            RowkeyError: the table does not answer, or some regions are closed.
        """
        if table.reader is None or table.reader.engine is not engine:
            table.reader = self._build_reader(engine, table.name)
        reader = table.reader
        if what is Reading.LOAD:
            self._store_load(table, reader, reader.read(COUNTERS_LIMIT_S))
        is_missed = what is Reading.LOAD and bool(reader.watch.missed_reason)
        if is_missed or what is Reading.REGIONS:
            table.regions = reader.store.count_open_regions(COUNTERS_LIMIT_S)
            if table.closed_count:
                raise Unavailable(table.name, format_closed_regions(table.regions))
        self.failure_count += is_missed
        note_open_regions(table, self._alerts)
        return not is_missed

    def _store_load(self, table: WatchedTable, reader: TableReader, live: LiveLoad) -> None:
        """Note the load of a table, and store what was counted."""
        interval = reader.last_interval
        if interval is not None:
            self._count(table.name, interval)
            self._alerts.write_load_alert(table, live)
            try:
                columns = build_minute_columns(interval, live.at_ms)
                self._history.add(table.name, columns, live.at_ms)
                self._alerts.problem = ""
            except (sqlite3.Error, OSError) as problem:
                self._alerts.note_problem(problem)
        if reader.watch.missed_reason and table.live is not None:
            live = replace(live, at_ms=table.live.at_ms)  # the figures are from then
        if interval is not None or table.live is None or not self._engines.is_exclusive:
            table.live = live  # last: pages that see it find the rest stored

    def _build_reader(self, engine: Engine, name: str) -> TableReader:
        store = engine.open_table(name)
        is_known = look_up_entry(engine, store, name).design is not None
        return TableReader(
            engine,
            store,
            name,
            None if is_known else self._find_design(name),
            self._clock,
            KEPT_INTERVALS,
        )

    def _count(self, name: str, interval: LoadInterval) -> None:
        """Add the requests of an interval to the totals."""
        for counter in ("writes", "reads"):
            for server, count in interval.sum_by_server(counter).items():
                place = (name, format_server(server))
                self.totals.setdefault(place, Counter())[counter] += count


def note_open_regions(table: WatchedTable, alerts: AlertWriter) -> None:
    """Note that a table answers, and that all its regions are open."""
    if table.regions is not None:
        table.regions = table.regions._replace(open=table.regions.total)
    table.problem, table.failing_s, table.is_down = "", None, False
    alerts.write_outage_alert(table.name, table.outage_rule, is_down=False)


def format_closed_regions(regions: RegionAvailability) -> str:
    """Return how many regions are on no server that answers.

    >>> from rowkey.engines import RegionAvailability
    >>> format_closed_regions(RegionAvailability(4, 33))
    '29 of 33 regions are open on no server that answers'
    """
    closed = regions.total - regions.open
    return f"{closed:,} of {regions.total:,} regions are open on no server that answers"
