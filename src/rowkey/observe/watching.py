"""A table in use, looked at again and again: counts, rates, how hot, and why."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from rowkey.engines import now_ms, open_engine
from rowkey.errors import Refused, Unsupported, counted
from rowkey.observe.counting import Counted, between
from rowkey.observe.explaining import causes
from rowkey.observe.judging import standing, telling
from rowkey.observe.looking import elsewhere, look
from rowkey.observe.overwritten import few_rows_of, shown
from rowkey.observe.remembering import remembered, table_of
from rowkey.open_file_limit import explains_shortage
from rowkey.schema import SURE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rowkey.design import Design
    from rowkey.engines import Engine, Store
    from rowkey.heat import Finding
    from rowkey.observe.counting import Interval, What
    from rowkey.observe.judging import Standing
    from rowkey.observe.looking import Look

SPAN_S = 60.0
"""Seconds that a verdict looks back: what was before is over."""
ROUNDING = 1e-9
"""What a division of lengths of time may fall short of a whole number by."""
KEPT = 240
"""Intervals kept for the map, as many as a map has columns; those of a verdict are kept besides."""
NAMED = 3
"""Regions that are named of those whose rate is not known for one reason."""


@dataclass(frozen=True)
class Live:
    """A table as it stands after a look at its counters.

    Args:
        table: its name.
        design: its design; None if nobody knows it.
        at_ms: when, milliseconds since 1970.
        intervals: what its regions did, oldest first; 240 at most.
        writes: how evenly the writes of the last minute lay.
        reads: the same of reads.
        causes: why the writes lie unevenly, the one that explains most first.
        remarks: what should be known of the figures, as sentences.
        missed: looks that failed since the table was watched.
    """

    table: str
    design: Design | None
    at_ms: int
    intervals: tuple[Interval, ...]
    writes: Standing
    reads: Standing
    causes: tuple[Finding, ...]
    remarks: tuple[str, ...]
    missed: int

    @property
    def is_hot(self) -> bool:
        """Whether writes or reads are."""
        return self.writes.is_hot or self.reads.is_hot


class Watch:
    """What was seen of a table so far; it asks nobody anything.

    Args:
        table: its name.
        design: its design; None if nobody knows it.
    """

    def __init__(self, table: str, design: Design | None) -> None:
        self.table, self.design = table, design
        self.intervals: deque[Interval] = deque()
        self.looks: deque[tuple[Interval, Look]] = deque()
        self.missed = 0
        self.missed_why = ""
        """Why the last look failed, if it did."""
        self._told: dict[What, list[Interval]] = {}
        self._before: Counted | None = None
        self._own: Mapping[bytes, int] = {}
        self._is_designed = False

    def count(self, counted: Counted) -> Interval | None:
        """Add the counts of a moment; gives what was done since the last ones, if there are any."""
        self.missed_why = ""
        if counted.servers == ("",):
            self._is_designed = True
            counted = as_designed(counted, self.design)
        before, self._before = self._before, counted
        if before is None:
            return None
        interval = _without_own(between(before, counted), self._own)
        self._own = {}
        if self.intervals and self.intervals[-1].bounds != interval.bounds:
            self.looks.clear()
        self.intervals.append(interval)
        self._told = {}
        while len(self.intervals) > KEPT and _is_over(self.intervals[0], interval):
            self.intervals.popleft()
        while self.looks and (len(self.looks) > KEPT or _is_over(self.looks[0][0], interval)):
            self.looks.popleft()
        return interval

    def miss(self, why: str) -> None:
        """Note that the counters could not be read."""
        self.missed += 1
        self.missed_why = why

    def follow(self, design: Design | None) -> bool:
        """Go on with the design that rows are written by now; gives whether it is another.

        Args:
            design: the table's; None if nobody knows it now, which leaves the last one.
        """
        if design is None or design == self.design:
            return False
        self.design = design
        self.looks.clear()
        return True

    def look(self, interval: Interval, found: Look) -> None:
        """Add what was written in the last interval."""
        self.looks.append((interval, found))
        self._own = found.asked

    @property
    def recent(self) -> list[Interval]:
        """The intervals that a verdict is from."""
        return [one for one in self.intervals if not _is_over(one, self.intervals[-1])]

    def told(self, what: What) -> list[Interval]:
        """Those of them that tell how load lies."""
        if what not in self._told:
            self._told[what] = telling(self.recent, what)
        return self._told[what]

    def standing(self, what: What) -> Standing:
        """How evenly writes or reads lay over the servers."""
        return standing(self.recent, what, self.told(what))

    def found(self, at_ms: int) -> Live:
        """How the table stands.

        Args:
            at_ms: now, milliseconds since 1970.
        """
        writes, reads = self.standing("writes"), self.standing("reads")
        found = tuple(self._causes(writes))
        return Live(
            self.table,
            self.design,
            at_ms,
            tuple(self.intervals)[-KEPT:],
            writes,
            reads,
            found,
            (*self._remarks(writes, is_explained=bool(found)), *self._unlooked(reads)),
            self.missed,
        )

    def _readable(self) -> list[tuple[Interval, Look]]:
        """The looks of the time that a verdict is from, where all was counted and is read."""
        told = {one.at_s for one in self.told("writes")}
        return [
            (interval, found)
            for interval, found in self.looks
            if interval.at_s in told and found.is_readable
        ]

    def _causes(self, writes: Standing) -> list[Finding]:
        looks = self._readable()
        if self.design is None or not writes.is_uneven or not looks or elsewhere(looks):
            return []
        bounds = self.intervals[-1].bounds
        same = [one for one in self.told("writes") if one.bounds == bounds]
        return causes(self.design, looks, same, writes)

    def _remarks(self, writes: Standing, *, is_explained: bool) -> Iterator[str]:
        """What should be known of the figures."""
        if self.missed_why:
            yield f"the counters could not be read: {self.missed_why}"
        if self.intervals:
            yield from _unknown_regions(self.intervals[-1])
        if self.design is not None and self.design.table != self.table:
            yield f"the design that was given is of a table {self.design.table}, not {self.table}"
        if self._is_designed:
            yield "there are no servers here: regions are laid round robin over as many as designed"
        if writes.is_uneven and not is_explained and (why := self._why_unexplained()):
            yield f"why is not known: {why}"
        if writes.is_uneven and self.design is not None and self.looks:
            interval, found = self.looks[-1]
            said = few_rows_of(self.design, interval, found)
            if said and interval is self.intervals[-1]:
                yield said

    def _unlooked(self, reads: Standing) -> Iterator[str]:
        """Where reads lie unevenly: which region they ask, and that nobody looks for the reason."""
        last = self.intervals[-1] if self.intervals else None
        if last is None or not reads.is_uneven or last not in self.told("reads")[-1:]:
            return
        number, region = max(enumerate(last.regions), key=lambda one: one[1].reads or 0)
        share = (region.reads or 0) / max(last.total("reads"), 1)
        begins = f", which begins at {shown(self.design, region.start)}," if region.start else ""
        yield (
            f"why reads lie unevenly is not looked for, for rows that are read leave no trace: "
            f"region {number}{begins} took {share:.0%} of those of the last look"
        )

    def _why_unexplained(self) -> str:
        """Why no cause is known."""
        if self.design is None:
            return "nobody knows the design of this table; give it as --design FILE"
        if not self.design.key.is_decodable:
            return "keys of this design cannot be taken apart"
        last = self.looks[-1][1] if self.looks else None
        if last is None:
            return "nothing that was written was looked at"
        if last.is_readable:
            return self._why_unfit()
        if not last.keys and not last.strange:
            return "no cell has a timestamp of this time"
        return "the rows that were written are none of this design"

    def _why_unfit(self) -> str:
        """Why no cause is known although rows could be read."""
        looks = self._readable()
        many = sum(len(found.keys) for _, found in looks)
        if not many:
            return "of the looks at what was written in none all regions were counted"
        if many < SURE:
            return f"{counted(many, 'row')} could be read; it is judged from {SURE} on"
        return elsewhere(looks) or f"no known cause fits the {many:,} rows that were read"


def _is_over(interval: Interval, last: Interval) -> bool:
    """Whether an interval is too long ago for a verdict."""
    return interval.at_s <= last.at_s - SPAN_S


def _unknown_regions(interval: Interval) -> Iterator[str]:
    """The regions whose rate is not known, by the reason: there may be thousands of one."""
    found: dict[str, list[str]] = {}
    for region in interval.regions:
        if region.why:
            found.setdefault(region.why, []).append(region.start.hex() or "the first row")
    for why, places in found.items():
        if len(places) == 1:
            yield f"the region at {places[0]}: {why}"
        else:
            more = ", ..." if len(places) > NAMED else ""
            yield f"{len(places):,} regions, at {', '.join(places[:NAMED])}{more}: {why}"


def as_designed(counted: Counted, design: Design | None) -> Counted:
    """Regions of a place without servers, laid round robin over those that the design has.

    Args:
        counted: their counts.
        design: the table's; None leaves them on one.
    """
    many = 1 if design is None else design.cluster.servers
    names = tuple(f"s{number}" for number in range(many))
    placed = [
        replace(region, server=names[number % many])
        for number, region in enumerate(counted.regions)
    ]
    return Counted(counted.at_s, tuple(placed), names)


def _without_own(interval: Interval, own: Mapping[bytes, int]) -> Interval:
    """An interval without the reads that were our own."""
    if not own:
        return interval
    regions = tuple(
        one if one.reads is None else replace(one, reads=max(one.reads - own.get(one.start, 0), 0))
        for one in interval.regions
    )
    return replace(interval, regions=regions)


def watch(
    table: str,
    url: str,
    *,
    design: Design | None = None,
    every_s: float = 2.0,
    for_s: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Live]:
    """Look at a table's counters again and again; gives how it stands after each look.

    Args:
        table: its name.
        url: where it is.
        design: its design, if neither its catalog nor the table itself knows it, or another is to
            be asked.
        every_s: seconds from one look to the next, above 0.
        for_s: seconds until it ends.
        sleep: waits; for tests.
        clock: seconds that never go back; for tests.

    Raises:
        Refused: there is no such table, or a number is out of range.
        Unsupported: it could not be looked at even once.

    Cost: two or three RPCs a look, and one for each region server; where writes lie unevenly, a
        scan of some thousand rows that were just written.
    """
    for name, value in (("every_s", every_s), ("for_s", for_s)):
        if not 0 < value < 86_400 * 366:
            path = name.removesuffix("_s")
            raise Refused(path, f"{value:g} s is out of range", "above 0, at most a year")
    if for_s < every_s:
        what = f"{for_s:g} s end before the second look, after {every_s:g} s"
        raise Refused("for", what, "as long as every, or longer", "A rate lies between two looks.")
    return _watched(table, url, design, every_s, for_s, sleep, clock)


@explains_shortage
def _watched(
    table: str,
    url: str,
    design: Design | None,
    every_s: float,
    for_s: float,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> Iterator[Live]:
    with open_engine(url, create=False) as engine:
        store = table_of(engine, table, url)
        known = design if design is not None else remembered(engine, store, table).design
        seen = Watch(table, known)
        began = clock()
        servers: list[str] = []
        number, last = 0, int(for_s / every_s + ROUNDING)
        while number <= last:
            sleep(max(began + number * every_s - clock(), 0.0))
            try:
                servers = _servers(engine, every_s) or servers
                regions = store.openings(every_s)
            except Unsupported as problem:
                seen.miss(str(problem))
            else:
                interval = seen.count(Counted.of(clock(), regions, servers))
                if interval is not None and _is_to_explain(seen, interval):
                    # Buckets may be counted anew meanwhile; what came until then is of both.
                    now = design or remembered(engine, store, table).design
                    if not seen.follow(now):
                        _looked(seen, store, interval)
            yield seen.found(now_ms())
            # Looks that came too late are left out, not made up for one upon the other.
            late = max(number + 1, ceil((clock() - began) / every_s - ROUNDING))
            if number < last < late and not seen.intervals:
                # But a rate needs two of them, however long the first one took.
                began, late = clock() - (last - 1) * every_s, last
            number = late
        if not seen.intervals:
            what = f"the counters of {table} could not be read twice"
            raise Unsupported(url, f"{what}: {seen.missed_why}" if seen.missed_why else what)


def _servers(engine: Engine, wait_s: float) -> list[str]:
    """The live servers; none where no master says so."""
    try:
        return engine.servers(wait_s)
    except Unsupported:
        return []


def _is_to_explain(seen: Watch, interval: Interval) -> bool:
    """Whether writes lie unevenly."""
    return bool(interval.total("writes")) and seen.standing("writes").is_uneven


def _looked(seen: Watch, store: Store, interval: Interval) -> None:
    """Look at what was written, where a design can tell why it lies unevenly."""
    if seen.design is not None and seen.design.key.is_decodable:
        with suppress(Unsupported):  # a server that is gone now: the next interval is looked at
            seen.look(interval, look(store, seen.design, interval, now_ms()))
