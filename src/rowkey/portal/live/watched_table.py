"""What is known of one table of the engine: its facts, regions and load, and the age of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from threading import RLock
from typing import TYPE_CHECKING

from rowkey.errors import RowkeyError
from rowkey.portal.live.alerts import DOWN_STEADY_MS, AlertRule

if TYPE_CHECKING:
    from rowkey.engines import RegionAvailability
    from rowkey.observe import LiveLoad, TableReader
    from rowkey.portal.tables.stored_tables import StoredTable, TableOperations


class TableCondition(StrEnum):
    """Whether a table or the cluster answers."""

    UNKNOWN = "unknown"
    """It was not read yet."""
    UP = "up"
    """It answered when it was asked last."""
    STALE = "stale"
    """It was not read for longer than expected: what is shown is old."""
    DOWN = "down"
    """It does not answer, or some of its regions are open on no server that answers."""


class Reading(StrEnum):
    """What is read of a table, each with a time of its own."""

    FACTS = "facts"
    """Its catalog entry, regions and move."""
    OPERATIONS = "operations"
    """Its bucket counts and its move, for those who change them."""
    REGIONS = "regions"
    """How many of its regions are open."""
    LOAD = "load"
    """The counters of its regions."""


@dataclass(slots=True, eq=False)
class WatchedTable:
    """What is known of a table: all that pages, metrics and alerts are made of.

    Args:
        load_rule: decides about alerts of its load.
        outage_rule: decides about alerts that it is down.
        read_s: when each reading succeeded last, by the clock of the watch.
        tried_s: when each was tried last.
        due_s: when each is made next.
        changed_s: when the portal changed it last; what was read before is old.
        viewer_count: open pages that show its load.
        reader: reads its regions and load; None before the first reading.
        live: its load after the last reading.
        stored_table: its facts after the last reading that succeeded; with its problem if none did.
        operations: its bucket counts and its move, if anybody has asked for them.
        operations_problem: why these could not be read; None if they could.
        regions: how many of its regions were open when they were counted last.
        problem: why its regions or load could not be read, in English; empty if they could.
        failing_s: since when it does not answer or some regions are closed; None if all is well.
        failing_ms: the same in milliseconds since 1970.
        is_down: whether that was seen for long enough.
        events: what pages are sent after a reading, by language, with its load and problem.
        lock: held while that is built.
        reading: held while the table is read.
    """

    name: str
    load_rule: AlertRule = field(default_factory=AlertRule)
    outage_rule: AlertRule = field(default_factory=lambda: AlertRule(DOWN_STEADY_MS))
    read_s: dict[Reading, float] = field(default_factory=dict)
    tried_s: dict[Reading, float] = field(default_factory=dict)
    due_s: dict[Reading, float] = field(default_factory=dict)
    changed_s: float = -inf
    viewer_count: int = 0
    reader: TableReader | None = None
    live: LiveLoad | None = None
    stored_table: StoredTable | None = None
    operations: TableOperations | None = None
    operations_problem: RowkeyError | None = None
    regions: RegionAvailability | None = None
    problem: str = ""
    failing_s: float | None = None
    failing_ms: int = 0
    is_down: bool = False
    events: dict[str, tuple[tuple[object, ...], str]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)
    reading: RLock = field(default_factory=RLock)

    def is_outdated(self, what: Reading) -> bool:
        """Return whether the portal has changed the table since something of it was read."""
        return self.read_s.get(what, -inf) < self.changed_s

    @property
    def answered_s(self) -> float:
        """When its regions or its load were read last; minus infinity before."""
        return max(self.read_s.get(one, -inf) for one in (Reading.REGIONS, Reading.LOAD))

    @property
    def closed_count(self) -> int:
        """How many of its regions are open on no server that answers, as far as is known."""
        return 0 if self.regions is None else self.regions.total - self.regions.open
