"""Heavy values: those that take a large share of all events, and how regions divide their rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots.leading_parts import find_deciding_entities, is_time_only
from rowkey.hotspots.load_result import LoadResult, assign_row_codes
from rowkey.keys import Part
from rowkey.plan import KeyRange, plan_read
from rowkey.proposals import MAX_HEAVY_VALUES, is_heavy
from rowkey.regions import Boundaries, locate_key_array
from rowkey.schema import Bounds, Equal, FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents

MIN_HEAVY_RATIO = 2
"""Share of a value, as a multiple of the mean share, from which it is heavy."""
MIN_HOT_FAIR_SHARE = 0.2
"""Share of a server's fair share from which a value counts as busy."""
MIN_NOTABLE_LOAD = 1.1
"""Load over a server's fair share from which values are reported: less may be chance."""
MAX_TRIED_VALUES = 64
"""Values of the next field that are tried for a heavy one; they give a region's share to 1.6 %."""
MIN_ONE_ROW_SHARE = 0.9
"""Share of a value's events in one row from which the row is hot, not the value."""


@dataclass(frozen=True, slots=True)
class HeavyValue:
    """A value known to take a large share of all events.

    Args:
        name: its field.
        value: the value itself.
        share: its share of the events.
        region_share: the share of its rows that lie in one region.
    """

    name: str
    value: Any
    share: float
    region_share: float

    @property
    def load(self) -> float:
        """Return the share of all events that the value puts into one region."""
        return self.share * self.region_share


def find_heavy_values(
    design: Design,
    facts: Mapping[str, FieldFacts],
    boundaries: Boundaries,
    keyed_events: KeyedEvents | None,
) -> Iterator[HeavyValue]:
    """Yield the heavy values of each field that helps to decide the region, heaviest first.

    A value is too heavy if its fullest region is: boundaries within its rows, and buckets, help as
    far as they divide the rows.
    """
    servers, regions = design.cluster.servers, len(boundaries)
    for name in find_deciding_entities(design, facts, boundaries):
        field_facts = facts.get(name)
        if field_facts is None or field_facts.distinct_count is None:
            continue
        if {name} == set(design.key.fields) and not design.layout.has_shared_rows:
            continue  # then the row is what is hot
        for value, share in field_facts.heaviest_values:
            if share * field_facts.distinct_count < MIN_HEAVY_RATIO or not is_overload(
                share, servers, regions
            ):
                break
            keys = (
                [] if keyed_events is None else keyed_events.find_keys(design.fields[name], value)
            )
            normal_value = None if value is None else design.fields[name].normalize(value)
            inside = estimate_fullest_share(
                design, {name: Equal(normal_value)}, facts, boundaries, keys
            )
            if is_overload(share * inside, servers, regions):
                yield HeavyValue(name, value, share, inside)


def estimate_fullest_share(
    design: Design,
    bounds: Bounds,
    facts: Mapping[str, FieldFacts],
    boundaries: Boundaries,
    keys: Sequence[bytes] = (),
) -> float:
    """Estimate the least share of some rows that one region must take at a moment.

    A boundary helps as far as it divides the rows, and buckets as far as there are enough of them.
    Where a time follows the bounded parts, boundaries separate moments, not the rows of one moment.

    Args:
        design: the design.
        bounds: the values that the rows have.
        facts: the facts of its fields.
        boundaries: where its regions begin.
        keys: the keys of such rows; none if none are known.

    Returns:
        The share by the keys if there are any, else by the declared values of the next field, else
        as if the regions shared the rows evenly. 0 if the bounds do not narrow the key at all.

    Cost: one plan; without keys up to 64 of them.
    """
    plan = plan_read(design.key, bounds)
    if plan.is_full_scan or not plan.ranges:
        return 0.0
    ranges = plan.ranges
    next_parts = design.key.parts[plan.pinned_count : plan.pinned_count + 1]
    if next_parts and is_time_only(design, next_parts[0]):
        return _estimate_ranges_share(ranges, boundaries, keys)
    if keys:
        regions = locate_key_array(boundaries, pa.array(keys, pa.binary()))
        return int(np.bincount(regions).max()) / len(keys)
    loads: dict[int, float] = defaultdict(float)
    cases = [bounds]
    if len(ranges) == 1:
        cases = list(_extend_bounds(design, bounds, facts, next_parts)) or cases
    for case in cases:
        case_ranges = ranges if case is bounds else plan_read(design.key, case).ranges
        for one in case_ranges:
            case_regions = boundaries.find_regions(one.start, one.stop)
            for region in case_regions:
                loads[region] += 1 / len(case_regions) / len(case_ranges) / len(cases)
    return max(loads.values(), default=0.0)


def _estimate_ranges_share(
    ranges: Sequence[KeyRange], boundaries: Boundaries, keys: Sequence[bytes]
) -> float:
    """Return the share of the fullest region, if each key range lies in one region."""
    starts = [one.start for one in ranges]
    counts = Counter(bisect_right(starts, key) - 1 for key in keys) if keys else None
    loads: dict[tuple[int, bool], float] = defaultdict(float)
    for index, one in enumerate(ranges):
        found = boundaries.find_regions(one.start, one.stop)
        place = (found[0], True) if len(found) == 1 else (index, False)
        loads[place] += 1 / len(ranges) if counts is None else counts[index] / len(keys)
    return max(loads.values())


def _extend_bounds(
    design: Design, bounds: Bounds, facts: Mapping[str, FieldFacts], next_parts: Sequence[Part]
) -> Iterator[Bounds]:
    """Yield bounds extended by each value of the next key field, as generated events have it.

    Nothing if their number is not declared, or a distribution or the arrival makes them uneven.
    """
    names = next_parts[0].fields if next_parts else ()
    field_facts = facts.get(names[0]) if len(names) == 1 else None
    if (
        field_facts is None
        or not field_facts.distinct_count
        or field_facts.value_count
        or names[0] in design.writes.distributions
    ):
        return
    field = design.fields[names[0]]
    domain = design.find_domain(names[0])
    count = min(field_facts.distinct_count, domain.size)
    for index in range(0, count, max(count // MAX_TRIED_VALUES, 1)):
        yield {**bounds, names[0]: Equal(field.normalize(domain.draw_value(index)))}


@dataclass(frozen=True)
class FieldValues:
    """The values of some fields, taken together, in each sampled event of a replay.

    Args:
        result: the replay.
        names: the fields.
    """

    result: LoadResult
    names: tuple[str, ...]

    @cached_property
    def codes(self) -> np.ndarray[Any, Any]:
        """Return an integer for each event; events with equal values have equal integers."""
        return assign_row_codes(self.result.rows, self.names)

    @property
    def value_count(self) -> int:
        """Return how many different combinations of values there are."""
        return int(self.codes.max(initial=-1)) + 1

    def format_value(self, code: int) -> str:
        """Return the field values of an integer code as a message shows them."""
        return self.result.format_values(self.names, self.codes, code)

    def get_first_value(self, code: int) -> Any:
        """Return the value of the first field of an integer code."""
        column = self.result.rows.column(self.names[0])
        return column[int((self.codes == code).argmax())].as_py()

    def find_hot_values(self, min_region_share: float) -> Iterator[HotValue]:
        """Yield the values with a large share of events, mostly in one region, busiest first.

        Args:
            min_region_share: share of the rows of each that lie in one region, at least.
        """
        evidence, regions = self.result, len(self.result.boundaries)
        counts = np.bincount(self.codes)
        hot_values = []
        for code in np.argsort(-counts, kind="stable")[:MAX_HEAVY_VALUES].tolist():
            share = float(counts[code] / len(self.codes))
            stands_out = share * self.value_count >= MIN_HEAVY_RATIO or self.value_count == 1
            if share < MIN_HOT_FAIR_SHARE / evidence.servers or not stands_out:
                break
            is_it = self.codes == code
            region_counts = np.bincount(evidence.regions[is_it], minlength=regions)
            region = int(np.argmax(region_counts))
            one = HotValue(code, share, region, float(region_counts[region] / counts[code]))
            if one.region_share >= min_region_share and not self._is_one_row(is_it):
                hot_values.append(one)
        yield from sorted(hot_values, key=lambda one: -one.load)

    def _is_one_row(self, is_chosen: np.ndarray[Any, Any]) -> bool:
        """Return whether the chosen events all write one row, so that the row is hot."""
        keys = [self.result.keys[index] for index in np.flatnonzero(is_chosen).tolist()]
        most = max(map(keys.count, set(keys[:8])), default=0)
        return not self.result.design.layout.has_shared_rows and most >= MIN_ONE_ROW_SHARE * len(
            keys
        )


@dataclass(frozen=True, slots=True)
class HotValue:
    """A value that took a large share of the sampled events.

    Args:
        code: the integer code of the value, as in `codes`.
        share: its share of the events.
        region: the region that holds most of its rows.
        region_share: their share of its rows.
    """

    code: int
    share: float
    region: int
    region_share: float

    @property
    def load(self) -> float:
        """Return the share of all events that the value put into its region."""
        return self.share * self.region_share


def is_overload(share: float, servers: int, regions: int) -> bool:
    """Return whether one value overloads its server, or its region and half its server."""
    is_much_of_region = share > 1.5 / max(regions, 1) and is_heavy(share, servers)
    return is_much_of_region or share * servers >= MIN_NOTABLE_LOAD
