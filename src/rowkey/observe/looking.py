"""The rows that were written lately: a few thousand of them tell why a region is hot.

Counters say which region is, not which rows. Cells carry the time of their writing, so a scan of
the last moments gives a sample of what came.
"""

from __future__ import annotations

from collections import Counter, deque
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rowkey.engines import Ask, Span
from rowkey.errors import RowError
from rowkey.schema import SURE

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.cells import RowCells
    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.observe.counting import Interval

WANTED = 2_000
"""Events that a look is to find: a share of 5 % is then known to a tenth of itself."""
ENOUGH = WANTED // 4
"""Events that a look is content with, rather than scan once more."""
MOST = 10 * WANTED
"""Events that a look takes at most, where writes came all at once."""
TURN = 100
"""Rows of a region that are read before it is the next one's turn."""
APART_MS = 100
"""Milliseconds that clocks differ by: cells that were stamped so much later are looked at too, and
not what comes while it is read."""
SCANS = 8
"""Scans of a look at most. Each moves its beginning to where the events are: a second in which
nothing came and one of a burst look the same to a counter."""
READABLE = 0.5
"""Share of the rows that a design must be able to read before anything is said of them."""
APART = 0.15
"""Share of the counted writes that may lie in other regions than the rows: a share that a cause
names is then wrong by no more."""


@dataclass(frozen=True, slots=True)
class Look:
    """Events that were written in one interval, in the order of their writing.

    Args:
        rows: a column for each field.
        keys: the row key of each.
        strange: rows that are none of the design.
        read: rows that were read for it, by the first key of their region.
        part: share of the interval that was looked at, its end.
        cut: the first keys of regions that were not read to the end: there may be more in them.
        asked: rows that were read in all to find it, by the first key of their region.
    """

    rows: pa.RecordBatch
    keys: list[bytes]
    strange: int
    read: dict[bytes, int]
    part: float = 1.0
    cut: frozenset[bytes] = frozenset()
    asked: Mapping[bytes, int] = field(default_factory=dict)

    @property
    def is_readable(self) -> bool:
        """Whether the design reads what was found."""
        return len(self.keys) > self.strange * (1 - READABLE) / READABLE

    @property
    def is_full(self) -> bool:
        """Whether there may be more rows: those that were read come first by their keys."""
        return bool(self.cut)

    @property
    def is_enough(self) -> bool:
        """Whether it is a sample to be content with."""
        return not self.is_full and len(self.keys) + self.strange >= ENOUGH

    @property
    def worth(self) -> tuple[bool, bool, int]:
        """What is larger for the better of two looks at one interval."""
        many = len(self.keys) + self.strange
        return self.is_enough, not self.is_full and many >= SURE, many

    def by_region(self, interval: Interval) -> list[float]:
        """How many events each region of its interval has.

        Where more rows may be there than were read, they are as many for each write as elsewhere.

        Args:
            interval: the one that was looked at.
        """
        from rowkey.regions import Boundaries

        boundaries = Boundaries(region.start for region in interval.regions[1:])
        found = [0.0] * len(interval.regions)
        for key in self.keys:
            found[boundaries.locate_one(key)] += 1
        writes = [region.writes or 0 for region in interval.regions]
        is_full = [one.start in self.cut for one in interval.regions]
        told = [place for place, full in enumerate(is_full) if not full and writes[place]]
        elsewhere = sum(writes[place] for place in told)
        each = sum(found[place] for place in told) / elsewhere if elsewhere else self.part
        return [
            max(many, written * max(each, self.part)) if full else many
            for many, written, full in zip(found, writes, is_full, strict=True)
        ]


def look(store: Store, design: Design, interval: Interval, until_ms: int) -> Look:
    """A sample of the events of an interval: all of its last part that holds a few thousand.

    Args:
        store: the table.
        design: its design.
        interval: what its regions did.
        until_ms: when the interval ended, in milliseconds since 1970 by the clock that stamps
            cells.

    Cost: a scan, by time, of the regions that were written, and up to seven more where writes came
        unevenly in time. Servers look at all that is still in memory, and at those files whose
        newest cell is of the interval.
    """
    whole_ms = max(int(1_000 * interval.length_s), 1)
    length_ms = min(_length_ms(interval), whole_ms)
    least, most = 0, whole_ms + 1  # the longest that was too short, and the shortest too long
    best = found = _looked(store, design, interval, until_ms, length_ms)
    asked = Counter(found.read)
    for _ in range(SCANS - 1):
        if found.is_enough:
            break
        if found.is_full:
            most = length_ms
        else:
            least = length_ms
        length_ms = (least + most) // 2 if most <= whole_ms else min(4 * length_ms, whole_ms)
        if not least < length_ms < most:
            break
        found = _looked(store, design, interval, until_ms, length_ms)
        asked += Counter(found.read)
        best = max(best, found, key=lambda one: one.worth)
    return replace(best, asked=asked)


def _looked(
    store: Store, design: Design, interval: Interval, until_ms: int, length_ms: int
) -> Look:
    """The events of so many milliseconds at the end of an interval, as far as one scan reads."""
    import pyarrow as pa

    since_ms = until_ms - length_ms
    spans = [Span(one.start, one.stop) for one in interval.regions if one.writes]
    names = design.layout.fields.items()
    schema = pa.schema([(name, field.type.arrow()) for name, field in names])
    found: list[tuple[int, bytes, dict[str, object]]] = []
    read: dict[bytes, int] = {}
    strange = 0
    scanned = _Scanned(store, spans, (since_ms, until_ms + APART_MS))
    with closing(scanned.in_turn()) as turns:
        for span, row in turns:
            read[span.start] = read.get(span.start, 0) + 1
            events = _events(design, row)
            strange += not events
            at = max((cell.timestamp for cell in row.cells), default=since_ms)
            found += [(at, row.row, event) for event in events]
            if len(found) + strange > MOST:
                break
    # Of one millisecond nobody knows the order; that of the scan would be taken for rising keys.
    found.sort(key=lambda one: (one[0], crc32(one[1])))
    batch = pa.RecordBatch.from_pylist([event for _, _, event in found], schema)
    part = min(length_ms / (1_000 * interval.length_s), 1.0)
    return Look(batch, [key for _, key, _ in found], strange, read, part, scanned.cut)


def elsewhere(looks: Sequence[tuple[Interval, Look]]) -> str:
    """How the rows that were read lie elsewhere than the writes; an empty string if they do not.

    A delete, a refused check and a value that is written over leave no cell. Where regions count
    many of them, the rows that are there are no sample of what was written, and no cause is theirs.

    Args:
        looks: what came in some intervals, all of it counted; of all the regions are the same.
    """
    import numpy as np

    if not looks:
        return ""
    writes = np.array([[one.writes or 0 for one in each.regions] for each, _ in looks], np.float64)
    rows = np.array([found.by_region(each) for each, found in looks], np.float64)
    busy = (rows.sum(axis=1) > 0) & (writes.sum(axis=1) > 0)
    if not busy.any():
        return ""
    # Each look weighs as what was counted in it, however little of it was read.
    totals = writes[busy].sum(axis=1, keepdims=True)
    counted = writes[busy].sum(axis=0) / totals.sum()
    shares = (rows[busy] / rows[busy].sum(axis=1, keepdims=True) * totals).sum(axis=0)
    shares /= totals.sum()
    chance = 0.4 * float(np.sqrt(counted * (1 - counted) / rows[busy].sum()).sum())
    if float(np.abs(counted - shares).sum()) / 2 <= APART + 2 * chance:
        return ""
    most = int((counted - shares).argmax())
    why = "deletes, refused checks and values that are written over leave no cell"
    if any(found.is_full for _, found in looks):
        why = "more came at once than is read"
    return (
        f"region {most} counted {counted[most]:.0%} of the writes, and {shares[most]:.0%} of the "
        f"rows that were read are there: {why}"
    )


def _events(design: Design, row: RowCells) -> list[dict[str, Any]]:
    """The events of a row of which only what was written lately is there; none if it is strange."""
    with suppress(RowError):
        return design.layout.events(row.row, row.cells)
    with suppress(RowError):  # only some of its columns were written
        return [] if design.layout.shares_rows else [dict(design.key.decode(row.row))]
    return []


def _length_ms(interval: Interval) -> int:
    """Milliseconds at the end of an interval in which as many events came as are wanted.

    If they came evenly. Somewhat fewer, so that no region is full that took them all.
    """
    length_ms = max(int(1_000 * interval.length_s), 1)
    writes = interval.total("writes")
    return length_ms if writes <= WANTED else max(length_ms * WANTED * 3 // 4 // writes, 1)


class _Scanned:
    """The rows of some ranges with a cell that was written within a time.

    Args:
        store: the table.
        spans: the ranges.
        time_range: milliseconds since 1970, the end excluded.
    """

    def __init__(self, store: Store, spans: Sequence[Span], time_range: tuple[int, int]) -> None:
        self._store, self._ask = store, Ask(time_range=time_range, limit=WANTED + 1)
        self._left = deque(spans)
        self._full: set[bytes] = set()

    @property
    def cut(self) -> frozenset[bytes]:
        """Where the ranges begin that were not read to the end."""
        return frozenset(self._full | {span.start for span in self._left})

    def in_turn(self) -> Generator[tuple[Span, RowCells]]:
        """Some rows of each range, and then some more: of none only because it comes first."""
        if not self._left:
            return
        cursors = self._store.scan(list(self._left), self._ask)
        rows = {span.start: iter(one) for span, one in zip(self._left, cursors, strict=True)}
        many = dict.fromkeys(rows, 0)
        try:
            while self._left:
                span = self._left[0]
                part = list(islice(rows[span.start], min(TURN, WANTED - many[span.start])))
                many[span.start] += len(part)
                yield from ((span, row) for row in part)
                self._left.popleft()
                if many[span.start] == WANTED:
                    if next(rows[span.start], None) is not None:
                        self._full.add(span.start)
                elif len(part) == TURN:
                    self._left.append(span)
        finally:
            for cursor in cursors:
                cursor.close()
