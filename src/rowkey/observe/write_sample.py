"""Sample the rows that were written lately: a few thousand of them show why a region is hot.

Counters show which region is hot, but not which rows. Cells carry the time of their writing, so a
scan of the last moments gives a sample of the writes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rowkey.array_libraries import np, pa
from rowkey.cells import RowCells
from rowkey.engines import CellSelection, ScanRange, Store
from rowkey.errors import RowError
from rowkey.regions import Boundaries
from rowkey.schema import MIN_VALUES_FOR_FACTS

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.observe.region_deltas import LoadInterval

TARGET_EVENTS = 2_000
"""Events that a sample should have: a share of 5 % is then known to a tenth of itself."""
MIN_EVENTS = TARGET_EVENTS // 4
"""Events that are enough not to scan again."""
MAX_EVENTS = 10 * TARGET_EVENTS
"""Events in a sample at most, if all writes came at once."""
ROWS_PER_TURN = 100
"""Rows of a region that are read before it is the next one's turn."""
MAX_CLOCK_SKEW_MS = 100
"""Milliseconds by which clocks may differ. Cells stamped this much later are read too; those
stamped even later were written during the scan."""
MAX_SCANS = 8
"""Scans for one sample at most. Each begins earlier or later than the one before, because counters
do not show when in an interval the events were written."""
MIN_READABLE_SHARE = 0.5
"""Share of the sampled rows that a design must decode for the sample to be used."""
MAX_MISPLACED_SHARE = 0.15
"""Share of the counted writes that may lie in other regions than the sampled rows: the shares in a
cause are then wrong by no more than this."""


@dataclass(frozen=True, slots=True)
class WriteSample:
    """A sample of the events written in one interval, in the order of writing.

    Args:
        rows: the events, with a column for each field.
        keys: the row key of each event.
        unreadable_count: rows that the design cannot decode.
        rows_by_region: rows read for this sample, by the first key of their region.
        interval_share: the share of the interval, counted from its end, that was sampled.
        truncated_regions: the first keys of regions that were not read to their end, so that they
            may have more rows.
        total_rows_by_region: rows read by all scans for this sample, by the first key of their
            region.
    """

    rows: pa.RecordBatch
    keys: list[bytes]
    unreadable_count: int
    rows_by_region: dict[bytes, int]
    interval_share: float = 1.0
    truncated_regions: frozenset[bytes] = frozenset()
    total_rows_by_region: Mapping[bytes, int] = field(default_factory=dict)

    @property
    def is_readable(self) -> bool:
        """Whether the design decodes the sampled rows."""
        return (
            len(self.keys) > self.unreadable_count * (1 - MIN_READABLE_SHARE) / MIN_READABLE_SHARE
        )

    @property
    def is_truncated(self) -> bool:
        """Whether some region has more recent rows than were read."""
        return bool(self.truncated_regions)

    @property
    def is_sufficient(self) -> bool:
        """Whether the sample is complete and large enough to judge."""
        return not self.is_truncated and len(self.keys) + self.unreadable_count >= MIN_EVENTS

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """A sort key: the better of two samples of one interval has the greater one."""
        many = len(self.keys) + self.unreadable_count
        return self.is_sufficient, not self.is_truncated and many >= MIN_VALUES_FOR_FACTS, many

    def count_by_region(self, interval: LoadInterval) -> list[float]:
        """Return how many written events each region has; estimated where rows are unread.

        A region that was not read to its end is assumed to have as many rows per write as the
        others.

        Args:
            interval: the interval of the sample.
        """
        boundaries = Boundaries(region.start for region in interval.regions[1:])
        event_counts = [0.0] * len(interval.regions)
        for key in self.keys:
            event_counts[boundaries.locate_key(key)] += 1
        writes = [region.writes or 0 for region in interval.regions]
        is_full = [one.start in self.truncated_regions for one in interval.regions]
        fully_read = [place for place, full in enumerate(is_full) if not full and writes[place]]
        elsewhere = sum(writes[place] for place in fully_read)
        each = (
            sum(event_counts[place] for place in fully_read) / elsewhere
            if elsewhere
            else self.interval_share
        )
        return [
            max(count, written * max(each, self.interval_share)) if full else count
            for count, written, full in zip(event_counts, writes, is_full, strict=True)
        ]


def sample_writes(
    store: Store, design: Design, interval: LoadInterval, until_ms: int
) -> WriteSample:
    """Return a sample of the events that were written at the end of an interval.

    Args:
        store: the table.
        interval: the load of its regions.
        until_ms: when the interval ended, in milliseconds since 1970 by the clock that stamps
            cells.

    Cost: a scan of the regions with writes, limited to a time range, and up to seven more if the
        writes came unevenly in time. The servers read their memstores, and the store files whose
        newest cell is from the interval.
    """
    whole_ms = max(int(1_000 * interval.length_s), 1)
    length_ms = min(_choose_length_ms(interval), whole_ms)
    # The longest scan that found too few events, and the shortest that found too many.
    too_short_ms, too_long_ms = 0, whole_ms + 1
    best = sample = _scan_writes(store, design, interval, until_ms, length_ms)
    rows_by_region = Counter(sample.rows_by_region)
    for _ in range(MAX_SCANS - 1):
        if sample.is_sufficient:
            break
        if sample.is_truncated:
            too_long_ms = length_ms
        else:
            too_short_ms = length_ms
        length_ms = (
            (too_short_ms + too_long_ms) // 2
            if too_long_ms <= whole_ms
            else min(4 * length_ms, whole_ms)
        )
        if not too_short_ms < length_ms < too_long_ms:
            break
        sample = _scan_writes(store, design, interval, until_ms, length_ms)
        rows_by_region += Counter(sample.rows_by_region)
        best = max(best, sample, key=lambda one: one.rank)
    return replace(best, total_rows_by_region=rows_by_region)


def _scan_writes(
    store: Store, design: Design, interval: LoadInterval, until_ms: int, length_ms: int
) -> WriteSample:
    """Return the events that were written in the last milliseconds of an interval."""
    since_ms = until_ms - length_ms
    spans = [ScanRange(one.start, one.stop) for one in interval.regions if one.writes]
    names = design.layout.fields.items()
    schema = pa.schema([(name, field.type.build_arrow_type()) for name, field in names])
    stamped_events: list[tuple[int, bytes, dict[str, object]]] = []
    rows_by_region: dict[bytes, int] = {}
    strange_count = 0
    scanned = _TimeRangeScan(store, spans, (since_ms, until_ms + MAX_CLOCK_SKEW_MS))
    with closing(scanned.read_in_turns()) as turns:
        for span, row in turns:
            rows_by_region[span.start] = rows_by_region.get(span.start, 0) + 1
            events = _decode_events(design, row)
            strange_count += not events
            at = max((cell.timestamp for cell in row.cells), default=since_ms)
            stamped_events += [(at, row.row, event) for event in events]
            if len(stamped_events) + strange_count > MAX_EVENTS:
                break
    # The order within a millisecond is unknown; the order of the scan would look like rising keys.
    stamped_events.sort(key=lambda one: (one[0], crc32(one[1])))
    batch = pa.RecordBatch.from_pylist([event for _, _, event in stamped_events], schema)
    part = min(length_ms / (1_000 * interval.length_s), 1.0)
    return WriteSample(
        batch,
        [key for _, key, _ in stamped_events],
        strange_count,
        rows_by_region,
        part,
        scanned.truncated_regions,
    )


def format_mismatch(samples: Sequence[tuple[LoadInterval, WriteSample]]) -> str:
    """Return why sampled rows and counted writes lie in different regions; "" if they do not.

    Deletes, failed checks and overwritten values leave no cell. If a region counts many of them,
    the rows in it are no sample of its writes and show no cause.

    Args:
        samples: intervals with known counters and the same regions, each with its sample.
    """
    if not samples:
        return ""
    writes = np.array(
        [[one.writes or 0 for one in each.regions] for each, _ in samples], np.float64
    )
    rows = np.array([sample.count_by_region(each) for each, sample in samples], np.float64)
    busy = (rows.sum(axis=1) > 0) & (writes.sum(axis=1) > 0)
    if not busy.any():
        return ""
    # Each sample has the weight of the writes counted in its interval, not of its rows.
    totals = writes[busy].sum(axis=1, keepdims=True)
    write_shares = writes[busy].sum(axis=0) / totals.sum()
    row_shares = (rows[busy] / rows[busy].sum(axis=1, keepdims=True) * totals).sum(axis=0)
    row_shares /= totals.sum()
    chance = 0.4 * float(np.sqrt(write_shares * (1 - write_shares) / rows[busy].sum()).sum())
    if float(np.abs(write_shares - row_shares).sum()) / 2 <= MAX_MISPLACED_SHARE + 2 * chance:
        return ""
    number = int((write_shares - row_shares).argmax())
    why = "deletes, failed checks and overwritten values leave no cell"
    if any(sample.is_truncated for _, sample in samples):
        why = "more rows were written at once than are sampled"
    return (
        f"region {number} counted {write_shares[number]:.0%} of the writes but has "
        f"{row_shares[number]:.0%} of the sampled rows: {why}"
    )


def _decode_events(design: Design, row: RowCells) -> list[dict[str, Any]]:
    """Return the events in a row's recent cells; none if the design cannot decode it."""
    with suppress(RowError):
        return design.layout.decode_events(row.row, row.cells)
    with suppress(RowError):  # only some of its columns were written
        return [] if design.layout.has_shared_rows else [dict(design.key.decode(row.row))]
    return []


def _choose_length_ms(interval: LoadInterval) -> int:
    """Return how many last milliseconds to scan for the target number of events.

    Evenly spaced events are assumed, and three quarters of the target, so that one region with all
    events does not exceed its limit.
    """
    length_ms = max(int(1_000 * interval.length_s), 1)
    writes = interval.sum_operations("writes")
    return (
        length_ms
        if writes <= TARGET_EVENTS
        else max(length_ms * TARGET_EVENTS * 3 // 4 // writes, 1)
    )


class _TimeRangeScan:
    """A scan of several key ranges for cells written within a time range.

    Args:
        store: the table.
        time_range: milliseconds since 1970, the end excluded.
    """

    def __init__(
        self, store: Store, spans: Sequence[ScanRange], time_range: tuple[int, int]
    ) -> None:
        self._store, self._request = (
            store,
            CellSelection(time_range=time_range, limit=TARGET_EVENTS + 1),
        )
        self._remaining_spans = deque(spans)
        self._truncated: set[bytes] = set()

    @property
    def truncated_regions(self) -> frozenset[bytes]:
        """The starts of the ranges that were not read to their end."""
        return frozenset(self._truncated | {span.start for span in self._remaining_spans})

    def read_in_turns(self) -> Generator[tuple[ScanRange, RowCells]]:
        """Yield rows of all ranges, some of each range in turn."""
        if not self._remaining_spans:
            return
        cursors = self._store.scan(list(self._remaining_spans), self._request)
        rows = {
            span.start: iter(one) for span, one in zip(self._remaining_spans, cursors, strict=True)
        }
        read_counts = dict.fromkeys(rows, 0)
        try:
            while self._remaining_spans:
                span = self._remaining_spans[0]
                part = list(
                    islice(
                        rows[span.start],
                        min(ROWS_PER_TURN, TARGET_EVENTS - read_counts[span.start]),
                    )
                )
                read_counts[span.start] += len(part)
                yield from ((span, row) for row in part)
                self._remaining_spans.popleft()
                if read_counts[span.start] == TARGET_EVENTS:
                    if next(rows[span.start], None) is not None:
                        self._truncated.add(span.start)
                elif len(part) == ROWS_PER_TURN:
                    self._remaining_spans.append(span)
        finally:
            for cursor in cursors:
                cursor.close()
