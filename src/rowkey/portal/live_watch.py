"""One background reader of all tables' counters, however many pages show them."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE
from rowkey.engines import get_time_ms
from rowkey.errors import RowkeyError
from rowkey.observe import TableReader, TableWatch, look_up_entry
from rowkey.portal.live_alerts import RESENT_MS, AlertRule, build_alert_document
from rowkey.portal.load_column import build_minute_columns
from rowkey.render import format_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.design import Design
    from rowkey.engines import Engine
    from rowkey.observe import LiveLoad, LoadInterval
    from rowkey.portal.engine_session import EngineSession
    from rowkey.portal.live_alerts import AlertLog, AlertSender
    from rowkey.portal.live_history import LiveHistory

WATCHED_S, UNWATCHED_S = 2.0, 60.0
"""Seconds from one reading of a table to the next, with and without an open page of it."""
READ_LIMIT_S = 5.0
"""Seconds that one reading waits for the counters."""
KEPT_INTERVALS = 3
"""Intervals of a table that are kept, and those of the last minute: 1,000 regions take 0.3 MB each;
all others are in the history."""
CLOSE_LIMIT_S = 5.0
"""Seconds that a portal waits for the reading that runs when it is stopped."""
_LOGGER = logging.getLogger("rowkey.portal")


@dataclass(slots=True, eq=False)
class WatchedTable:
    """A table whose counters are read.

    Args:
        name: its name.
        rule: decides about its alerts.
        read_s: when it was read last, by the clock of the watch.
        viewer_count: open pages that show it.
        reader: reads it; None before the first reading.
        live: its load after the last reading.
        problem: why it could not be read at all, in English; empty if it could.
        events: what pages are sent after a reading, by language, with its load and problem.
        lock: held while that is built.
    """

    name: str
    rule: AlertRule
    read_s: float = -inf
    viewer_count: int = 0
    reader: TableReader | None = None
    live: LiveLoad | None = None
    problem: str = ""
    events: dict[str, tuple[tuple[LiveLoad | None, str], str]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)

    @property
    def state(self) -> tuple[LiveLoad | None, str]:
        """Its load and problem: another object or text after each reading that shows something."""
        return self.live, self.problem


class LiveWatch:
    """Reads the counters of all tables of an engine in one thread.

    A table is read every two seconds as long as a page shows it, else each minute. Pages show what
    was read last; none of them causes a reading. An engine that only one process can have open has
    its counters in the memory of that process: it is read while a step of the portal has it open,
    and not opened for it, which would keep others out.

    Args:
        engines: opens the engine.
        history: where the load is stored.
        alerts: where alerts are stored.
        sender: sends alerts.
        origin: the begin of the portal's URLs.
        find_design: returns the design of the folder for a table whose own design is not known;
            None without one.
        clock: seconds that never go back; for tests.
    """

    def __init__(
        self,
        engines: EngineSession,
        history: LiveHistory,
        alerts: AlertLog,
        sender: AlertSender,
        origin: str,
        find_design: Callable[[str], Design | None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find_design = find_design
        self._engines, self.history, self.alerts, self._sender = engines, history, alerts, sender
        self._origin, self._clock = origin, clock
        self._lock, self._reading = RLock(), RLock()
        self._wake, self._closing = Event(), Event()
        self._thread: Thread | None = None
        self._tables: dict[str, WatchedTable] = {}
        self._hot_tables: set[str] = set()
        self._list_due_s = clock()
        self.problem = ""
        """Why the tables could not be listed, in English; empty if they could."""
        self.storage_problem = ""
        """Why load or alerts could not be stored; empty if they could."""
        self.failure_count = 0
        """Readings that failed since the portal was started."""
        self.totals: dict[tuple[str, str], Counter[str]] = {}
        """Writes and reads since the portal was started, by table and server without start code."""

    @property
    def is_own_load(self) -> bool:
        """Whether only the load of the portal's own steps can be seen."""
        return self._engines.is_exclusive

    def start(self) -> None:
        """Begin to read, if the portal has tables."""
        if self._engines.url is None:
            return
        try:
            self._hot_tables = self._list_hot_tables()
            for alert in self.alerts.list_waiting(get_time_ms() - RESENT_MS):
                self._sender.send(alert)
        except sqlite3.Error as problem:
            self._note_storage_problem(problem)
        self._thread = Thread(target=self._run, name="rowkey live", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the streams of pages, and read no more; the call does not wait."""
        self._closing.set()
        self._wake.set()

    def close(self) -> None:
        """Stop reading and sending; closing twice is harmless."""
        self.stop()
        if self._thread is not None:
            self._thread.join(CLOSE_LIMIT_S)
        self._sender.close()
        self.history.database.close()

    @property
    def is_running(self) -> bool:
        """Whether tables are read, so that pages may wait for the next reading."""
        return self._thread is not None and not self._closing.is_set()

    def list_tables(self) -> list[WatchedTable]:
        """Return all tables in the order of their names."""
        with self._lock:
            return [self._tables[name] for name in sorted(self._tables)]

    def find(self, name: str) -> WatchedTable | None:
        """Return a table; None if the engine has none of this name, as far as is known."""
        with self._lock:
            return self._tables.get(name)

    def get_live_load(self, name: str) -> LiveLoad:
        """Return the load of a table after the last reading, or without figures before the first.

        Args:
            name: the name of the table.
        """
        table = self.find(name)
        if table is not None and table.live is not None:
            return table.live
        return TableWatch(name, None).build_live_load(get_time_ms())

    @property
    def viewer_count(self) -> int:
        """Pages that show a table now."""
        with self._lock:
            return sum(one.viewer_count for one in self._tables.values())

    @contextmanager
    def view(self, name: str) -> Iterator[WatchedTable]:
        """Let a table be read every two seconds for the time of a `with` block.

        Args:
            name: the name of a table of the engine; it may be new.
        """
        with self._lock:
            table = self._add_table(name)
            table.viewer_count += 1
        self._wake.set()
        try:
            yield table
        finally:
            with self._lock:
                table.viewer_count -= 1

    @contextmanager
    def follow_step(self, name: str) -> Iterator[None]:
        """Read a table at the begin and the end of a `with` block, so that its load is seen.

        Args:
            name: the name of a table of the engine, which the block has open.
        """
        with self._lock:
            table = self._add_table(name)
        self._try_read(table)
        try:
            yield
        finally:
            self._try_read(table)

    def read_due(self) -> float:
        """Read what is due, one table; return the seconds until the next is due.

        Tables that are shown come first.
        """
        now_s = self._clock()
        if now_s >= self._list_due_s:
            self._list_due_s = now_s + UNWATCHED_S
            self._update_tables()
        with self._lock:
            times = {one.name: self._get_due_s(one) for one in self._tables.values()}
            due = [one for one in self._tables.values() if times[one.name] <= now_s]
            table = min(due, key=lambda one: (not one.viewer_count, times[one.name]), default=None)
            if table is None:
                return max(min([self._list_due_s, *times.values()]) - now_s, 0.0)
        self._try_read(table)
        return 0.0

    def _get_due_s(self, table: WatchedTable) -> float:
        """Return when a table is read next; to look whether a step has it open costs nothing."""
        is_frequent = table.viewer_count or self.is_own_load
        return table.read_s + (WATCHED_S if is_frequent else UNWATCHED_S)

    def _try_read(self, table: WatchedTable) -> None:
        """Read the counters of a table once; a defect is logged, and ends no step."""
        try:
            with self._reading:
                self._read(table)
        except Exception:
            _LOGGER.exception("the counters of a table could not be read")
        finally:
            table.read_s = self._clock()

    def _run(self) -> None:
        """Read until the watch is closed; a defect is logged, and reading goes on."""
        while not self._closing.is_set():
            self._wake.wait(self.read_due())
            self._wake.clear()

    def _list_hot_tables(self) -> set[str]:
        """Return the tables whose last alert was that they are hot."""
        return {one.table for one in self.alerts.list_last() if one.event == "hot"}

    def _update_tables(self) -> None:
        """Learn which tables the engine has."""
        try:
            if self._engines.is_empty:
                return
            with self._engines.share() as engine:
                if engine is None:
                    return
                names = set(engine.list_tables()) - {CATALOG_TABLE}
        except RowkeyError as problem:
            self.problem = str(problem)
            self.failure_count += 1
            return
        self.problem = ""
        with self._lock:
            for name in self._tables.keys() - names:
                del self._tables[name]
                for place in [one for one in self.totals if one[0] == name]:
                    del self.totals[place]
            for name in names:
                self._add_table(name)

    def _add_table(self, name: str) -> WatchedTable:
        """Return a table, which is read from now on if it is new."""
        if name not in self._tables:
            rule = AlertRule(is_hot=name in self._hot_tables)
            self._tables[name] = WatchedTable(name, rule)
        return self._tables[name]

    def _read(self, table: WatchedTable) -> None:
        """Read the counters of a table once, and store what they show."""
        try:
            with self._engines.share() as engine:
                if engine is None:
                    table.reader = None
                    return
                if table.reader is None or table.reader.engine is not engine:
                    table.reader = self._build_reader(engine, table.name)
                live = table.reader.read(READ_LIMIT_S)
        except RowkeyError as problem:
            table.reader, table.problem = None, str(problem)
            self.failure_count += 1
            return
        table.problem = ""
        interval = table.reader.last_interval
        if live.missed_count and table.reader.watch.missed_reason:
            self.failure_count += 1
        if interval is not None:
            self._count(table.name, interval)
            try:
                self._add_alert(table, live)
                columns = build_minute_columns(interval, live.at_ms)
                self.history.add(table.name, columns, live.at_ms)
                self.storage_problem = ""
            except (sqlite3.Error, OSError) as problem:
                self._note_storage_problem(problem)
        if interval is not None or table.live is None or not self.is_own_load:
            table.live = live  # last: pages that see it find the rest stored

    def _build_reader(self, engine: Engine, name: str) -> TableReader:
        """Return the reader of a table."""
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

    def _add_alert(self, table: WatchedTable, live: LiveLoad) -> None:
        """Store and send an alert, if the load of a table shows one."""
        found = table.rule.judge(live)
        if found is not None:
            event, since_ms = found
            document = build_alert_document(live, event, since_ms, self._origin)
            alert = self.alerts.add(table.name, event, document, self._sender.first_delivery)
            table.rule.accept(event)
            self._sender.send(alert)

    def _note_storage_problem(self, problem: Exception) -> None:
        """Note that the file cannot be used, and log it once."""
        if str(problem) != self.storage_problem:
            self.storage_problem = str(problem)
            _LOGGER.error("the file %s cannot be used: %s", self.history.database.path, problem)
