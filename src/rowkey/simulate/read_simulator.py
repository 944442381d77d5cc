"""Runs declared reads on a sample of the rows, with values of that sample."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.errors import ReadError
from rowkey.keys import ColumnBatch
from rowkey.messages import pluralize
from rowkey.plan import (
    DeclaredRead,
    KeyRange,
    Plan,
    ReadPlanner,
    count_decoded_rows,
    count_first_rows,
)
from rowkey.regions import Boundaries, locate_key_array
from rowkey.schema import Bounds
from rowkey.simulate.answer_rows import AnswerRows, average_factor
from rowkey.simulate.ranked_rows import RankedRows, cut_spans, find_last_rows
from rowkey.simulate.read_cost import ReadCost
from rowkey.simulate.read_load import TrialLoad
from rowkey.simulate.read_trials import ReadTrial, RowOrigins, summarize_trials
from rowkey.simulate.replay import encode_keys
from rowkey.simulate.rows_by_key import RowsByKey
from rowkey.simulate.trial_values import TRIAL_CHANCES, TRIALS_PER_READ, TrialQuestion, TrialValues
from rowkey.workload import Estimate, count_read_operations

if TYPE_CHECKING:
    from rowkey.simulate.row_scale import RowScale

MAX_TOTAL_RANGES = 1_000_000
"""Ranges over all trials of the reads of a design: above, each gets fewer trials, at least one.
Derivation: 6 µs a range are 6 s."""
AGED_ROWS = 20_000
"""Rows whose places are computed for a read with an `age`: shares of regions are right to 0.01 %
where they come from few values."""
MAX_ANSWER_ROWS = 10_000
"""Rows of one answer from which more are not doubled.

Source: `scan_answer_rows` of the client's settings.
"""
GOLDEN_RATIO = 0.618_033_988_749_894_9
"""Its multiples, modulo 1, are spread over all numbers from 0 to 1, and so is each part of them."""
_TRIAL_ORDER = [37 * number % TRIALS_PER_READ for number in range(TRIALS_PER_READ)]
"""The places of trials in an order of which every beginning is spread over all of them."""


class ReadSimulator:
    """Runs declared reads on a sample of rows to measure their costs.

    The rows that values are taken from certainly exist in the table and count once; each other row
    of the sample stands for its share of the table's rows.

    Args:
        boundaries: where its regions begin.
        events: the sampled events, in the order of their arrival.
        keys: the row key of each; of events that overwrite each other the last stands.
        row_count: how many rows the table holds, before `scale`; how many events, where they share
            rows: those that overwrite each other are then counted once.
        row_bytes: the mean bytes of a row.
        scale: how many more rows the table has when it is in use; None if no more.
        max_trials: trials of each read at most.
        measurements: what was measured of the same events for other designs, which more is added
            to.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        events: pa.RecordBatch,
        keys: Sequence[bytes],
        row_count: int,
        row_bytes: float,
        scale: RowScale | None = None,
        max_trials: int = TRIALS_PER_READ,
        measurements: dict[tuple[object, ...], Any] | None = None,
    ) -> None:
        self.design = design
        self.boundaries = boundaries
        self._measurements = {} if measurements is None else measurements
        if ("ranks",) not in self._measurements:
            fields = [design.fields[name] for name in events.schema.names]
            ranked_rows = RankedRows(ColumnBatch.from_batch(events, fields))
            self._measurements["ranks",] = ranked_rows
        self._ranked_rows: RankedRows = self._measurements["ranks",]
        self.columns = self._ranked_rows.columns
        self.row_count = row_count
        self._events = events
        self._row_bytes = row_bytes
        self._scale = scale
        self._max_trials = max_trials
        self._planner = ReadPlanner(design.key)
        self._event_keys = keys
        self._rows = RowsByKey(design, events, keys)
        self._full_scans: dict[str, tuple[Plan, list[tuple[int, int]], list[range]]] = {}
        """The plans of reads that scan the whole table, which are the same for all values."""
        if design.layout.has_shared_rows:
            counts, event_count = self._rows.counts, row_count
            self.row_count = round(counts.estimate_rows(event_count))
            if scale is not None:
                grown = counts.estimate_rows(event_count * scale.growth)
                self._scale = scale.replace_growth(grown / max(self.row_count, 1))

    def measure_read(self, read: DeclaredRead) -> ReadCost:
        """Measure the cost of a read by values of the sample; of one that fails, the error."""
        remaining_ranges = MAX_TOTAL_RANGES // max(len(self.design.reads), 1)
        trials_by_place: dict[int, ReadTrial] = {}
        try:
            trial_values = self._get_trial_values(read)
            origins = self._locate_origins(read, trial_values)
            for place in _TRIAL_ORDER[: self._max_trials]:
                trials_by_place[place] = self._run_trial(
                    read,
                    trial_values.get_question(place),
                    int(origins.trials[place]),
                    float(trial_values.weights[place]),
                )
                remaining_ranges -= trials_by_place[place].fan_out
                if remaining_ranges <= 0:
                    break
        except ReadError as problem:
            return ReadCost(read.name, error=str(problem))
        assumptions = [trial_values.assumption, trial_values.age_assumption]
        trials = [trials_by_place[place] for place in sorted(trials_by_place)]
        completeness, missing = 1.0, None
        if self._scale is not None:
            if read.keys.shape == "sample":
                missing = self._scale.find_missing_rows(read, self.row_count)
            weights = [one.load.weight for one in trials]
            each = self._count_rows_for_each(1) or 1.0
            factor = average_factor([one.answer for one in trials], weights) / each
            if any(one.answer.others for one in trials):
                assumptions.append(self._scale.describe_factor(read, factor))
            completeness = self._scale.measure_completeness(read.equality_fields)
        if len(trials_by_place) < self._max_trials:
            max_fan_out = pluralize(max(one.fan_out for one in trials_by_place.values()), "range")
            assumptions.append(
                f"measured with {pluralize(len(trials_by_place), 'trial')} instead of "
                f"{self._max_trials}, because one trial reads {max_fan_out}"
            )
        cost = summarize_trials(
            read,
            trials,
            "; ".join(filter(None, assumptions)),
            origins,
            trial_values.demand,
            completeness,
            missing,
            self._row_bytes,
        )
        if self._scale is None or cost.is_get:
            return cost
        returns = self._scale.bound_returns(read)
        return cost if returns is None else cost.add_possible_returns(read, returns)

    def generate_values(self, read: DeclaredRead) -> Iterator[dict[int | str, Any]]:
        """Yield the parameter values of each trial of a read.

        Raises:
            ReadError: no row of the sample has a value in all fields that its conditions test.
        """
        trial_values = self._get_trial_values(read)
        for place in range(TRIALS_PER_READ):
            yield trial_values.choose_values(place)[0]

    def _locate_origins(self, read: DeclaredRead, trial_values: TrialValues) -> RowOrigins:
        """Return in which regions the rows lie whose values a read asks for."""
        demand, region_count = trial_values.demand, len(self.boundaries)
        effective_count = trial_values.demand.effective_count
        if self._scale is not None:
            effective_count = min(effective_count, self._scale.count_draws())
        names = [name for name in read.time_ranges if name in self.design.key.fields]
        if read.age is None or not names or self.design.key.is_salted:
            trials, regions = trial_values.row_numbers, self._row_regions[demand.rows]
            shares = np.bincount(regions, demand.weights, region_count) / demand.weights.sum()
            return RowOrigins(self._row_regions[trials], shares, effective_count, demand.rank_error)
        rows = demand.spread_rows(AGED_ROWS)
        chances = ((np.arange(AGED_ROWS) + 0.5) * GOLDEN_RATIO % 1).tolist()
        starts = {name: trial_values.find_starts(name, chances) for name in names}
        trial_starts = {name: trial_values.find_starts(name, TRIAL_CHANCES) for name in names}
        regions = self._locate_aged_rows(rows, starts)
        return RowOrigins(
            self._locate_aged_rows(trial_values.row_numbers, trial_starts),
            np.bincount(regions, minlength=region_count) / AGED_ROWS,
            effective_count,
            demand.rank_error,
        )

    def _locate_aged_rows(
        self, rows: np.ndarray[Any, Any], starts: Mapping[str, np.ndarray[Any, Any]]
    ) -> np.ndarray[Any, Any]:
        """Return the region of each row if it had other times: sampled ones, about those given.

        Args:
            rows: numbers of rows.
            starts: by field the time of each of them, as internal value.
        """
        events = self._events.take(pa.array(rows))
        for name, times in starts.items():
            near = self._events.column(name).take(pa.array(self._find_near_rows(name, times)))
            events = events.set_column(events.schema.get_field_index(name), name, near)
        return locate_key_array(self.boundaries, pa.array(encode_keys(self.design, events)))

    def _find_near_rows(self, name: str, times: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return for each time, as internal value of a field, a row at it or shortly after."""
        missing = self.columns.find_nulls(name)
        able = np.arange(len(self.columns)) if missing is None else np.flatnonzero(~missing)
        values = self.columns.take(able).find_values(name)
        order = np.argsort(values, kind="stable")
        places = np.minimum(np.searchsorted(values[order], times), len(able) - 1)
        rows: np.ndarray[Any, Any] = able[order[places]]
        return rows

    def _get_trial_values(self, read: DeclaredRead) -> TrialValues:
        """Return the values of a read's trials, which do not depend on the key.

        Raises:
            ReadError: no row of the sample has a value in all fields that its conditions test.
        """
        has_later_times = self._scale is not None and self._scale.has_later_times
        asked = (
            read.name,
            read.conditions,
            read.limit,
            read.span,
            read.keys,
            read.age,
            has_later_times,
        )
        if ("trials", asked) not in self._measurements:
            extremes = None if self._scale is None else self._scale.time_extremes
            trial_values = TrialValues(
                read, self._ranked_rows, has_later_times=has_later_times, extremes=extremes
            )
            self._measurements["trials", asked] = trial_values
        found: TrialValues = self._measurements["trials", asked]
        return found

    @property
    def _time_field(self) -> str | None:
        """Return the field that holds the time of an event, if rows are written by the clock."""
        return None if self._scale is None else self._scale.time_field

    @cached_property
    def _row_regions(self) -> np.ndarray[Any, Any]:
        """Return the region of each sampled row."""
        return locate_key_array(self.boundaries, pa.array(self._event_keys, pa.binary()))

    @cached_property
    def _region_starts(self) -> np.ndarray[Any, Any]:
        """Return the index of the first sampled key of each region, and the number of keys."""
        starts = [bisect_left(self._rows.keys, split) for split in self.boundaries.splits]
        return np.array([0, *starts, len(self._rows)], np.int64)

    def _run_trial(
        self,
        read: DeclaredRead,
        question: TrialQuestion,
        origin: int,
        weight: float,
    ) -> ReadTrial:
        """Run a read once and return its cost.

        Args:
            question: what it asks for.
            origin: the region of the row whose values it asks for.
            weight: the answers that it stands for.
        """
        bounds, event = question.bounds, question.source_events[0]
        plan, row_spans, spans = self._plan_read(read, bounds)
        matching_rows = self._rows.list_rows(question.matching_events)
        sources = self._find_source_rows(question)
        sums = self._rows.count_read(bounds)
        covered, covered_sources = _count_covered_rows(row_spans, sources, sums)
        each = self._count_rows_for_each(len(sources))

        is_row = plan.is_point and not self.design.layout.has_shared_rows  # a key is one row
        bound = inf if self._scale is None else self._scale.bound_rows(read)
        max_rows = float(plan.fan_out) if is_row else max(bound, len(matching_rows))
        paced = None if self._scale is None or is_row else self._scale.count_paced_rows(read)
        if paced is not None:
            answer = AnswerRows(paced, 0, Estimate(1.0, 1.0, 1.0), paced)
        else:
            own = _count_members(sources, matching_rows)
            factor = self._compute_factors(read, event)[0].scale(each)
            answer = AnswerRows(own, len(matching_rows) - own, factor, max_rows)

        paced_scan = self._count_paced_scan(read, plan, bounds)
        scan_factor = self._compute_scan_factor(read, plan, bounds, event)
        scanned = covered_sources + each * (covered - covered_sources) * scan_factor
        if paced_scan is not None and not is_row:
            scanned = paced_scan
        elif is_row or not plan.residual_fields:
            scanned = min(scanned, max(max_rows, covered))
        elif {*plan.residual_fields} == {self._time_field}:  # those rows, of a somewhat longer time
            scanned = min(scanned, max_rows * max(covered / max(len(matching_rows), 1), 1.0))
        scanned = max(scanned, answer.count)

        stops_early = plan.serves_order or plan.serves_backwards or not read.order
        if read.limit is not None and answer.count > read.limit and stops_early:
            spans, row_spans, scanned = self._stop_at_limit(
                plan, row_spans, matching_rows, sums, read.limit, read.limit / answer.count, scanned
            )
        load = self._measure_load(origin, weight, spans, row_spans, scanned)
        return ReadTrial.from_plan(plan, answer, scanned, load)

    def _plan_read(
        self, read: DeclaredRead, bounds: Bounds
    ) -> tuple[Plan, list[tuple[int, int]], list[range]]:
        """Return the plan of a read, and the sampled rows and the regions of each of its ranges."""
        plan = self._planner.plan(bounds, read.order)
        if plan.is_full_scan:
            return self._full_scans.setdefault(read.name, (plan, *self._find_whole_spans(plan)))
        return plan, *self._find_spans(plan)

    def _find_whole_spans(self, plan: Plan) -> tuple[list[tuple[int, int]], list[range]]:
        """Return the sampled rows and the regions of each range of a plan that reads all rows."""
        for other, row_spans, spans in self._full_scans.values():
            if (other.pinned_values, other.intervals) == (plan.pinned_values, plan.intervals):
                return row_spans, spans
        return self._find_spans(plan)

    def _find_spans(self, plan: Plan) -> tuple[list[tuple[int, int]], list[range]]:
        """Return the sampled rows and the regions of each range of a plan."""
        row_spans = [self._rows.find_span(one.start, one.stop) for one in plan.ranges]
        spans = [self.boundaries.find_regions(one.start, one.stop) for one in plan.ranges]
        return row_spans, spans

    def _find_source_rows(self, question: TrialQuestion) -> np.ndarray[Any, Any]:
        """Return the rows that the values of a trial are from, each once: they certainly exist."""
        rows = self._rows.places[question.source_events]
        return np.unique(rows) if len(rows) > 1 else rows

    def _stop_at_limit(
        self,
        plan: Plan,
        row_spans: Sequence[tuple[int, int]],
        matching_rows: np.ndarray[Any, Any],
        sums: np.ndarray[Any, Any],
        limit: int,
        share: float,
        scanned: float,
    ) -> tuple[list[range], list[tuple[int, int]], float]:
        """Return what a read with a limit reads until it has enough rows.

        Args:
            row_spans: the sampled rows of each range.
            matching_rows: those of them that are returned, ascending.
            sums: the rows that are read up to each sampled one.
            limit: rows that it returns.
            share: the same as a share of the rows that it would return without a limit.
            scanned: the rows of the table that it would read without a limit.

        Returns:
            The regions and the sampled rows of each range, and how many rows of the table are read.
        """
        row_limit = max(round(len(matching_rows) * share), 1)
        last_rows = self._find_last_rows(plan, row_spans, matching_rows, row_limit)
        spans = [
            self._find_touched_regions(one, stretch, at, is_backwards=plan.is_backwards)
            for one, stretch, at in zip(plan.ranges, row_spans, last_rows, strict=True)
        ]
        # A read of the table skips as many rows for each row as in the sample: measured with as
        # many rows as it returns, because the way to the first says little.
        found_count = min(len(matching_rows), limit)
        if found_count > row_limit and plan.residual_fields:
            found_rows = self._find_last_rows(plan, row_spans, matching_rows, found_count)
        else:
            found_count, found_rows = row_limit, last_rows
        found_spans = cut_spans(row_spans, found_rows, is_backwards=plan.is_backwards)
        scan_count = sum(int(sums[stop] - sums[start]) for start, stop in found_spans)
        heads = sum(at is not None for at in found_rows) - 1
        if self.design.layout.has_shared_rows:
            scanned = min(scanned, limit * (scan_count - heads) / found_count + heads)
            return spans, cut_spans(row_spans, last_rows, is_backwards=plan.is_backwards), scanned
        ratio = limit / found_count
        if plan.residual_fields:  # rows are decoded by groups before they are tested
            decoded = count_decoded_rows(limit, ratio * (scan_count - heads))
            held_rows = np.concatenate([np.arange(*span) for span in row_spans])
            read_count = min(round(decoded / ratio), len(held_rows))
            found_rows = self._find_last_rows(plan, row_spans, held_rows, read_count)
            found_spans = cut_spans(row_spans, found_rows, is_backwards=plan.is_backwards)
        asked = _count_asked_rows(
            limit,
            [int(sums[stop] - sums[start]) for start, stop in found_spans],
            [int(sums[stop] - sums[start]) for start, stop in row_spans],
            ratio,
            scanned,
        )
        # The sampled rows of few ranges may stand for fewer rows than the answer certainly has.
        scanned = min(scanned, max(asked, limit))
        return spans, cut_spans(row_spans, last_rows, is_backwards=plan.is_backwards), scanned

    def _find_last_rows(
        self,
        plan: Plan,
        row_spans: Sequence[tuple[int, int]],
        matching_rows: np.ndarray[Any, Any],
        row_limit: int,
    ) -> list[int | None]:
        """Return the last row that a read with a limit scans in each range; None without any."""
        last_rows = find_last_rows(plan, self._rows.keys, row_spans, matching_rows, row_limit)
        if not self.design.layout.has_shared_rows:
            return last_rows
        return [
            self._rows.extend_to_whole_row(at, is_backwards=plan.is_backwards) for at in last_rows
        ]

    def _measure_load(
        self,
        origin: int,
        weight: float,
        spans: Sequence[range],
        row_spans: Sequence[tuple[int, int]],
        read_rows: float,
    ) -> TrialLoad:
        """Return where the operations of a trial fall.

        Args:
            origin: the region of the row whose values it asks for.
            weight: the answers that it stands for.
            spans: the regions that each of its ranges touches.
            row_spans: the sampled rows that it reads in each range.
            read_rows: rows of the table that it reads, for which these stand.
        """
        regions = np.array(sorted({region for span in spans for region in span}), np.int64)
        starts, stops = np.array(row_spans, np.int64).reshape(-1, 2).T
        sums = np.concatenate([[0], np.cumsum(stops - starts)])

        def count_rows_before(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            """Return how many of the rows lie before each of some places among all rows."""
            numbers = np.searchsorted(starts, places, "right") - 1
            inside = np.minimum(places, stops[numbers]) - starts[numbers]
            return np.where(numbers >= 0, sums[numbers] + inside, 0)

        if not len(regions):
            return TrialLoad(origin, regions, np.empty(0), np.empty(0), weight)
        before, until = count_rows_before(self._region_starts[np.stack([regions, regions + 1])])
        counts = until - before
        shares = counts / max(int(counts.sum()), 1)
        row_operations = count_read_operations(0, read_rows, self._row_bytes)
        operations = count_read_operations(1, 0) + shares * row_operations
        return TrialLoad(origin, regions, operations, shares * read_rows, weight)

    def _compute_factors(
        self,
        read: DeclaredRead,
        event: int,
        residual_fields: Collection[str] = (),
        resolution_ns: int = 0,
    ) -> tuple[Estimate, Estimate]:
        """Return how many rows a sampled row stands for within the time of a read, and outside.

        Args:
            event: the event whose values it asks for.
            residual_fields: fields in which the rows may have other values than the read asks for.
            resolution_ns: the least time of which all rows lie together in the key.
        """
        if self._scale is None:
            one = Estimate(1.0, 1.0, 1.0)
            return one, one
        names = [name for name in read.equality_fields if name not in residual_fields]
        return self._scale.compute_factors(read, names, event, resolution_ns)

    def _compute_scan_factor(
        self, read: DeclaredRead, plan: Plan, bounds: Bounds, event: int
    ) -> float:
        """Return how many rows a sampled row stands for within the ranges of a plan.

        They hold the rows of the read's time if qualifiers narrow it, or if the key does, then in
        whole steps of the part that does, such as days; else those of all times.
        """
        timely, other = (
            factor.value for factor in self._compute_factors(read, event, plan.residual_fields)
        )
        step = self._find_time_step(plan, bounds)
        if step is None:
            return other
        stepped, _ = self._compute_factors(read, event, plan.residual_fields, step)
        return max(timely, min(stepped.value, other)) if step else timely

    def _count_paced_scan(self, read: DeclaredRead, plan: Plan, bounds: Bounds) -> float | None:
        """Return the rows in the ranges of a plan where each value writes at a declared period.

        None if they also hold rows of values that the read does not ask for.
        """
        names = {*read.equality_fields} - {self._time_field}
        if self._scale is None or not names.isdisjoint(plan.residual_fields):
            return None
        return self._scale.count_paced_rows(read, self._find_time_step(plan, bounds))

    def _find_time_step(self, plan: Plan, bounds: Bounds) -> int | None:
        """Return the nanoseconds of the steps of time of which a plan reads whole ones.

        0 if it reads no other times than those that a read asks for, None if it reads all times.
        """
        time = self._time_field
        if self._rows.is_narrowed_by(time, bounds):
            return 0
        steps = [
            part.resolution_ns or 0
            for part in self.design.key.parts[: plan.pinned_count + 1]
            if time in part.fields and (part.order.is_ascending or part.order.is_descending)
        ]
        return None if plan.is_full_scan else min(steps, default=None)

    def _count_rows_for_each(self, source_count: int) -> float:
        """Return how many rows of the whole table a sampled row stands for.

        Args:
            source_count: rows that the values of a trial are from; each stands for itself.
        """
        others = len(self._rows) - source_count
        return max(self.row_count - source_count, 0) / others if others else 1.0

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
            keys = self._rows.keys
            regions = self.boundaries.find_regions(keys[start], keys[stop - 1] + b"\0")
        region = self.boundaries.locate_key(self._rows.keys[last_row])
        return range(region, regions.stop) if is_backwards else range(regions.start, region + 1)


def _count_asked_rows(
    limit: int, passed: Sequence[int], held: Sequence[int], ratio: float, scanned: float
) -> float:
    """Return how many rows a merge asks of its ranges: an answer of each, then twice as many.

    Args:
        passed: the sampled rows of each range that the merge passes, or waits for at its end.
        held: the sampled rows of each range.
        ratio: rows of the table for each sampled row.
        scanned: the rows that all ranges hold.
    """
    first, total, asked = count_first_rows(limit, len(held)), sum(held), 0.0
    head = min(len(held) - 1, 1)  # the merge waits for the next row of every other range
    for taken, rows in zip(passed, held, strict=True):
        if taken:
            needed = (taken - head) * ratio + head - 0.5
            batch = answer = first
            while batch < needed and answer < MAX_ANSWER_ROWS:
                answer *= 2
                batch += answer
            asked += min(max(batch, needed), scanned * rows / total)
    # Ranges without a sampled row hold as large a share of the rows as those with a single one.
    unseen, singles = held.count(0), held.count(1)
    if unseen and all(taken for taken, rows in zip(passed, held, strict=True) if rows):
        asked += unseen * min(first, scanned * singles / total / unseen)
    return asked


def _count_covered_rows(
    row_spans: Sequence[tuple[int, int]], sources: np.ndarray[Any, Any], sums: np.ndarray[Any, Any]
) -> tuple[int, int]:
    """Return how many rows are read in some ranges, and how many of them are among some rows.

    Args:
        row_spans: the sampled rows of each range; ranges ascend and are disjoint.
        sources: the rows.
        sums: the rows that are read up to each sampled one.
    """
    if not row_spans:
        return 0, 0
    starts, stops = np.array(row_spans, np.intp).T
    # Only the last range that starts at or before a row can contain it.
    numbers = np.searchsorted(starts, sources, "right") - 1
    covered = sources[(numbers >= 0) & (sources < stops[numbers])]
    return (
        int((sums[stops] - sums[starts]).sum()),
        int((sums[covered + 1] - sums[covered]).sum()),
    )


def _count_members(rows: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> int:
    """Return how many of some distinct rows are among others, which are distinct and ascend."""
    firsts, stops = others.searchsorted(rows), others.searchsorted(rows, "right")
    return int((stops - firsts).sum())
