"""One background reader of all tables' states, however many pages show them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from math import inf
from threading import Condition as Waiting
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from rowkey.boottime import read_boottime_s
from rowkey.design import Design
from rowkey.engines import get_time_ms
from rowkey.errors import InvalidArgument, RowkeyError
from rowkey.observe import LiveLoad, TableWatch
from rowkey.portal.live.table_readings import TableReadings
from rowkey.portal.live.watched_table import Reading, TableCondition, WatchedTable
from rowkey.portal.page_templates import format_utc_time
from rowkey.portal.tables.stored_tables import StoredTable

if TYPE_CHECKING:
    from rowkey.portal.live.alert_writer import AlertWriter
    from rowkey.portal.live.history import LiveHistory
    from rowkey.portal.tables.engine_session import EngineSession


WATCHED_S, UNWATCHED_S = 2.0, 60.0
"""Seconds from one reading of a table's load to the next, with and without an open page of it."""
LIST_S, LIST_RETRY_S = 3.0, 1.0
"""Seconds from one list of the tables to the next, by which an outage of the cluster is found, and
during one."""
REGIONS_S, REGIONS_SHARE_S = 5.0, 0.1
"""Seconds from one count of a table's open regions to the next, and for each table of many: a count
takes some milliseconds."""
FACTS_S, FACTS_SHARE_S = 60.0, 0.5
"""The same for its catalog entry; that of a table whose rows are moved is read as often."""
RETRY_S = 2.0
"""Seconds until a reading that failed is tried again; a table that fails then is down."""
LATE_FACTOR, LATE_S = 3, 15.0
"""A state is stale after so many times the seconds from one reading to the next, and these."""
LIST_LIMIT_S, READ_LIMIT_S = 4.0, 6.0
"""Seconds after which a list or a reading has failed, even if the engine hangs."""
FRESH_S, PAGE_WAIT_S = 2.0, 0.3
"""Age of a state that a page shows as it is; of an older one it waits that long for a new one."""
LIST_WAIT_S = 0.1
"""Seconds that a page waits for the states of many tables, which it also shows old or unread."""
AGE_STEP_S = 10.0
"""Seconds after which a page shows the age of an old state anew."""
STEP_WAIT_S = 3.0
"""Seconds that the end of a step waits for the state after it."""
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
        history: where the load is stored.
        find_design: returns the design of the folder for a table whose own design is not known;
            None without one.
        clock: seconds that never go back; for tests.
    """

    def __init__(
        self,
        engines: EngineSession,
        history: LiveHistory,
        alerts: AlertWriter,
        find_design: Callable[[str], Design | None] = lambda _: None,
        clock: Callable[[], float] = read_boottime_s,
    ) -> None:
        self._engines, self.history, self.alerts = engines, history, alerts
        self._clock = clock
        self._readings = TableReadings(engines, history, alerts, find_design, self._get_time_s)
        self._lock = RLock()
        self._was_read = Waiting(self._lock)
        self._wake, self._closing = Event(), Event()
        self._thread: Thread | None = None
        self._tables: dict[str, WatchedTable] = {}
        self._list_due_s, self._list_tried_s = clock(), -inf
        self.listed_s = -inf
        """When the tables were listed last, by the clock of the watch."""
        self.outage_s: float | None = None
        """Since when the engine does not answer; None if it did when it was asked last."""
        self.outage_ms = 0
        """The same in milliseconds since 1970."""
        self.problem = ""
        """Why the tables could not be listed, in English; empty if they could."""
        engines.find_outage = self.find_outage

    def _get_time_s(self) -> float:
        return self._clock()

    @property
    def failure_count(self) -> int:
        """Readings that failed since the portal was started."""
        return self._readings.failure_count

    @property
    def totals(self) -> dict[tuple[str, str], Counter[str]]:
        """Writes and reads since the portal was started, by table and server without start code."""
        return self._readings.totals

    @property
    def has_only_portal_load(self) -> bool:
        """Whether only the load of the portal's own steps can be seen."""
        return self._engines.url is not None and self._engines.is_exclusive

    def start(self) -> None:
        """Begin to read, if the portal has tables."""
        if self._engines.url is None:
            return
        self.alerts.start()
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
        self.alerts.close()
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
        """Return the load of a table after the last reading; without figures before the first."""
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
        if self._engines.url is None or self.has_only_portal_load:
            return TableCondition.UP
        if self.listed_s == -inf:
            return TableCondition.UNKNOWN
        return TableCondition.STALE if self._is_late(self.listed_s, LIST_S) else TableCondition.UP

    def find_condition(self, table: WatchedTable) -> TableCondition:
        """Return whether a table is up, down, not read yet, or shown by old figures."""
        if self.has_only_portal_load:
            return TableCondition.UP
        if table.is_down:
            return TableCondition.DOWN
        if table.answered_s == -inf:
            return TableCondition.UNKNOWN if self.outage_s is None else TableCondition.DOWN
        is_older = self.outage_s is not None and table.answered_s < self.outage_s
        if is_older or self._is_late(table.answered_s, self._regions_s):
            return TableCondition.STALE
        return TableCondition.UP

    def find_outage(self, name: str = "") -> str:
        """Return since when and why the engine, or a table, does not answer.

        Args:
            name: the table that is read, of which some regions may be closed; empty for none.

        Returns:
            The sentence in English; empty if there may be an answer.
        """
        if self.outage_s is not None:
            since = format_utc_time(self.outage_ms)
            return f"the tables have not answered since {since}: {self.problem}"
        table = self.find(name)
        if table is None or self.find_condition(table) is not TableCondition.DOWN:
            return ""
        if table.regions is not None and 0 < table.closed_count < table.regions.total:
            return ""
        return f"{name} has not answered since {format_utc_time(table.failing_ms)}: {table.problem}"

    def list_down_tables(self) -> list[WatchedTable]:
        """Return the tables that do not answer, or have closed regions, by name.

        None where only this process has the engine open: its tables are not watched.
        """
        return [one for one in self.list_tables() if one.is_down and not self.has_only_portal_load]

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
        accepts_old: bool = False,
    ) -> None:
        """Let the list of the tables, and some of them, be read again for a page that shows them.

        The call waits a moment for that, longer for a table that the portal has changed, and never
        for an engine or a table that is known not to answer. An engine that is not watched is read
        by the call.

        Args:
            names: the tables; those that the engine does not have are left out.
            accepts_old: whether an older state will do, but from after the last change by the
                portal; of many tables, those with the oldest are read as long as there is time.
        """
        if self._engines.url is None or self.outage_s is not None:
            return
        if self.is_running and not self.has_only_portal_load:
            names = [one for one in names if not self.find_outage(one)]
            if accepts_old:
                known = [one for one in map(self.find, names) if one is not None]
                names = [
                    one.name for one in known if what not in one.read_s or one.is_outdated(what)
                ]
            is_outdated = any(one.is_outdated(what) for one in filter(None, map(self.find, names)))
            wait_s = LIST_WAIT_S if len(names) > 1 else PAGE_WAIT_S
            self._refresh_in_thread(names, what, STEP_WAIT_S if is_outdated else wait_s)
            return
        began_s = self._clock()
        try:
            with self._engines.open(quick=True):  # once for all readings
                is_listed = began_s - self.listed_s < FRESH_S and all(map(self.find, names))
                if not (names and accepts_old and is_listed):
                    self._update_tables(opens=True)
                tables = [one for one in map(self.find, names) if one is not None]
                tables.sort(key=lambda one: one.tried_s.get(what, -inf))
                for i, table in enumerate(tables):
                    if i and self._clock() - began_s >= LIST_WAIT_S:
                        return
                    self._try_read(table, what, opens=True)
        except InvalidArgument:  # nothing is stored at its URL yet
            self._note_answer(set())
        except RowkeyError as problem:
            self._note_outage(problem)

    def note_change(self, name: str) -> None:
        """Note that the portal has changed a table: the next page waits for what it is now."""
        table = self.find(name)
        if table is not None:
            table.changed_s = self._clock()

    def follow_end(self, name: str) -> None:
        """Read the list of the tables and a table again after a step, so its effect is seen."""
        if not self.is_running or self.has_only_portal_load:
            return  # pages read it
        self.note_change(name)
        table = self.find(name)
        names = {name}
        if (
            table is not None
            and table.stored_table is not None
            and table.stored_table.move is not None
        ):
            names.add(table.stored_table.move["target"])
        self._refresh_in_thread(names, Reading.FACTS, STEP_WAIT_S, age_s=0.0)

    def _refresh_in_thread(
        self, names: Collection[str], what: Reading, wait_s: float, age_s: float = FRESH_S
    ) -> None:
        """Let the thread read the list and some tables, and wait for that.

        Args:
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
                if one.read_s.get(what, -inf) < max(fresh_s, one.changed_s)
                and one.tried_s.get(what, -inf) < asked_s
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

        What a page asks for comes first, then what is due for the longest time, so that a table
        whose readings take long keeps no other from being read. Load that no page shows comes last:
        during an outage each reading takes long, and open regions show which tables are down.
        """
        now_s = self._clock()
        if now_s >= self._list_due_s and not self.has_only_portal_load:
            self._update_tables()
        with self._lock:
            readings = [
                (self._find_due_s(table, what), table, what)
                for table in self._tables.values()
                for what in Reading
            ]
            list_due_s = inf if self.has_only_portal_load else self._list_due_s
            due = [one for one in readings if one[0] <= now_s]
            if not due:
                next_s = min([list_due_s, *(one[0] for one in readings)], default=inf)
                longest_s = WATCHED_S if self.has_only_portal_load else UNWATCHED_S
                return min(max(next_s - self._clock(), 0.0), longest_s)
            _, table, what = min(due, key=_rank_reading)
        self._try_read(table, what)
        return 0.0

    def _find_due_s(self, table: WatchedTable, what: Reading) -> float:
        """Return when something of a table is read next."""
        if self.has_only_portal_load:
            is_open = self._engines.is_open or table.reader is not None  # which is dropped then
            if what is not Reading.LOAD or not is_open:
                return inf
        due_s = table.due_s.get(what, inf if what is Reading.OPERATIONS else -1.0)
        if what is Reading.LOAD and (table.viewer_count or self.has_only_portal_load):
            due_s = min(due_s, table.tried_s.get(what, -1.0) + WATCHED_S)
        elif what is Reading.LOAD and table.failing_s is not None and due_s > -inf:
            return inf  # until its regions are open
        return due_s

    def _try_read(self, table: WatchedTable, what: Reading, *, opens: bool = False) -> None:
        """Read something of a table once; a defect is logged, and ends no step.

        Args:
            opens: whether the engine is opened for it in any case.
        """
        is_moving = table.stored_table is not None and table.stored_table.move is not None
        facts_s = self._regions_s if is_moving else self._facts_s
        interval_s = {Reading.FACTS: facts_s, Reading.REGIONS: self._regions_s}
        due_s, began_s = interval_s.get(what, UNWATCHED_S), self._clock()
        try:
            self._engines.call(lambda: self._readings.read(table, what, opens=opens), READ_LIMIT_S)
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
                names = self._engines.call(
                    lambda: self._readings.list_names(opens=opens), LIST_LIMIT_S
                )
            self._note_answer(names)
        except RowkeyError as problem:
            self._note_outage(problem)
        finally:
            with self._was_read:
                self._list_tried_s = began_s
                pause_s = LIST_S if self.outage_s is None else LIST_RETRY_S
                self._list_due_s = self._clock() + pause_s
                self._was_read.notify_all()

    def _note_answer(self, names: set[str] | None) -> None:
        """Note which tables there are; after an outage, all of them are read again."""
        was_down, self.outage_s, self.problem = self.outage_s is not None, None, ""
        self.alerts.write_outage_alert("", self.alerts.cluster_rule, is_down=False)
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
        self._readings.failure_count += 1
        self.problem = str(problem)
        if self.has_only_portal_load:
            return
        if self.outage_s is None:
            self.outage_s, self.outage_ms = self._clock(), get_time_ms()
        self.alerts.write_outage_alert(
            "", self.alerts.cluster_rule, is_down=True, reason=str(problem)
        )

    def _add_table(self, name: str) -> WatchedTable:
        """Return a table, which is read from now on if it is new."""
        if name not in self._tables:
            self._tables[name] = WatchedTable(name, *self.alerts.build_rules(name))
        return self._tables[name]

    def _note_failure(self, table: WatchedTable, what: Reading, problem: RowkeyError) -> None:
        """Note why something of a table could not be read; it is down if that lasts."""
        self._readings.failure_count += 1
        if what is Reading.OPERATIONS:
            table.operations_problem = problem
        elif what is Reading.FACTS:
            if table.stored_table is None or table.stored_table.problem:
                table.stored_table = StoredTable(table.name, problem=str(problem))
        else:
            table.problem = str(problem)
            if table.failing_s is None:
                table.failing_s, table.failing_ms = self._clock(), get_time_ms()
            table.is_down = self._clock() - table.failing_s >= RETRY_S
            table.due_s[Reading.REGIONS] = self._clock() + RETRY_S
            if table.is_down and self.outage_s is None and not self.has_only_portal_load:
                regions = table.regions if table.closed_count else None
                self.alerts.write_outage_alert(
                    table.name,
                    table.outage_rule,
                    is_down=True,
                    reason=table.problem,
                    regions=regions,
                )


def _rank_reading(reading: tuple[float, WatchedTable, Reading]) -> tuple[bool, bool, float, str]:
    """Return what readings are sorted by, of which the first is made next.

    Args:
        reading: when it is due, its table, and what is read.
    """
    due_s, table, what = reading
    is_unseen = what is Reading.LOAD and not table.viewer_count
    return due_s > -inf, is_unseen, due_s, table.name
