"""One background reader of all tables' states, however many pages show them."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from contextlib import contextmanager
from math import inf
from threading import Condition as Waiting
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE
from rowkey.engines import get_time_ms
from rowkey.errors import InvalidArgument, RowkeyError, Unavailable
from rowkey.observe import TableReader, TableWatch, look_up_entry
from rowkey.portal.live_alerts import (
    DOWN_STEADY_MS,
    RESENT_MS,
    AlertRule,
    build_alert_document,
    build_outage_document,
    judge_load,
)
from rowkey.portal.load_column import build_minute_columns
from rowkey.portal.page_templates import format_utc_time
from rowkey.portal.stored_tables import StoredTable, read_operations, read_stored_table
from rowkey.portal.watched_table import Reading, TableCondition, WatchedTable
from rowkey.render import format_server

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from rowkey.design import Design
    from rowkey.engines import Engine, RegionAvailability
    from rowkey.observe import LiveLoad, LoadInterval
    from rowkey.portal.engine_session import EngineSession
    from rowkey.portal.live_alerts import AlertLog, AlertSender, OutageEvent
    from rowkey.portal.live_history import LiveHistory

WATCHED_S, UNWATCHED_S = 2.0, 60.0
"""Seconds from one reading of a table's load to the next, with and without an open page of it."""
LIST_S, LIST_RETRY_S = 3.0, 1.0
"""Seconds from one list of the tables to the next, by which an outage of the cluster is found, and
during one."""
REGIONS_S, REGIONS_SHARE_S = 5.0, 0.1
"""Seconds from one count of a table's open regions to the next, and for each table of many: a count
takes some milliseconds."""
FACTS_S, FACTS_SHARE_S = 60.0, 0.5
"""The same for its catalog entry and its move."""
RETRY_S = 2.0
"""Seconds until a reading that failed is tried again; a table that fails then is down."""
LATE_FACTOR, LATE_S = 3, 15.0
"""A state is stale after so many times the seconds from one reading to the next, and these."""
LIST_LIMIT_S, READ_LIMIT_S = 4.0, 5.0
"""Seconds after which a list or a reading has failed, even if the engine hangs."""
COUNTERS_LIMIT_S = 2.0
"""Seconds that one reading waits for servers, and as long for regions that are on none."""
FRESH_S, PAGE_WAIT_S = 2.0, 0.3
"""Age of a state that a page shows as it is; of an older one it waits that long for a new one."""
AGE_STEP_S = 10.0
"""Seconds after which a page shows the age of an old state anew."""
STEP_WAIT_S = 3.0
"""Seconds that the end of a step waits for the state after it."""
KEPT_INTERVALS = 3
"""Intervals of a table that are kept, and those of the last minute: 1,000 regions take 0.3 MB each;
all others are in the history."""
CLOSE_LIMIT_S = 5.0
"""Seconds that a portal waits for the reading that runs when it is stopped."""
_LOGGER = logging.getLogger("rowkey.portal")


class LiveWatch:
    """Keeps the state of all tables of an engine, which it reads in one thread.

    The list of the tables is read every three seconds, their open regions every five, and their
    load every two as long as a page shows it, else each minute. Pages, metrics and alerts show what
    was read last: none of them waits for the engine, and each reading ends after seconds. An engine
    that only one process can have open has its counters in the memory of that process: they are
    read while a step of the portal has it open, and the rest when a page asks for it.

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
        self._lock = RLock()
        self._was_read = Waiting(self._lock)
        self._wake, self._closing = Event(), Event()
        self._thread: Thread | None = None
        self._tables: dict[str, WatchedTable] = {}
        self._last_events: dict[tuple[str, bool], str] = {}
        self._list_due_s, self._list_tried_s = clock(), -inf
        self._cluster_rule = AlertRule(DOWN_STEADY_MS)
        self.listed_s = -inf
        """When the tables were listed last, by the clock of the watch."""
        self.outage_s: float | None = None
        """Since when the engine does not answer; None if it did when it was asked last."""
        self.outage_ms = 0
        """The same in milliseconds since 1970."""
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
            self.load_last_alerts()
            for alert in self.alerts.list_waiting(get_time_ms() - RESENT_MS):
                self._sender.send(alert)
        except sqlite3.Error as problem:
            self._note_storage_problem(problem)
        self._thread = Thread(target=self._run, name="rowkey live", daemon=True)
        self._thread.start()

    def load_last_alerts(self) -> None:
        """Learn which alerts were the last before the portal was started, so that none comes twice.

        Raises:
            sqlite3.Error: the file cannot be read.
        """
        self._last_events = {
            (one.table, one.event in ("down", "up")): one.event for one in self.alerts.list_last()
        }
        self._cluster_rule.is_on = self._last_events.get(("", True)) == "down"

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

    # Conditions and ages

    @property
    def condition(self) -> TableCondition:
        """Whether the engine answers; one that is not watched does, as far as is known."""
        if self.outage_s is not None:
            return TableCondition.DOWN
        if self._engines.url is None or self.is_own_load:
            return TableCondition.UP
        if self.listed_s == -inf:
            return TableCondition.UNKNOWN
        return TableCondition.STALE if self._is_late(self.listed_s, LIST_S) else TableCondition.UP

    def find_condition(self, table: WatchedTable) -> TableCondition:
        """Return whether a table answers, and what is shown of it is not old."""
        if self.is_own_load:
            return TableCondition.UP
        if table.is_down:
            return TableCondition.DOWN
        if table.answered_s == -inf:
            return TableCondition.UNKNOWN if self.outage_s is None else TableCondition.DOWN
        is_older = self.outage_s is not None and table.answered_s < self.outage_s
        if is_older or self._is_late(table.answered_s, self._regions_s):
            return TableCondition.STALE
        return TableCondition.UP

    def _is_late(self, read_s: float, interval_s: float) -> bool:
        """Return whether something was not read for longer than expected."""
        return self._clock() - read_s > LATE_FACTOR * interval_s + LATE_S

    def describe_version(self, table: WatchedTable) -> tuple[object, ...]:
        """Return what a page shows of a table: another value if its condition or load changed."""
        condition, age_s = self.find_condition(table), self.find_age_s(table, Reading.LOAD)
        age = None if condition is TableCondition.UP else int((age_s or 0.0) / AGE_STEP_S)
        return (id(table.live), table.problem, table.regions, self.condition, condition, age)

    def find_age_s(self, table: WatchedTable, what: Reading) -> float | None:
        """Return how long ago a reading of a table succeeded last; None if none did."""
        read_s = table.read_s.get(what)
        return None if read_s is None else max(self._clock() - read_s, 0.0)

    @property
    def list_age_s(self) -> float | None:
        """How long ago the tables were listed; None if they were not."""
        return None if self.listed_s == -inf else max(self._clock() - self.listed_s, 0.0)

    @property
    def _regions_s(self) -> float:
        """Seconds from one count of a table's open regions to the next."""
        return max(REGIONS_S, REGIONS_SHARE_S * len(self._tables))

    @property
    def _facts_s(self) -> float:
        """Seconds from one reading of a table's facts to the next."""
        return max(FACTS_S, FACTS_SHARE_S * len(self._tables))

    # What pages and steps ask for

    def refresh(
        self,
        names: Collection[str] = (),
        what: Reading = Reading.FACTS,
        *,
        only_unread: bool = False,
    ) -> None:
        """Let the list of the tables, and some of them, be read again for a page that shows them.

        The call waits a moment for that, and never for an engine that is known not to answer. An
        engine that is not watched is read by the call.

        Args:
            names: the tables; those that the engine does not have are left out.
            what: what is read of them.
            only_unread: whether tables of a watched engine that were read before are left alone.
        """
        if self._engines.url is None or self.outage_s is not None:
            return
        if self.is_running and not self.is_own_load:
            if only_unread:
                known = [one for one in map(self.find, names) if one is not None]
                names = [one.name for one in known if what not in one.read_s]
            self._refresh_in_thread(names, what, PAGE_WAIT_S)
            return
        try:
            with self._engines.open(quick=True):  # once for all readings
                self._update_tables(opens=True)
                for table in filter(None, map(self.find, names)):
                    self._try_read(table, what, opens=True)
        except InvalidArgument:  # nothing is stored at its URL yet
            self._note_answer(set())
        except RowkeyError as problem:
            self._note_outage(problem)

    def follow_end(self, name: str) -> None:
        """Read the list of the tables and a table again after a step, so that its effect is seen.

        Args:
            name: the table.
        """
        if not self.is_running or self.is_own_load:
            return  # pages read it
        table = self.find(name)
        names = {name}
        if table is not None:
            table.read_s.pop(Reading.OPERATIONS, None)
            if table.stored is not None and table.stored.move is not None:
                names.add(table.stored.move["target"])
        self._refresh_in_thread(names, Reading.FACTS, STEP_WAIT_S, age_s=0.0)

    def _refresh_in_thread(
        self, names: Collection[str], what: Reading, wait_s: float, age_s: float = FRESH_S
    ) -> None:
        """Let the thread read the list and some tables, and wait for that.

        Args:
            names: the tables.
            what: what is read of them.
            wait_s: how long to wait.
            age_s: the age of what is not read again.
        """
        asked_s = self._clock()
        fresh_s = asked_s - age_s

        def is_read() -> bool:
            """Return whether all is read; what is not comes first from now on."""
            if wants_list and self._list_tried_s < asked_s:
                self._list_due_s = -inf
                return False
            tables = [one for one in map(self._tables.get, names) if one is not None]
            old = [
                one
                for one in tables
                if one.read_s.get(what, -inf) < fresh_s and one.tried_s.get(what, -inf) < asked_s
            ]
            for one in old:
                one.due_s[what] = -inf
            return not old

        with self._was_read:
            is_listed = self.listed_s >= fresh_s - LIST_S * (age_s > 0)
            wants_list = not is_listed or not self._tables.keys() >= set(names)
            if not is_read():
                self._wake.set()
                self._was_read.wait_for(is_read, wait_s)

    @contextmanager
    def follow_step(self, name: str) -> Iterator[None]:
        """Read the load of a table at the begin and the end of a `with` block, so that it is seen.

        Args:
            name: the name of a table of the engine, which the block has open.
        """
        with self._lock:
            table = self._add_table(name)
        self._try_read(table, Reading.LOAD)
        try:
            yield
        finally:
            self._try_read(table, Reading.LOAD)

    # The thread

    def read_due(self) -> float:
        """Read what is due, one thing of one table; return the seconds until the next is due.

        What a page asks for comes first, then tables that are shown.
        """
        now_s = self._clock()
        if now_s >= self._list_due_s and not self.is_own_load:
            self._update_tables()
        with self._lock:
            readings = [
                (self._find_due_s(table, what), not table.viewer_count, table.name, what)
                for table in self._tables.values()
                for what in Reading
            ]
            list_due_s = inf if self.is_own_load else self._list_due_s
            due = [one for one in readings if one[0] <= now_s]
            if not due:
                next_s = min([list_due_s, *(one[0] for one in readings)], default=inf)
                return min(max(next_s - self._clock(), 0.0), UNWATCHED_S)
            _, _, name, what = min(due, key=lambda one: (one[0] != -inf, one[1], one[0]))
            table = self._tables[name]
        self._try_read(table, what)
        return 0.0

    def _find_due_s(self, table: WatchedTable, what: Reading) -> float:
        """Return when something of a table is read next.

        To look whether a step has an exclusive engine open costs nothing.
        """
        if self.is_own_load and what is not Reading.LOAD:
            return inf
        due_s = table.due_s.get(what, inf if what is Reading.OPERATIONS else -1.0)
        if what is Reading.LOAD and (table.viewer_count or self.is_own_load):
            due_s = min(due_s, table.tried_s.get(what, -1.0) + WATCHED_S)
        return due_s

    def _try_read(self, table: WatchedTable, what: Reading, *, opens: bool = False) -> None:
        """Read something of a table once; a defect is logged, and ends no step.

        Args:
            table: the table.
            what: what is read.
            opens: whether the engine is opened for it in any case.
        """
        interval_s = {Reading.FACTS: self._facts_s, Reading.REGIONS: self._regions_s}
        due_s, began_s = interval_s.get(what, UNWATCHED_S), self._clock()
        try:
            self._engines.call(lambda: self._read(table, what, opens=opens), READ_LIMIT_S)
        except RowkeyError as problem:
            self._note_failure(table, what, problem)
        except Exception:
            _LOGGER.exception("the %s of a table could not be read", what)
        if table.failing_s is not None and what is Reading.REGIONS:
            due_s = RETRY_S
        with self._was_read:
            table.tried_s[what] = began_s
            table.due_s[what] = inf if what is Reading.OPERATIONS else self._clock() + due_s
            self._was_read.notify_all()

    def _run(self) -> None:
        """Read until the watch is closed; a defect is logged, and reading goes on."""
        while not self._closing.is_set():
            try:
                wait_s = self.read_due()
            except Exception:
                _LOGGER.exception("the tables could not be read")
                wait_s = RETRY_S
            self._wake.wait(wait_s)
            self._wake.clear()

    # Readings

    def _update_tables(self, *, opens: bool = False) -> None:
        """Learn which tables the engine has, and whether it answers."""
        names: set[str] | None = None
        began_s = self._clock()
        try:
            if not self._engines.is_empty:
                names = self._engines.call(lambda: self._list_names(opens=opens), LIST_LIMIT_S)
            self._note_answer(names)
        except RowkeyError as problem:
            self._note_outage(problem)
        finally:
            with self._was_read:
                self._list_tried_s = began_s
                pause_s = LIST_S if self.outage_s is None else LIST_RETRY_S
                self._list_due_s = self._clock() + pause_s
                self._was_read.notify_all()

    def _list_names(self, *, opens: bool) -> set[str] | None:
        """Return the names of the engine's tables; None if it is not to be opened for that."""
        lend = self._engines.open(quick=True) if opens else self._engines.share()
        with lend as engine:
            return None if engine is None else set(engine.list_tables()) - {CATALOG_TABLE}

    def _note_answer(self, names: set[str] | None) -> None:
        """Note which tables there are; after an outage, all of them are read again."""
        self.problem = self._engines.outage = ""
        was_down, self.outage_s = self.outage_s is not None, None
        self._alert_outage("", self._cluster_rule, is_down=False)
        if names is None:
            return
        with self._lock:
            self.listed_s = self._clock()
            for name in self._tables.keys() - names:
                del self._tables[name]
                for place in [one for one in self.totals if one[0] == name]:
                    del self.totals[place]
            for name in names:
                table = self._add_table(name)
                if was_down:
                    table.due_s.clear()

    def _note_outage(self, problem: RowkeyError) -> None:
        """Note that the tables could not be listed: an engine on servers is down."""
        self.failure_count += 1
        self.problem = str(problem)
        if self.is_own_load:
            return
        if self.outage_s is None:
            self.outage_s, self.outage_ms = self._clock(), get_time_ms()
        since = format_utc_time(self.outage_ms)
        self._engines.outage = f"the tables have not answered since {since}: {problem}"
        self._alert_outage("", self._cluster_rule, is_down=True, reason=str(problem))

    def _add_table(self, name: str) -> WatchedTable:
        """Return a table, which is read from now on if it is new."""
        if name not in self._tables:
            is_hot = self._last_events.get((name, False)) == "hot"
            is_down = self._last_events.get((name, True)) == "down"
            self._tables[name] = WatchedTable(
                name, AlertRule(is_on=is_hot), AlertRule(DOWN_STEADY_MS, is_on=is_down)
            )
        return self._tables[name]

    def _read(self, table: WatchedTable, what: Reading, *, opens: bool) -> None:
        """Read something of a table, and store what it shows."""
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
                    table.stored = read_stored_table(engine, table.name, url)
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
        self._note_open(table)
        return not is_missed

    def _store_load(self, table: WatchedTable, reader: TableReader, live: LiveLoad) -> None:
        """Note the load of a table, and store what was counted."""
        interval = reader.last_interval
        if interval is not None:
            self._count(table.name, interval)
            try:
                self._alert_load(table, live)
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

    def _note_open(self, table: WatchedTable) -> None:
        """Note that a table answers, and that all its regions are open."""
        if table.regions is not None:
            table.regions = table.regions._replace(open=table.regions.total)
        table.problem, table.failing_s, table.is_down = "", None, False
        self._alert_outage(table.name, table.outage_rule, is_down=False)

    def _note_failure(self, table: WatchedTable, what: Reading, problem: RowkeyError) -> None:
        """Note why something of a table could not be read; it is down if that lasts."""
        self.failure_count += 1
        if what is Reading.OPERATIONS:
            table.operations_problem = problem
        elif what is Reading.FACTS:
            if table.stored is None or table.stored.problem:
                table.stored = StoredTable(table.name, problem=str(problem))
        else:
            table.problem = str(problem)
            if table.failing_s is None:
                table.failing_s, table.failing_ms = self._clock(), get_time_ms()
            table.is_down = self._clock() - table.failing_s >= RETRY_S
            table.due_s[Reading.REGIONS] = self._clock() + RETRY_S
            if table.is_down and self.outage_s is None and not self.is_own_load:
                regions = table.regions if table.closed_count else None
                self._alert_outage(
                    table.name,
                    table.outage_rule,
                    is_down=True,
                    reason=table.problem,
                    regions=regions,
                )

    def _count(self, name: str, interval: LoadInterval) -> None:
        """Add the requests of an interval to the totals."""
        for counter in ("writes", "reads"):
            for server, count in interval.sum_by_server(counter).items():
                place = (name, format_server(server))
                self.totals.setdefault(place, Counter())[counter] += count

    # Alerts

    def _alert_load(self, table: WatchedTable, live: LiveLoad) -> None:
        """Store and send an alert, if the load of a table shows one."""
        found = judge_load(table.load_rule, live)
        if found is not None:
            event, since_ms = found
            document = build_alert_document(live, event, since_ms, self._origin)
            self._send_alert(table.name, table.load_rule, event, document)

    def _alert_outage(
        self,
        name: str,
        rule: AlertRule,
        *,
        is_down: bool,
        reason: str = "",
        regions: RegionAvailability | None = None,
    ) -> None:
        """Store and send an alert, if a table or the cluster is down, or up again, for a while."""
        since_ms = rule.judge(is_down, get_time_ms())
        if since_ms is None:
            return
        event: OutageEvent = "down" if is_down else "up"
        document = build_outage_document(name, event, since_ms, reason, regions, self._origin)
        try:
            self._send_alert(name, rule, event, document)
        except (sqlite3.Error, OSError) as problem:
            self._note_storage_problem(problem)

    def _send_alert(
        self, name: str, rule: AlertRule, event: str, document: Mapping[str, object]
    ) -> None:
        """Store an alert, and send it."""
        alert = self.alerts.add(name, event, document, self._sender.first_delivery)
        rule.accept()
        self._sender.send(alert)

    def _note_storage_problem(self, problem: Exception) -> None:
        """Note that the file cannot be used, and log it once."""
        if str(problem) != self.storage_problem:
            self.storage_problem = str(problem)
            _LOGGER.error("the file %s cannot be used: %s", self.history.database.path, problem)


def format_closed_regions(regions: RegionAvailability) -> str:
    """Return how many regions are on no server that answers.

    >>> from rowkey.engines import RegionAvailability
    >>> format_closed_regions(RegionAvailability(4, 33))
    '29 of 33 regions are open on no server that answers'
    """
    closed = regions.total - regions.open
    return f"{closed:,} of {regions.total:,} regions are open on no server that answers"
