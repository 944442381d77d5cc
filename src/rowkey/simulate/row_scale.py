"""How many rows of the table a sampled row stands for when a read finds it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from math import inf, isclose, prod
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.hotspots import MIN_GROWTH, SAME_RATE, DeclaredGrowth, TimeDensity, assign_row_codes
from rowkey.plan import DeclaredRead
from rowkey.schema import NANOSECONDS
from rowkey.simulate.value_groups import count_draws
from rowkey.workload import (
    Estimate,
    MissingValues,
    ValueGrowth,
    bound_missing_values,
    estimate_missing_values,
)

MIN_LONGER = 1.5
"""Lengths of the sample from which on the end of the table is another than that of the sample."""
MAX_WAVE_FACTOR = 10
"""Times the sample's rate up to which the declared rate may be that of another hour or season, so
that more values or busier ones may be the reason."""
MAX_SEEN_RETURNS = 0.02
"""Mean other rows of a value in the sample up to which it does not show whether values return."""
MIN_OWNERS = 1.5
"""Mean values of a field beside one of another from which on that one is not theirs."""
DEVIATIONS = 1.96


class RowScale:
    """How many rows of the table a sampled row stands for: in a given time, and in all.

    The rows of the values that a read asks for grow with the time that the table keeps, as far as
    these values last (`ValueGrowth`). What the declared rate has beyond that of the sample makes
    more values, not busier ones; only heavy values keep their share of all events. `[sample] of`
    and `[writes] grows` say otherwise.

    Args:
        rows: a uniform sample of the events, in the order of their arrival.
        growth: rows of the table when it has its full size, for each row of the sample.
        density: how densely rows lie in time; None if they are not written by the clock.
        measurements: what was measured of the same rows before, which more is added to.
        is_bounded: whether the table has a full size; else `growth` is what the declared rate adds
            in the time of the sample.
        value_counts: how many values each field has that tells rows apart; infinite if unknown.
        declared_counts: how many values the table has in fields that declare it.
        part: what the sample is a part of: `period`, `events` or the name of a field.
        part_share: how much of that it is; None if unknown.
        pace: the field of which each value writes at a period, with that period and the time that
            the table keeps, in seconds; None if there is none.
        grows: what makes the declared rate higher than that of the sample: `entities` or `rows`;
            None where nothing says it.
        declared_growth: how many times as many values the fields have in the table.
        unique_fields: the fields of which no value comes twice: declared so, or numbered upwards.
    """

    def __init__(
        self,
        rows: pa.RecordBatch,
        growth: float,
        density: TimeDensity | None,
        measurements: dict[tuple[object, ...], Any],
        *,
        is_bounded: bool = True,
        value_counts: Mapping[str, float] | None = None,
        declared_counts: Mapping[str, int] | None = None,
        part: str = "period",
        part_share: float | None = None,
        pace: tuple[str, float, float] | None = None,
        grows: str | None = None,
        declared_growth: DeclaredGrowth,
        unique_fields: Collection[str] = (),
    ) -> None:
        self._is_bounded = is_bounded
        self._rows = rows
        self.growth = growth
        self._density = density
        self._measurements = measurements
        self._value_counts = value_counts or {}
        self._declared_counts = declared_counts or {}
        self._part = part
        self._pace = pace
        self._part_share = part_share
        self._grows = grows
        self._declared_growth = declared_growth
        self._unique_fields = unique_fields

    def replace_growth(self, growth: float) -> RowScale:
        """Return the same scale with another growth of the table."""
        changed = copy(self)
        changed.growth = growth
        return changed

    @property
    def time_field(self) -> str | None:
        """Return the field that holds the time of an event, if rows are written by the clock."""
        return None if self._density is None else self._density.field

    @property
    def time_extremes(self) -> dict[str, tuple[int, int]]:
        """Return the time that the sample covers, by its field; a few far outliers do not count."""
        density = self._density
        return {} if density is None else {density.field: (density.first, density.last)}

    @property
    def has_later_times(self) -> bool:
        """Return whether the table keeps events of a longer time than the sample has."""
        return self._density is not None and self.growth > MIN_LONGER * self._density.sample_factor

    def compute_factors(
        self, read: DeclaredRead, names: Iterable[str], event: int, resolution_ns: int = 0
    ) -> tuple[Estimate, Estimate]:
        """Return how many rows of the table a row stands for, in a read's time and outside.

        Args:
            names: the fields in which the rows have the values that it asks for.
            event: a sampled event with these values.
            resolution_ns: the least time of which all rows lie together in the key.

        Returns:
            The factor of rows within the time that it asks for, and of others.
        """
        names = self._leave_out_time(names)
        is_heavy = not names or (self._part not in names and self._is_heavy(names, event))
        other = self._compute_factor(names, is_heavy, None)
        if not self._has_length(read):
            return other, other
        assert self._density is not None
        span = self._density.compare_span(read, resolution_ns)
        return self._compute_factor(names, is_heavy, span), other

    def measure_completeness(self, names: Iterable[str]) -> float:
        """Return how nearly the sample has all values of the table, though not all their rows.

        Args:
            names: the fields of these values.
        """
        names = self._leave_out_time(names)
        if self._part in names:
            return 0.0
        if not names or self._part == "events":
            return 1.0
        return self._measure_values(names)[1].measure_persistence()

    def count_draws(self) -> float:
        """Return how many independent rows show as well where rows lie; infinite if all do.

        In a sample of all rows of some entities, those of one lie together.
        """
        is_part = self._part_share is not None
        return min(
            (
                count_draws(self._measure_values(fields)[0])
                for fields, growth in self._declared_growth.factors.items()
                if fields
                and (growth >= MIN_GROWTH or (is_part and fields == self._declared_growth.entity))
            ),
            default=inf,
        )

    def count_paced_rows(self, read: DeclaredRead, step_ns: int | None = 0) -> float | None:
        """Return the rows of its values where each value of a field writes at a known period.

        None if the read asks for other values, or if no period is known.

        Args:
            step_ns: the steps of time of which whole ones are counted, so that a step is more than
                the read asks for, in the mean; None for all times.
        """
        pace = self._find_pace(self._leave_out_time(read.equality_fields))
        if pace is None:
            return None
        name, period_s, kept_s = pace
        if self._density is not None and self._has_length(read) and step_ns is not None:
            span_ns = (read.get_span(self._density.field) or 0) * self._density.unit_ns + step_ns
            kept_s = min(kept_s, span_ns / NANOSECONDS["s"])
        lists = [len(one.operands) for one in read.conditions if one.field == name]
        return min(lists) * min(max(kept_s / period_s, 1.0), self.bound_rows(read, step_ns))

    def _find_pace(self, names: tuple[str, ...]) -> tuple[str, float, float] | None:
        """Return the field of some values, the period at which each writes, and the time kept.

        The period is declared, or follows from how many values are, if hardly one is in the sample
        twice. In seconds.
        """
        if self._pace is not None:
            return self._pace if names == (self._pace[0],) else None
        count, density = self._count_declared_values(names), self._density
        if count is None or density is None or names[0] in self._declared_growth.listed_fields:
            return None
        if not self.has_later_times or self._count_further_rows(names) > MAX_SEEN_RETURNS:
            return None
        kept_s = density.duration_s * self.growth / density.sample_factor
        return names[0], count / density.rate, kept_s

    def _count_further_rows(self, names: tuple[str, ...]) -> float:
        """Return how many other rows of the sample have the same values as a row, mean."""
        sizes = np.bincount(self._measure_values(names)[0])
        return float(sizes @ sizes) / max(int(sizes.sum()), 1) - 1

    def measure_speedup(self) -> float:
        """Return how many times as often as in the sample each value of the key writes.

        1 where more values may be what makes the declared rate higher: the table has as many as
        declared, and of what is not declared as many as its rate takes.
        """
        names = self._leave_out_time(self._value_counts)
        if self._density is None or not names:
            return 1.0
        counts = [self._count_declared_values((name,)) for name in names]
        if None in counts:
            return 1.0
        declared = prod(count or 1 for count in counts)
        return max(self._density.sample_factor * self._count_values(names) / declared, 1.0)

    def find_missing_rows(self, read: DeclaredRead, row_count: int) -> MissingRows | None:
        """Return the rows of values that are too few and too large to be in the sample.

        Of a sample of some values of a field, of which the share is known. The events that the
        table has beyond those that such a share stands for are theirs.

        Args:
            read: the read, which asks for values of that field alone.
            row_count: rows of the table before it grows.
        """
        names = self._leave_out_time(read.equality_fields)
        share, density = self._part_share, self._density
        if share is None or density is None or names != (self._part,) or self._grows is not None:
            return None
        # Events of the table for each one that the share of its values stands for.
        excess = density.sample_factor * share
        if excess > MAX_WAVE_FACTOR:
            return None
        groups, _ = self._measure_values(names)
        sizes = np.bincount(groups) / len(groups)
        error = DEVIATIONS * float(np.sqrt(sizes @ sizes))
        shares = sizes / density.sample_factor
        if excess > 1 + error:
            missing = estimate_missing_values(share, 1 - 1 / excess, shares)
        else:
            missing = bound_missing_values(share, 1 - 1 / max(excess + error, 1), shares)
        rows = self.growth * row_count
        if self._has_length(read):
            span_s = (read.get_span(density.field) or 0) * density.unit_ns / NANOSECONDS["s"]
            rows = density.rate * span_s
        return MissingRows(missing, rows, min(self.bound_rows(read), read.limit or inf))

    def bound_rows(self, read: DeclaredRead, step_ns: int | None = 0) -> float:
        """Return how many rows with the values that a read asks for have different keys.

        A meter that writes each hour has 720 rows of a month, whatever its rate; infinite if the
        fields that the read leaves open may have any number of values.

        Args:
            step_ns: the steps of time of which whole ones are counted; None for all times.
        """
        if any(one.operator == "in" for one in read.conditions):
            return inf
        counts = {
            name: count
            for name, count in self._value_counts.items()
            if name not in read.equality_fields
        }
        density = self._density
        if density is not None and density.field in counts and self._has_length(read):
            span = read.get_span(density.field)
            if span is not None and step_ns is not None:
                steps = (span * density.unit_ns + step_ns) / density.step_ns + 1
                counts[density.field] = min(counts[density.field], steps)
        return prod(counts.values())

    def bound_returns(self, read: DeclaredRead) -> float | None:
        """Return how many rows a value has that comes once in each time as long as the sample.

        None where the sample or the design shows whether values come again.
        """
        names, density = self._leave_out_time(read.equality_fields), self._density
        if density is None or not (names and self.has_later_times) or self._has_length(read):
            return None
        if self._part != "period" or any(name in self._unique_fields for name in names):
            return None
        if self._count_declared_values(names) is not None:
            return None
        if self._count_further_rows(names) > MAX_SEEN_RETURNS:
            return None
        return min(self.growth / density.sample_factor, self.bound_rows(read))

    def describe_factor(self, read: DeclaredRead, factor: float) -> str:
        """Return why the rows that a read returns count more than once, and what was assumed.

        Args:
            factor: the mean factor of its rows.
        """
        names = self._leave_out_time(read.equality_fields)
        texts, reasons, count_text = [], self._list_reasons(read), ""
        if self._count_declared_values(names) is not None:
            count_text = f"{names[0]} has the declared {self._declared_counts[names[0]]:,} values"
        if not isclose(factor, 1, rel_tol=SAME_RATE):
            texts.append(
                f"each row that it finds in the sample stands for {_format_number(factor)} of the "
                f"table, because {' and '.join(reasons) or count_text}"
            )
        is_faster = self._density is not None and self._density.sample_factor != 1
        if count_text:
            if self._is_bounded or is_faster:
                texts.append(count_text)
        elif self._grows == "entities" and self._declared_growth.entity:
            if self._declared_growth.factors[self._declared_growth.entity] >= MIN_GROWTH:
                fields = " and ".join(self._declared_growth.entity)
                texts.append(f"more entities are taken as more values of {fields}")
        elif self._is_growth_unknown and self._density is not None and read.equality_fields:
            texts.append(
                f"the declared rate is {_format_number(self._density.sample_factor)} times that of "
                "the sample: taken as more values of the same pace; if the file has only a part of "
                "the events, or the same values come more often, declare sample.of or writes.grows"
            )
        return "; ".join(texts)

    def _leave_out_time(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return some fields, sorted, without the one that holds the time of an event."""
        return tuple(sorted(name for name in names if name != self.time_field))

    def _is_heavy(self, names: tuple[str, ...], event: int) -> bool:
        """Return whether the values of an event keep their share of all events."""
        groups, growth = self._measure_values(names)
        return bool(growth.is_heavy[groups[event]])

    def _measure_values(self, names: tuple[str, ...]) -> tuple[np.ndarray[Any, Any], ValueGrowth]:
        """Return the index of each row's group of equal values, and how rows of a value grow."""
        measurement = "values", *names
        if measurement not in self._measurements:
            groups = assign_row_codes(self._rows, names)
            places = self._place_rows()
            self._measurements[measurement] = groups, ValueGrowth(groups, places)
        found: tuple[np.ndarray[Any, Any], ValueGrowth] = self._measurements[measurement]
        return found

    def _place_rows(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return when each row came, from 0 at the begin of the sample to 1 at its end."""
        count = self._rows.num_rows
        if self._density is None:
            places: np.ndarray[Any, np.dtype[np.float64]] = (np.arange(count) + 0.5) / count
            return places
        return self._density.place_times(self._rows)

    def _compute_factor(
        self, names: tuple[str, ...], is_heavy: bool, span: float | None
    ) -> Estimate:
        """Return the factor of rows with some values.

        Args:
            names: the fields of these values.
            is_heavy: whether they keep their share of all events.
            span: the time from an event on that is meant, in lengths of the sample; None for all
                the time that the table keeps.
        """
        key = "factor", names, is_heavy, span, self.growth, self._part, self._grows
        if key not in self._measurements:
            self._measurements[key] = self._estimate_factor(names, is_heavy, span)
        factor: Estimate = self._measurements[key]
        return factor

    def _estimate_factor(
        self, names: tuple[str, ...], is_heavy: bool, span: float | None
    ) -> Estimate:
        """Return the factor that `_compute_factor` keeps."""
        rate_factor = 1.0 if self._density is None else self._density.sample_factor
        events = self.growth
        if span is not None and self._density is not None:
            events = self._density.count_events(span)
        if not names:
            return Estimate(events, events, events)
        _, growth = self._measure_values(names)
        if span is None:  # values come and go in the time that the table keeps
            stay = growth.compare_windows(max(events / rate_factor, 1.0), heavy=is_heavy)
        else:
            stay = growth.compare_spans(max(span, 1.0), heavy=is_heavy)
        # What the declared rate has beyond that of the sample: of the same values, or of others.
        busier = stay.scale(events)
        growing = [
            fields for fields in self._declared_growth.factors if self._grows_with(names, fields)
        ]
        is_kept = is_heavy and self._declared_growth.diluted_fields.isdisjoint(growing)
        if self._part == "events" or is_kept:
            return busier
        others = busier.scale(1 / rate_factor)
        if (count := self._count_declared_values(names)) is not None:
            # What the declared number of values does not take makes each of them busier.
            return others.scale(self._count_values(names) * rate_factor / stay.value / count)
        if self._grows == "rows":
            return busier
        more = prod(self._declared_growth.factors[fields] for fields in growing)
        rest = 1.0
        if not {name for fields in self._declared_growth.factors for name in fields} >= {*names}:
            rest = max(
                rate_factor / prod(self._declared_growth.factors.values()), min(rate_factor, 1.0)
            )
        likely = busier.scale(1 / (more * rest))
        if rest == 1 or self._grows == "entities" or self._is_growth_unknown:
            return likely
        return Estimate(min(likely.low, busier.low), likely.value, max(likely.high, busier.high))

    def _grows_with(self, names: tuple[str, ...], fields: tuple[str, ...]) -> bool:
        """Return whether some values become more as those of some fields do.

        A device of one user does, as his name; a country of many users does not.
        """
        if {*fields} <= {*names}:
            return True
        if self._count_values(fields) == 1:
            return False
        together = self._count_values(tuple(sorted({*names, *fields})))
        return together < MIN_OWNERS * self._count_values(names)

    def _count_values(self, names: tuple[str, ...]) -> int:
        """Return how many values in some fields the sample has."""
        measurement = "count", *names
        if measurement not in self._measurements:
            groups = assign_row_codes(self._rows, names)
            self._measurements[measurement] = int(groups.max(initial=-1)) + 1
        return int(self._measurements[measurement])

    def _count_declared_values(self, names: tuple[str, ...]) -> int | None:
        """Return how many values the table has in a field, if that is declared.

        Fewer than the sample has are no number of the table's. Of a list those of the sample count:
        the others may never come.
        """
        count = self._declared_counts.get(names[0]) if len(names) == 1 else None
        if count is None or count < (sampled := self._count_values(names)):
            return None
        return sampled if names[0] in self._declared_growth.listed_fields else count

    @property
    def _is_growth_unknown(self) -> bool:
        """Return whether nothing says why the declared rate is much higher than the sample's."""
        if self._density is None or self._grows is not None or self._part != "period":
            return False
        return self._density.sample_factor > MAX_WAVE_FACTOR

    def _has_length(self, read: DeclaredRead) -> bool:
        """Return whether the time that a read asks for has a known length."""
        if self._density is None:
            return False
        field = self._density.field
        operators = {one.operator for one in read.conditions if one.field == field}
        is_exact = bool(operators & {"=", "in"})
        has_end = bool(operators & {"<", "<=", "between"}) or read.span is not None
        return is_exact or (has_end and bool(operators & {">", ">=", "between"}))

    def _list_reasons(self, read: DeclaredRead) -> list[str]:
        """Return why a read finds more rows in the table than in the sample."""
        if not self._has_length(read) and self._is_bounded:
            return ["the table grows by its rate and ttl"]
        reasons: list[str] = []
        if self._density is None:
            return reasons
        if isclose(self._density.sample_factor, 1 / (self._part_share or 1.0), rel_tol=SAME_RATE):
            if self._part_share is not None:
                what = "events" if self._part == "events" else f"values of {self._part}"
                reasons.append(f"the sample has {100 * self._part_share:.3g} % of all {what}")
        elif self._density.sample_factor != 1:
            reasons.append(
                f"{_format_number(self._density.rate)} events a second are declared and the "
                f"sample has {_format_number(self._density.sample_rate)}"
            )
        longer = _format_number(self._density.compare_span(read))
        if longer != "1":
            reasons.append(f"the `span` of the read is {longer} times the time of the sample")
        return reasons


@dataclass(frozen=True, slots=True)
class MissingRows:
    """The rows of values that a sample lacks.

    Args:
        rows: rows of all values in the time that a read asks for.
        max_rows: rows that an answer has at most, perhaps infinite.
    """

    values: MissingValues
    rows: float
    max_rows: float

    def add_to_mean(self, mean: float) -> Estimate:
        """Return the mean rows of an answer if each value is asked for as often as it has rows.

        Args:
            mean: of the values of the sample.
        """
        likely, *others = (
            (1 - float(shares.sum())) * mean
            + float(shares @ np.minimum(1 + shares * self.rows, self.max_rows))
            for shares in (self.values.likely_shares, *self.values.other_shares)
        )
        return Estimate(min(likely, *others), likely, max(likely, *others))


def _format_number(number: float) -> str:
    """Return a number with three significant digits.

    >>> _format_number(46_080.5), _format_number(4.0)
    ('46,100', '4')
    """
    return f"{float(f'{number:.3g}'):,.10g}"
