"""The costs of declared reads, measured on a sample of the rows with values of that sample."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from statistics import stdev
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.messages import pluralize
from rowkey.plan import DeclaredRead, KeyRange, Plan, ResidualFilter, plan_read
from rowkey.schema import Parameter
from rowkey.simulate.ranked_rows import RankedRows, count_scanned_rows, find_last_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.keys import ColumnBatch
    from rowkey.regions import Boundaries

    Row = Mapping[str, Any]

TRIALS_PER_READ = 100
"""Trials of each read."""
MAX_TOTAL_RANGES = 1_000_000
"""Ranges over all trials of the reads of a design: above, each gets fewer trials, at least one.
Derivation: 6 µs a range are 6 s."""
_TRIAL_ORDER = [37 * number % TRIALS_PER_READ for number in range(TRIALS_PER_READ)]
"""The places of trials in an order of which every beginning is spread over all of them."""
DEFAULT_RANGE_SHARE = 0.01
"""Share of the span of time that a range covers where no `span` was declared; said in
`assumption`."""


MARGIN_DEVIATIONS = 1.96
"""Standard errors of a mean within which the true mean lies in 95 of 100 cases."""


@dataclass(frozen=True, slots=True)
class ReadMargins:
    """How far the means of a read's cost may lie from the true means, in 95 of 100 cases.

    Args:
        fan_out: of the ranges.
        regions: of the regions.
        returned_rows: of the rows of the answer.
        read_rows: of the rows read for them.
    """

    fan_out: float = 0.0
    regions: float = 0.0
    returned_rows: float = 0.0
    read_rows: float = 0.0


@dataclass(frozen=True, slots=True)
class ReadCost:
    """The measured cost of one declared read, averaged over many trials.

    Args:
        name: its name.
        fan_out: ranges read for one answer, mean and most.
        regions: regions touched, mean and most.
        returned_rows: rows of the answer, mean.
        read_rows: rows read for them, mean.
        residual_fields: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the requested order, forwards or backwards.
        assumption: what was assumed to run it, or an empty string.
        error: why it could not be run, or an empty string.
        margins: how far the means may lie from the true ones.
    """

    name: str
    fan_out: tuple[float, int] = (0.0, 0)
    regions: tuple[float, int] = (0.0, 0)
    returned_rows: float = 0.0
    read_rows: float = 0.0
    residual_fields: tuple[str, ...] = ()
    is_full_scan: bool = False
    serves_order: bool = True
    assumption: str = ""
    error: str = ""
    margins: ReadMargins = ReadMargins()

    @property
    def amplification(self) -> float | None:
        """Return the rows read for each row returned; None if nothing was returned."""
        return self.read_rows / self.returned_rows if self.returned_rows else None


@dataclass(frozen=True, slots=True)
class _ReadTrial:
    """The cost of one trial of a read.

    Args:
        fan_out: ranges of its plan.
        residual_fields: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the requested order, forwards or backwards.
        regions: regions it touches.
        returned_rows: rows of the answer.
        read_rows: rows read for them.
    """

    fan_out: int
    residual_fields: tuple[str, ...]
    is_full_scan: bool
    serves_order: bool
    regions: int
    returned_rows: float
    read_rows: float

    @classmethod
    def from_plan(
        cls, plan: Plan, spans: Iterable[range], returned: float, read: float
    ) -> _ReadTrial:
        """Return the cost of a trial from its plan and the regions that it touches."""
        serves_order = plan.serves_order or plan.serves_backwards
        regions = len({region for span in spans for region in span})
        return cls(
            plan.fan_out,
            plan.residual_fields,
            plan.is_full_scan,
            serves_order,
            regions,
            returned,
            read,
        )


class _ListFiller:
    """Chooses values for the `in` lists of a read, such as three different hosts.

    Args:
        read: the read.
        columns: rows to take values from.
    """

    def __init__(self, read: DeclaredRead, columns: ColumnBatch) -> None:
        self._columns = columns
        self._list_parameters = {
            test.field: [one.name for one in test.operands if isinstance(one, Parameter)]
            for test in read.conditions
            if test.operator == "in"
        }
        self._equal_fields = [test.field for test in read.conditions if test.operator == "="]
        self._groups_by_field: dict[tuple[str, bool], dict[Any, dict[Any, int]]] = {}

    def fill_lists(self, values: dict[int | str, Any], row: Row, number: int) -> set[int]:
        """Fill the rest of each `in` list with values of other rows.

        They are from rows with the same values in the read's equality conditions, if there are any.

        Args:
            values: the values of the read's parameters, from one row.
            row: that row.
            number: its number.

        Returns:
            The rows that the values are from.
        """
        row_numbers = {number}
        for field, names in self._list_parameters.items():
            rows_by_value = {row[field]: number} if names else {}
            for is_alike in (True, False):
                others = self._list_other_values(field, row, is_alike=is_alike)
                lacking = len(names) - len(rows_by_value)
                new = ((value, one) for value, one in others if value not in rows_by_value)
                rows_by_value |= dict(islice(new, lacking)) if lacking > 0 else {}
            values.update(zip(names, rows_by_value, strict=False))
            row_numbers |= set(rows_by_value.values())
        return row_numbers

    def _list_other_values(
        self, field: str, row: Row, *, is_alike: bool
    ) -> Iterator[tuple[Any, int]]:
        """Yield other values of a field, those seen with the row's prefix first.

        Args:
            field: the field.
            row: the row.
            is_alike: whether of rows that agree with it alone; else of all.
        """
        equal = [name for name in self._equal_fields if name != field] if is_alike else []
        if (field, is_alike) not in self._groups_by_field:
            self._groups_by_field[field, is_alike] = self._group_values(field, equal)
        group = self._groups_by_field[field, is_alike][tuple(row[name] for name in equal)]
        seen = list(group)
        first = seen.index(row[field]) if row[field] is not None else 0
        yield from ((value, group[value]) for value in (*seen[first:], *seen[:first]))

    def _group_values(self, field: str, group_fields: Sequence[str]) -> dict[Any, dict[Any, int]]:
        """Return the values of a field and their first rows, grouped by other fields."""
        groups: dict[Any, dict[Any, int]] = {}
        for number, row in enumerate(self._columns.iterate_rows([*group_fields, field])):
            group = groups.setdefault(tuple(row[name] for name in group_fields), {})
            if row[field] is not None:
                group.setdefault(row[field], number)
        return groups


class ReadSimulator:
    """Runs declared reads on a sample of rows to measure their costs.

    The rows that values are taken from certainly exist in the table and count once; each other row
    of the sample stands for its share of the table's rows.

    Args:
        design: the design.
        boundaries: where its regions begin.
        columns: the sampled rows, in the order of their arrival.
        keys: the row key of each; of rows with one key the last stands.
        row_count: how many rows the table holds.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        columns: ColumnBatch,
        keys: Sequence[bytes],
        row_count: int,
    ) -> None:
        self.keys, last_rows = _sort_keys(keys)
        self.design = design
        self.boundaries = boundaries
        self.columns = columns
        self.row_count = row_count
        self._row_keys = keys
        self._ranked_rows = RankedRows(columns.take(last_rows))

    def measure_read(self, read: DeclaredRead) -> ReadCost:
        """Measure the cost of a read, with parameter values from the sample."""
        remaining_ranges = MAX_TOTAL_RANGES // max(len(self.design.reads), 1)
        trials_by_place: dict[int, _ReadTrial] = {}
        try:
            lists, rows = _ListFiller(read, self.columns), self._choose_rows(read)
            for place in _TRIAL_ORDER:
                number, row = rows[place]
                values, assumed = self._choose_values(read, row)
                row_numbers = lists.fill_lists(values, row, number)
                trials_by_place[place] = self._run_trial(
                    read, values, {self._row_keys[one] for one in row_numbers}
                )
                remaining_ranges -= trials_by_place[place].fan_out
                if remaining_ranges <= 0:
                    break
        except ReadError as problem:
            return ReadCost(read.name, error=str(problem))
        if len(trials_by_place) < TRIALS_PER_READ:
            max_fan_out = pluralize(max(one.fan_out for one in trials_by_place.values()), "range")
            fewer = (
                f"measured with {pluralize(len(trials_by_place), 'trial')} instead of "
                f"{TRIALS_PER_READ}, because one trial reads {max_fan_out}"
            )
            assumed = "; ".join(filter(None, (assumed, fewer)))
        return _summarize_trials(
            read, [trials_by_place[place] for place in sorted(trials_by_place)], assumed
        )

    def generate_trials(
        self, read: DeclaredRead
    ) -> Iterator[tuple[dict[int | str, Any], set[int], str]]:
        """Yield the parameter values, source rows and assumptions of each trial of a read."""
        lists = _ListFiller(read, self.columns)
        for number, row in self._choose_rows(read):
            values, assumed = self._choose_values(read, row)
            yield values, lists.fill_lists(values, row, number), assumed

    def _choose_rows(self, read: DeclaredRead) -> list[tuple[int, Row]]:
        """Choose sampled rows whose values become the parameters of the trials."""
        import numpy as np

        is_able = np.ones(len(self.columns), np.bool_)
        for test in read.conditions:
            missing = self.columns.find_nulls(test.field)
            if test.operator not in ("=", "in") and missing is not None:
                is_able &= ~missing
        able = np.flatnonzero(is_able)
        if not len(able):
            what = "no row of the sample has a value in all fields that its conditions test"
            remedy = "Give a sample with rows that this read can find."
            raise ReadError(f"read {read.name}", what, remedy=remedy)
        numbers = able[len(able) * np.arange(TRIALS_PER_READ) // TRIALS_PER_READ]
        rows = self.columns.take(numbers).iterate_rows(list(read.tested_fields))
        return list(zip(numbers.tolist(), rows, strict=True))

    def _choose_values(self, read: DeclaredRead, row: Row) -> tuple[dict[int | str, Any], str]:
        """Return the parameter values of a read, taken from a sampled row."""
        values: dict[int | str, Any] = {}
        assumption = ""
        for condition in read.conditions:
            for place, operand in enumerate(condition.operands):
                if not isinstance(operand, Parameter):
                    continue
                value: Any = row.get(condition.field)
                if condition.operator == "starts":
                    value = value[:2]
                elif condition.operator in ("<", "<=") or (
                    condition.operator == "between" and place == 1
                ):
                    value, assumption = self._choose_range_end(read, condition.field, value)
                values[operand.name] = value
        return values, assumption

    def _choose_range_end(self, read: DeclaredRead, name: str, value: Any) -> tuple[Any, str]:
        """Return the end of a range that starts at a value, and what is assumed for it."""
        kind = read.fields[name].type
        start = kind.to_internal(value)
        if not kind.has_integer_form:
            assumption = f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its values"
            return kind.from_internal(
                self._ranked_rows.find_value_beyond(name, start, DEFAULT_RANGE_SHARE)
            ), assumption
        if read.span is not None and kind.unit_ns is not None:
            length = max(read.span.nanoseconds // kind.unit_ns, 1)
            return kind.from_internal(min(start + length, kind.number_range[1])), ""
        least, greatest = self._ranked_rows.find_extremes(name)
        length = max(int((greatest - least) * DEFAULT_RANGE_SHARE), 1)
        assumption = (
            f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its span; declare `span` "
            "to change that"
        )
        return kind.from_internal(min(start + length, kind.number_range[1])), assumption

    def _run_trial(
        self, read: DeclaredRead, values: Mapping[int | str, Any], own_keys: Collection[bytes]
    ) -> _ReadTrial:
        """Run a read once and return its cost."""
        import numpy as np

        bounds = read.build_bounds(values)
        plan = plan_read(self.design.key, bounds, read.order)
        row_spans = [
            (bisect_left(self.keys, one.start), self._find_stop(one.stop)) for one in plan.ranges
        ]
        starts, stops = np.array(row_spans, np.intp).reshape(-1, 2).T
        is_matching = self._find_fitting_rows(
            row_spans, ResidualFilter(plan.residual_fields, bounds, read.fields)
        )
        places = np.array([bisect_left(self.keys, key) for key in own_keys], np.intp)
        # Ranges ascend and are disjoint: only the last one that starts at or before a row can
        # contain it.
        range_numbers = np.searchsorted(starts, places, "right") - 1
        covered_places = (
            places[(range_numbers >= 0) & (places < stops[range_numbers])]
            if len(starts)
            else places[:0]
        )
        matching = int(np.count_nonzero(is_matching))
        scanned = self._scale_rows(
            int((stops - starts).sum()), len(covered_places), len(places), plan
        )
        returned = self._scale_rows(
            matching, int(is_matching[covered_places].sum()), len(places), plan
        )
        spans = [self.boundaries.find_regions(one.start, one.stop) for one in plan.ranges]
        if read.limit is None or returned <= read.limit:
            return _ReadTrial.from_plan(plan, spans, returned, scanned)
        limit = float(read.limit)
        if plan.serves_order or plan.serves_backwards or not read.order:
            row_limit = max(round(matching * limit / returned), 1)
            last_rows = find_last_rows(plan, self.keys, row_spans, is_matching, row_limit)
            scan_count = count_scanned_rows(row_spans, last_rows, is_backwards=plan.is_backwards)
            heads = sum(at is not None for at in last_rows) - 1
            # A read of the whole table skips as many rows for each returned row as in the sample.
            scanned = min(scanned, limit * (scan_count - heads) / row_limit + heads)
            spans = [
                self._find_touched_regions(one, stretch, at, is_backwards=plan.is_backwards)
                for one, stretch, at in zip(plan.ranges, row_spans, last_rows, strict=True)
            ]
        return _ReadTrial.from_plan(plan, spans, limit, scanned)

    def _find_fitting_rows(
        self, spans: Sequence[tuple[int, int]], residual: ResidualFilter
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which rows lie in some spans and meet all conditions of a residual filter."""
        import numpy as np

        is_fitting = np.zeros(len(self.keys), np.bool_)
        if 2 * sum(stop - start for start, stop in spans) < len(is_fitting):
            rows = np.concatenate([np.arange(*span) for span in spans] or [np.empty(0, np.intp)])
            is_fitting[rows] = self._ranked_rows.build_mask(residual, rows)
            return is_fitting
        for start, stop in spans:
            is_fitting[start:stop] = True
        is_fitting &= self._ranked_rows.build_mask(residual)
        return is_fitting

    def _scale_rows(
        self, sampled_count: int, own_count: int, source_count: int, plan: Plan
    ) -> float:
        """Return the number of rows of the whole table that a number of sampled rows stands for.

        Args:
            sampled_count: rows of the sample.
            own_count: how many of them the values are from.
            source_count: rows that the values are from.
            plan: how they are read; a range of one key holds one row.
        """
        others = len(self.keys) - source_count
        each = max(self.row_count - source_count, 0) / others if others else 1.0
        rows = own_count + (sampled_count - own_count) * each
        return min(rows, float(plan.fan_out)) if plan.is_point else rows

    def _find_touched_regions(
        self,
        key_range: KeyRange,
        row_span: tuple[int, int],
        last_row: int | None,
        *,
        is_backwards: bool,
    ) -> range:
        """Return the regions that a range touches up to its last scanned row.

        Boundaries from the first half of a sample may leave regions without replayed rows; a range
        then begins at its first row.
        """
        regions = self.boundaries.find_regions(key_range.start, key_range.stop)
        if last_row is None:
            return regions
        if self.design.splits.needs_sample:
            start, stop = row_span
            regions = self.boundaries.find_regions(self.keys[start], self.keys[stop - 1] + b"\0")
        region = self.boundaries.locate_key(self.keys[last_row])
        return range(region, regions.stop) if is_backwards else range(regions.start, region + 1)

    def _find_stop(self, stop: bytes) -> int:
        """Return the index of the first sampled key at or after a stop key."""
        return bisect_left(self.keys, stop) if stop else len(self.keys)


def _sort_keys(keys: Sequence[bytes]) -> tuple[list[bytes], np.ndarray[Any, Any]]:
    """Return the distinct keys, ascending, and the last row of each."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array(keys, pa.binary())
    order = pc.array_sort_indices(array)
    ordered = array.take(order)
    is_last = np.ones(len(keys), np.bool_)
    is_last[:-1] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(is_last)
    return ordered.take(pa.array(places)).to_pylist(), order.to_numpy()[places].astype(np.intp)


def _summarize_trials(
    read: DeclaredRead, trials: Sequence[_ReadTrial], assumption: str
) -> ReadCost:
    """Return the cost of a read, averaged over its trials."""
    count = len(trials)
    fans = [one.fan_out for one in trials]
    regions = [one.regions for one in trials]
    return ReadCost(
        read.name,
        (sum(fans) / count, max(fans)),
        (sum(regions) / count, max(regions)),
        sum(one.returned_rows for one in trials) / count,
        sum(one.read_rows for one in trials) / count,
        trials[0].residual_fields,
        any(one.is_full_scan for one in trials),
        all(one.serves_order for one in trials),
        assumption,
        margins=ReadMargins(
            _compute_margin(fans),
            _compute_margin(regions),
            _compute_margin([one.returned_rows for one in trials]),
            _compute_margin([one.read_rows for one in trials]),
        ),
    )


def _compute_margin(values: Sequence[float]) -> float:
    """Return how far the mean of trials may lie from the true mean; 0 for a single trial.

    >>> _compute_margin([5.0, 5.0]), round(_compute_margin([0.0, 2.0] * 50), 3)
    (0.0, 0.197)
    """
    return MARGIN_DEVIATIONS * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
