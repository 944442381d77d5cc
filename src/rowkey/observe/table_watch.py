"""Counters and samples of a watched table: rates, load balance, and causes of a hot spot."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rowkey.design import Design
from rowkey.hotspots import CauseFinding
from rowkey.messages import pluralize
from rowkey.observe.load_balance import LoadBalance, judge_balance, select_known_intervals
from rowkey.observe.load_causes import find_load_causes
from rowkey.observe.overwrites import format_key, format_overwrites
from rowkey.observe.region_deltas import (
    CounterName,
    CounterSnapshot,
    LoadInterval,
    compute_interval,
)
from rowkey.observe.write_sample import WriteSample, format_mismatch
from rowkey.schema import MIN_VALUES_FOR_FACTS

VERDICT_SPAN_S = 60.0
"""Seconds of the past that a verdict is from."""
MAX_INTERVALS = 240
"""Intervals kept for the heat map, one a column; the intervals of a verdict are kept too."""
MAX_NAMED_REGIONS = 3
"""Regions that a remark lists for each reason why counters are unknown."""


@dataclass(frozen=True)
class LiveLoad:
    """The load of a running table as of one reading of its counters.

    Args:
        table: its name.
        design: its design; None if it is not known.
        at_ms: when, milliseconds since 1970.
        intervals: the load of its regions, oldest first; 240 at most.
        writes: how evenly the writes of the last minute were spread.
        reads: how evenly the reads of the last minute were spread.
        causes: why the writes are uneven, the strongest cause first.
        remarks: notes on the figures, as sentences.
        missed_count: readings that failed since the watch began.
    """

    table: str
    design: Design | None
    at_ms: int
    intervals: tuple[LoadInterval, ...]
    writes: LoadBalance
    reads: LoadBalance
    causes: tuple[CauseFinding, ...]
    remarks: tuple[str, ...]
    missed_count: int

    @property
    def is_hot(self) -> bool:
        """Whether the writes or the reads are hot."""
        return self.writes.is_hot or self.reads.is_hot


class TableWatch:
    """The counters and samples of a watched table so far; it makes no calls itself.

    Args:
        table: its name.
        design: its design; None if it is not known.
        max_intervals: intervals that are kept; those of the last minute are kept in any case.
    """

    def __init__(
        self, table: str, design: Design | None, max_intervals: int = MAX_INTERVALS
    ) -> None:
        self.table, self.design, self._max_intervals = table, design, max_intervals
        self.intervals: deque[LoadInterval] = deque()
        self.samples: deque[tuple[LoadInterval, WriteSample]] = deque()
        self.missed_count = 0
        self.missed_reason = ""
        """Why the last reading failed, if it did."""
        self._known_intervals: dict[CounterName, list[LoadInterval]] = {}
        self._last_snapshot: CounterSnapshot | None = None
        self._own_reads: Mapping[bytes, int] = {}
        self._has_no_servers = False

    def add_snapshot(self, snapshot: CounterSnapshot) -> LoadInterval | None:
        """Add a counter snapshot; return the interval since the previous one, if any."""
        self.missed_reason = ""
        if snapshot.servers == ("",):
            self._has_no_servers = True
            snapshot = assign_designed_servers(snapshot, self.design)
        previous_snapshot, self._last_snapshot = self._last_snapshot, snapshot
        if previous_snapshot is None:
            return None
        interval = _subtract_own_reads(
            compute_interval(previous_snapshot, snapshot), self._own_reads
        )
        self._own_reads = {}
        if self.intervals and self.intervals[-1].bounds != interval.bounds:
            self.samples.clear()
        self.intervals.append(interval)
        self._known_intervals = {}
        most = self._max_intervals
        while len(self.intervals) > most and _is_expired(self.intervals[0], interval):
            self.intervals.popleft()
        while self.samples and (
            len(self.samples) > most or _is_expired(self.samples[0][0], interval)
        ):
            self.samples.popleft()
        return interval

    def note_failure(self, reason: str) -> None:
        """Record that a reading of the counters failed, and why."""
        self.missed_count += 1
        self.missed_reason = reason

    def set_design(self, design: Design | None) -> bool:
        """Replace the table's design; return whether it differs from the previous one.

        Args:
            design: the table's design; None keeps the previous one.
        """
        if design is None or design == self.design:
            return False
        self.design = design
        self.samples.clear()
        return True

    def add_sample(self, interval: LoadInterval, sample: WriteSample) -> None:
        """Add a sample of the rows that were written in the last interval."""
        self.samples.append((interval, sample))
        self._own_reads = sample.total_rows_by_region

    @property
    def recent_intervals(self) -> list[LoadInterval]:
        """The intervals of the last minute, which a verdict is based on."""
        return [one for one in self.intervals if not _is_expired(one, self.intervals[-1])]

    def find_known_intervals(self, counter: CounterName) -> list[LoadInterval]:
        """Return the recent intervals with known reads or writes."""
        if counter not in self._known_intervals:
            self._known_intervals[counter] = select_known_intervals(self.recent_intervals, counter)
        return self._known_intervals[counter]

    def judge_balance(self, counter: CounterName) -> LoadBalance:
        """Return how evenly recent writes or reads are spread over the servers."""
        return judge_balance(self.recent_intervals, counter, self.find_known_intervals(counter))

    def build_live_load(self, at_ms: int) -> LiveLoad:
        """Return the current load, verdicts, causes and remarks of the table.

        Args:
            at_ms: now, milliseconds since 1970.
        """
        writes, reads = self.judge_balance("writes"), self.judge_balance("reads")
        causes = tuple(self._find_causes(writes))
        return LiveLoad(
            self.table,
            self.design,
            at_ms,
            tuple(self.intervals)[-MAX_INTERVALS:],
            writes,
            reads,
            causes,
            (*self._list_remarks(writes, is_explained=bool(causes)), *self._remark_reads(reads)),
            self.missed_count,
        )

    def _select_readable(self) -> list[tuple[LoadInterval, WriteSample]]:
        """Return the samples that the design decodes and whose intervals are known."""
        known_ends_s = {one.end_s for one in self.find_known_intervals("writes")}
        return [
            (interval, sample)
            for interval, sample in self.samples
            if interval.end_s in known_ends_s and sample.is_readable
        ]

    def _find_causes(self, write_balance: LoadBalance) -> list[CauseFinding]:
        """Return the causes of uneven writes; none if the samples do not match the counters."""
        looks = self._select_readable()
        if (
            self.design is None
            or not write_balance.is_uneven
            or not looks
            or format_mismatch(looks)
        ):
            return []
        bounds = self.intervals[-1].bounds
        same = [one for one in self.find_known_intervals("writes") if one.bounds == bounds]
        return find_load_causes(self.design, looks, same, write_balance)

    def _list_remarks(self, write_balance: LoadBalance, *, is_explained: bool) -> Iterator[str]:
        """Yield remarks on missing counters, writes and their cause."""
        if self.missed_reason:
            yield f"the counters could not be read: {self.missed_reason}"
        if self.intervals:
            yield from _list_unknown_regions(self.intervals[-1])
        if self.design is not None and self.design.table != self.table:
            yield f"the given design declares the table {self.design.table}, not {self.table}"
        if self._has_no_servers:
            yield "there are no region servers here: regions are assigned round robin as designed"
        if write_balance.is_uneven and not is_explained and (why := self._explain_missing_cause()):
            yield f"the cause is unknown: {why}"
        if write_balance.is_uneven and self.design is not None and self.samples:
            interval, found = self.samples[-1]
            said = format_overwrites(self.design, interval, found)
            if said and interval is self.intervals[-1]:
                yield said

    def _remark_reads(self, read_balance: LoadBalance) -> Iterator[str]:
        """Yield a remark that names the busiest region if the reads are uneven."""
        last = self.intervals[-1] if self.intervals else None
        if (
            last is None
            or not read_balance.is_uneven
            or last not in self.find_known_intervals("reads")[-1:]
        ):
            return
        number, region = max(enumerate(last.regions), key=lambda one: one[1].reads or 0)
        share = (region.reads or 0) / max(last.sum_operations("reads"), 1)
        begins = (
            f", which begins at {format_key(self.design, region.start)}," if region.start else ""
        )
        yield (
            f"the cause of uneven reads is not searched, because reads leave no trace in rows: "
            f"region {number}{begins} took {share:.0%} of the reads in the last interval"
        )

    def _explain_missing_cause(self) -> str:
        """Return why no cause of uneven writes was found."""
        if self.design is None:
            return "the design of this table is unknown; give it as --design FILE"
        if not self.design.key.is_decodable:
            return "row keys of this design cannot be decoded"
        last = self.samples[-1][1] if self.samples else None
        if last is None:
            return "no written rows were sampled"
        if last.is_readable:
            return self._explain_unfit_samples()
        if not last.keys and not last.unreadable_count:
            return "no cell has a timestamp in the sampled time"
        return "the design cannot decode the rows that were written"

    def _explain_unfit_samples(self) -> str:
        """Return why no cause was found although sampled rows are readable."""
        samples = self._select_readable()
        row_count = sum(len(sample.keys) for _, sample in samples)
        if not row_count:
            return "no sampled interval has known counters of all regions"
        if row_count < MIN_VALUES_FOR_FACTS:
            return (
                f"only {pluralize(row_count, 'row')} could be sampled; at least "
                f"{MIN_VALUES_FOR_FACTS} are needed"
            )
        return format_mismatch(samples) or f"no known cause fits the {row_count:,} sampled rows"


def _is_expired(interval: LoadInterval, last: LoadInterval) -> bool:
    """Return whether an interval ended more than a minute before the last one."""
    return interval.end_s <= last.end_s - VERDICT_SPAN_S


def _list_unknown_regions(interval: LoadInterval) -> Iterator[str]:
    """Yield a remark for each reason why counters of regions are unknown."""
    places_by_reason: dict[str, list[str]] = {}
    for region in interval.regions:
        if region.reason:
            places_by_reason.setdefault(region.reason, []).append(
                region.start.hex() or "the first row"
            )
    for why, places in places_by_reason.items():
        if len(places) == 1:
            yield f"the region that begins at {places[0]} has no rate: {why}"
        else:
            ellipsis = ", ..." if len(places) > MAX_NAMED_REGIONS else ""
            yield (
                f"{len(places):,} regions have no rate, at "
                f"{', '.join(places[:MAX_NAMED_REGIONS])}{ellipsis}: {why}"
            )


def assign_designed_servers(snapshot: CounterSnapshot, design: Design | None) -> CounterSnapshot:
    """Return a snapshot whose regions are assigned round robin to the design's servers.

    Args:
        snapshot: the counters of the regions.
        design: the table's design; None assigns all regions to one server.
    """
    server_count = 1 if design is None else design.cluster.servers
    names = tuple(f"s{number}" for number in range(server_count))
    placed = [
        replace(region, server=names[number % server_count])
        for number, region in enumerate(snapshot.regions)
    ]
    return CounterSnapshot(snapshot.at_s, tuple(placed), names)


def _subtract_own_reads(interval: LoadInterval, own_reads: Mapping[bytes, int]) -> LoadInterval:
    if not own_reads:
        return interval
    regions = tuple(
        one
        if one.reads is None
        else replace(one, reads=max(one.reads - own_reads.get(one.start, 0), 0))
        for one in interval.regions
    )
    return replace(interval, regions=regions)
