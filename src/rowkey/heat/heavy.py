"""Values that take much of all events, and how much of their rows one region holds."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.heat.evidence import codes_of
from rowkey.heat.leading import deciding_entities, is_of_time
from rowkey.plan import plan_read
from rowkey.schema import Equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.heat.evidence import Came, Evidence
    from rowkey.keys import Part
    from rowkey.plan import KeyRange
    from rowkey.regions import Boundaries
    from rowkey.schema import Bounds, Facts

STANDS_OUT = 2
"""Times what a value would take if all were as busy, below which it is only one of few."""
MOST_LISTED = 8
"""Heavy values that a proposal lists: it is for the few, not for half of all."""
LEAST = 0.2
"""Share of a server's fair share from which a value counts among those that met."""
NOTABLE = 1.1
"""Load over a server's fair share from which values are named, whatever the regions: less is lost
in what an even design shows."""
LOOKED_AT = 64
"""Values of the field behind a heavy one that are looked at: a region's share of its rows is then
known to 1.6 %."""
ONE_ROW = 0.9
"""Share of a value's events in one row from which the row is what is hot."""


@dataclass(frozen=True, slots=True)
class Heavy:
    """A value that is known to take much of all events.

    Args:
        name: its field.
        value: what it is.
        share: its share of the events.
        inside: the share of its rows that lie in one region.
    """

    name: str
    value: Any
    share: float
    inside: float

    @property
    def load(self) -> float:
        """The share of all events that it puts into one region."""
        return self.share * self.inside


def heavy_values(
    design: Design,
    facts: Mapping[str, Facts],
    boundaries: Boundaries,
    came: Came | None,
) -> Iterator[Heavy]:
    """The heavy values of each field that helps to decide the region, heaviest first.

    What is too much is asked of the fullest region: boundaries within a value's rows, and a spread
    that is bounded, help as far as they divide it.
    """
    servers, regions = design.cluster.servers, len(boundaries)
    for name in deciding_entities(design, facts, boundaries):
        known = facts.get(name)
        if known is None or known.distinct is None:
            continue
        if {name} == set(design.key.fields) and not design.layout.shares_rows:
            continue  # then the row is what is hot
        for value, share in known.heaviest:
            if share * known.distinct < STANDS_OUT or not matters(share, servers, regions):
                break
            keys = [] if came is None else came.keys_with(design.fields[name], value)
            held = None if value is None else design.fields[name].normal(value)
            inside = fullest_share(design, {name: Equal(held)}, facts, boundaries, keys)
            if matters(share * inside, servers, regions):
                yield Heavy(name, value, share, inside)


def fullest_share(
    design: Design,
    bounds: Bounds,
    facts: Mapping[str, Facts],
    boundaries: Boundaries,
    keys: Sequence[bytes] = (),
) -> float:
    """The share of some rows that one region takes: at least so much, at any moment.

    A boundary helps as far as it divides the rows, and a bounded spread as far as it has buckets.
    Where a time stands behind what is asked, boundaries part one moment from another, and at any
    moment not the rows.

    Args:
        design: the design.
        bounds: the values that the rows have.
        facts: what is known of the fields.
        boundaries: where its regions begin.
        keys: the keys of such rows; none if none are known.

    Returns:
        From the keys where there are some; else from what is declared of the field behind, and
        where nothing is, as if the regions shared the rows evenly. 0 where the key does not narrow
        the rows to any part of itself.

    Cost: one plan; without keys up to 64 of them.
    """
    plan = plan_read(design.key, bounds)
    if plan.is_full_scan or not plan.ranges:
        return 0.0
    ranges = plan.ranges
    behind = design.key.parts[plan.pinned : plan.pinned + 1]
    if behind and is_of_time(design, behind[0]):
        return _of_ranges(ranges, boundaries, keys)
    if keys:
        return max(Counter(map(boundaries.locate_one, keys)).values()) / len(keys)
    loads: dict[int, float] = defaultdict(float)
    asked = [bounds]
    if len(ranges) == 1:
        asked = list(_behind(design, bounds, facts, behind)) or asked
    for more in asked:
        some = ranges if more is bounds else plan_read(design.key, more).ranges
        for one in some:
            found = boundaries.between(one.start, one.stop)
            for region in found:
                loads[region] += 1 / len(found) / len(some) / len(asked)
    return max(loads.values(), default=0.0)


def _of_ranges(ranges: Sequence[KeyRange], boundaries: Boundaries, keys: Sequence[bytes]) -> float:
    """The share of the fullest region at a moment, if each range lies in one at any moment."""
    starts = [one.start for one in ranges]
    counts = Counter(bisect_right(starts, key) - 1 for key in keys) if keys else None
    loads: dict[tuple[int, bool], float] = defaultdict(float)
    for index, one in enumerate(ranges):
        found = boundaries.between(one.start, one.stop)
        place = (found[0], True) if len(found) == 1 else (index, False)
        loads[place] += 1 / len(ranges) if counts is None else counts[index] / len(keys)
    return max(loads.values())


def _behind(
    design: Design, bounds: Bounds, facts: Mapping[str, Facts], behind: Sequence[Part]
) -> Iterator[Bounds]:
    """The same bounds with values of the field behind, as workloads that are made draw them.

    None where its number is not declared, or a draw or the arrival says that they are no even lot.
    """
    names = behind[0].fields if behind else ()
    known = facts.get(names[0]) if len(names) == 1 else None
    if known is None or not known.distinct or known.seen or names[0] in design.writes.draws:
        return
    field = design.fields[names[0]]
    domain = design.domain(names[0])
    count = min(known.distinct, domain.size)
    for index in range(0, count, max(count // LOOKED_AT, 1)):
        yield {**bounds, names[0]: Equal(field.normal(domain.drawn_one(index)))}


@dataclass(frozen=True)
class Values:
    """What some fields have together in each of the events that were kept of a replay.

    Args:
        evidence: the replay.
        names: the fields.
    """

    evidence: Evidence
    names: tuple[str, ...]

    @cached_property
    def codes(self) -> np.ndarray[Any, Any]:
        """A number for each event, equal where the values are."""
        return codes_of(self.evidence.rows, self.names)

    @property
    def count(self) -> int:
        """How many different ones there are."""
        return int(self.codes.max(initial=-1)) + 1

    def show(self, code: int) -> str:
        """The values, as a person would name them."""
        return self.evidence.shown(self.names, self.codes, code)

    def first(self, code: int) -> Any:
        """The value of the first field."""
        column = self.evidence.rows.column(self.names[0])
        return column[int((self.codes == code).argmax())].as_py()

    def hot(self, least: float) -> Iterator[Hot]:
        """The busiest, though they are many, of which one region holds much; busiest first.

        Args:
            least: share of the rows of each that lie in one region, at least.
        """
        import numpy as np

        evidence, regions = self.evidence, len(self.evidence.boundaries)
        counts = np.bincount(self.codes)
        found = []
        for code in np.argsort(-counts, kind="stable")[:MOST_LISTED].tolist():
            share = float(counts[code] / len(self.codes))
            stands_out = share * self.count >= STANDS_OUT or self.count == 1
            if share < LEAST / evidence.servers or not stands_out:
                break
            is_it = self.codes == code
            held = np.bincount(evidence.regions[is_it], minlength=regions)
            region = int(np.argmax(held))
            one = Hot(code, share, region, float(held[region] / counts[code]))
            if one.inside >= least and not self._is_one_row(is_it):
                found.append(one)
        yield from sorted(found, key=lambda one: -one.load)

    def _is_one_row(self, chosen: np.ndarray[Any, Any]) -> bool:
        """Whether the events of a value write one row: then the row is what is hot."""
        import numpy as np

        keys = [self.evidence.keys[index] for index in np.flatnonzero(chosen).tolist()]
        most = max(map(keys.count, set(keys[:8])), default=0)
        return not self.evidence.design.layout.shares_rows and most >= ONE_ROW * len(keys)


@dataclass(frozen=True, slots=True)
class Hot:
    """A value that was seen to take much of all events.

    Args:
        code: which it is.
        share: its share of the events.
        region: the region that holds most of its rows.
        inside: their share of its rows.
    """

    code: int
    share: float
    region: int
    inside: float

    @property
    def load(self) -> float:
        """The share of all events that it puts into that region."""
        return self.share * self.inside


def matters(share: float, servers: int, regions: int) -> bool:
    """Whether one value is too much for a server, or for its region and half for its server."""
    is_much_of_region = share > 1.5 / max(regions, 1) and is_heavy(share, servers)
    return is_much_of_region or share * servers >= NOTABLE


def is_heavy(share: float, servers: int) -> bool:
    """Whether one value is more than half its server's fair share."""
    return share > 0.5 / servers
