"""The result of a simulation, with its figures computed on first use."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.cells import FOREVER_S
from rowkey.design import Design
from rowkey.hotspots import (
    CAUSES,
    CLOCK_ARRIVALS,
    MIN_ENTITY_EVENTS,
    MIN_GROWTH,
    BusiestShares,
    CauseFinding,
    DeclaredGrowth,
    DeclaredPart,
    LoadResult,
    MeasuredSkew,
    ReadCauseFinding,
    ReadLoadResult,
    Skew,
    TimeDensity,
    assign_row_codes,
    find_clock_field,
    find_declared_part,
    find_indivisible_fields,
    find_leading_part,
    find_null_rows,
    is_within_one_step,
    measure_declared_growth,
    measure_time_density,
    recognise_causes,
    recognise_read_causes,
)
from rowkey.messages import Message, pluralize
from rowkey.plan import DeclaredRead
from rowkey.regions import Boundaries, RegionGrowth, locate_key_array, simulate_growth
from rowkey.schema import MIN_VALUES_FOR_FACTS, FieldFacts
from rowkey.simulate.entity_chance import EntityChance
from rowkey.simulate.operation_map import OperationMap
from rowkey.simulate.part_peak import MIN_FACTOR, PartGrowth
from rowkey.simulate.read_cost import ReadCost
from rowkey.simulate.read_load import ReadLoad
from rowkey.simulate.read_simulator import ReadSimulator
from rowkey.simulate.replay import Replay, draw_salts, encode_keys
from rowkey.simulate.row_scale import MAX_WAVE_FACTOR, RowScale
from rowkey.simulate.scaled_replay import ScaledRun, replay_at_declared_rate
from rowkey.simulate.trial_values import TRIALS_PER_READ
from rowkey.simulate.value_groups import count_draws
from rowkey.simulate.verdict import (
    Verdict,
    allow_for_few_entities,
    compute_table_skew,
    expect_next_step,
    judge_skew,
)
from rowkey.simulate.write_peak import WritePeak, estimate_table_peak, find_write_peak
from rowkey.workload import (
    ValueGrowth,
    build_bit_generator,
    count_key_values,
    count_write_operations,
    estimate_table_rows,
)

if TYPE_CHECKING:
    from rowkey.simulate.event_source import EventSource
    from rowkey.simulate.split_report import SplitReport

MIN_RISING_SHARE = 0.5
"""Share of values not below all earlier ones from which on they are taken for running numbers."""
MIN_ENTITY_DRAWS = 100
"""Values of equal numbers of events, as many as a field stands for, from which on the bursts of its
values are a rule: a burst of one among few counts where it falls."""
PARTS_OF_TIME = 50
"""Equal parts of the time of a recording."""
MIN_BUSY_PARTS = 5
"""Equally busy ones of them that tell the peak of a table that is written far more often. Fewer do
if hardly anything comes at other times, such as between imports; else they are single events, such
as an outage that fills a log."""
_READ_FREE_RESULTS = (
    "regions",
    "skews",
    "server_shares",
    "region_shares",
    "verdict",
    "time_density",
    "_replayed_density",
    "_whole_sample",
    "write_peak",
    "recorded_peak",
    "has_untold_peak",
    "sampled_rows",
    "sampled_keys",
    "key_bytes",
    "event_bytes",
    "load_result",
    "causes",
)
"""Results of a simulation in which the declared reads have no part."""
_GROWING_RESULTS = "verdict", "write_peak", "load_result", "causes"
"""Those of them in which it has a part what makes the declared rate higher than the sample's."""


@dataclass(frozen=True)
class SimulatedRegion:
    """One region of a simulation and the writes that it took.

    Args:
        start: its first possible key; empty for the first region.
        stop: the first key after it; empty for the last region.
        server: the server it is created on.
        writes: operations on it.
    """

    start: bytes
    stop: bytes
    server: int
    writes: int


@dataclass(frozen=True)
class _WholeSample:
    """The events of a sample, those before the replayed ones too, and the rows that they make.

    Args:
        rows: a uniform sample of the events, in the order of arrival.
        keys: the row key of each.
        event_count: how many events they are a sample of.
        row_count: how many rows those have.
        density: how densely events lie in time; None if they do not arrive by the clock.
    """

    rows: pa.RecordBatch
    keys: Sequence[bytes]
    event_count: int
    row_count: int
    density: TimeDensity | None


@dataclass(frozen=True)
class Simulation:
    """The result of replaying a workload on a design: load, hot spots and costs.

    The counts are in `replay`; each figure is computed from them on first use.

    Args:
        design: the design.
        source: the events it was judged by.
        split_report: where its regions begin, and why.
        replay: the events, counted.
        seed: where randomness began.
        max_read_trials: how often each read is tried at most, with other values.
        grows: what makes the declared rate higher than that of the sample, `entities` or `rows`;
            what the design declares if None.
    """

    design: Design
    source: EventSource
    split_report: SplitReport
    replay: Replay
    seed: int
    max_read_trials: int = TRIALS_PER_READ
    grows: str | None = None

    @property
    def _grows(self) -> str | None:
        """Return what makes the declared rate higher than that of the sample, if anything says."""
        return self.grows or self.design.declaration.writes.grows

    @property
    def boundaries(self) -> Boundaries:
        """Return the boundaries of the regions."""
        return self.split_report.boundaries

    @property
    def facts(self) -> Mapping[str, FieldFacts]:
        """Return the facts of the fields."""
        return self.source.facts

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Return remarks on the boundaries and on the sample, as sentences."""
        return (
            *self.split_report.remarks,
            *_remark_few_events(self.operation_count),
            *_remark_time_order(self.source.disorder),
            *_remark_stray_times(self.time_density, self._whole_sample.rows.num_rows),
            *_remark_unknown_rate(self),
        )

    @cached_property
    def regions(self) -> tuple[SimulatedRegion, ...]:
        """Return every region with its server and its writes, in key order."""
        servers = self.replay.placements.assignments[0].tolist()
        writes = self.replay.writes.tolist()
        return tuple(
            SimulatedRegion(start, stop, server, count)
            for (start, stop), server, count in zip(
                self.boundaries.regions, servers, writes, strict=True
            )
        )

    @property
    def operation_count(self) -> int:
        """Return the number of replayed events."""
        return self.replay.operation_count

    @cached_property
    def skews(self) -> tuple[Skew, ...]:
        """Return the skew in windows of 1, 10, 60 and 600 s."""
        return tuple(window.compute_skew() for window in self.replay.windows)

    @property
    def window_count(self) -> int:
        """Return the number of windows of equal numbers of events."""
        return self.replay.equal_windows.window_count

    @cached_property
    def server_shares(self) -> BusiestShares:
        """Return the busiest server's shares in windows of equal numbers of events."""
        return self.replay.equal_windows.compute_shares(self.replay.placements)

    @cached_property
    def region_shares(self) -> BusiestShares:
        """Return the busiest region's shares in windows of equal numbers of events."""
        return self.replay.equal_windows.compute_shares()

    @cached_property
    def verdict(self) -> Verdict:
        """Return whether the design runs even, warm or hot."""
        servers = self.design.cluster.servers
        density = self._replayed_density if self.source.origin == "sample" else None
        verdict = judge_skew(
            self.skews,
            self.server_shares,
            servers,
            self.operation_count,
            self.window_count,
            0.0 if density is None else self.operation_count / density.sample_rate,
        )
        draws = self.count_draws(verdict.width_s)
        if draws is not None:
            verdict = allow_for_few_entities(verdict, *draws, servers)
        is_first_step = find_clock_field(self.design, self.facts) is not None and (
            is_within_one_step(self.design, self.facts, self.sampled_rows, self.sampled_keys)
        )
        return expect_next_step(verdict, servers) if is_first_step else verdict

    def count_draws(self, width_s: int | None) -> tuple[float, float] | None:
        """Return the events of a window as independent draws, in a sample and in its table.

        None where the sample has events of all entities, so that its skew is that of the table.

        Args:
            width_s: seconds of the windows; None for those of equal numbers of events.
        """
        if self._entity_chance is None:
            return None
        windows, density = self.window_count, self._replayed_density
        if width_s is not None and density is not None:
            windows = max(round(self.operation_count / (density.sample_rate * width_s)), 1)
        return self._entity_chance.count_draws(self.operation_count, windows)

    def estimate_table_skew(self, skew: float, width_s: int | None, places: int) -> float:
        """Return the skew of the table of a sample, which may have more entities.

        Args:
            skew: of the replayed events.
            width_s: seconds of the windows; None for those of equal numbers of events.
            places: the servers, or the regions, on which they fall.
        """
        draws = self.count_draws(width_s)
        return skew if draws is None else compute_table_skew(skew, *draws, places)

    @cached_property
    def write_shares(self) -> np.ndarray[Any, Any]:
        """Return the share of all writes that each server takes, in the table of a sample."""
        loads = self.replay.placements.sum_by_server(self.replay.writes)
        shares: np.ndarray[Any, Any] = loads / max(self.operation_count, 1)
        if self._entity_chance is None:
            return shares
        servers = len(shares)
        skew, fair = float(shares.max()) * servers, 1 / servers
        draws = self._entity_chance.count_draws(self.operation_count, 1)
        table_skew = compute_table_skew(skew, *draws, servers)
        return fair + (shares - fair) * ((table_skew - 1) / max(skew - 1, table_skew - 1, 1e-9))

    @cached_property
    def time_density(self) -> TimeDensity | None:
        """Return how densely the events lie in time; None if they do not arrive by the clock.

        Those of a recording of which half is replayed are all of it: its rate is declared.
        """
        return self._whole_sample.density

    @cached_property
    def _replayed_density(self) -> TimeDensity | None:
        """Return the same of the replayed events alone."""
        is_generated = self.source.summary is None
        count = self.operation_count
        return measure_time_density(
            self.design, self.sampled_rows, count, is_generated=is_generated
        )

    @property
    def _is_half_replayed(self) -> bool:
        """Return whether boundaries come from the first half of a sample that is known in whole."""
        source = self.source
        return source.summary is not None and bool(source.first_replayed) and source.is_whole

    @property
    def recorded_rate(self) -> float | None:
        """Return the events a second of the recording that the sample is, or is a share of.

        None where a rate is declared, of generated events, and if they do not arrive by the clock.
        """
        if self.source.origin != "sample" or self.design.writes.rate is not None:
            return None
        return None if self.time_density is None else self.time_density.rate

    @cached_property
    def write_peak(self) -> WritePeak | None:
        """Return the busiest minute of the busiest server in a recording.

        None for generated events, whose peaks are declared, if no minute differs from others, and
        if the recording does not tell.
        """
        if self.is_thin or self.time_density is None or self.has_untold_peak:
            return None
        if self._part_growth is not None and self.design.sample_share is not None:
            return self._allow_for_speedup(self._estimate_table_peak(self._part_growth))
        recorded = self.recorded_peak
        if recorded is None:
            return None
        growth = self._part_growth or self._assumed_growth
        if growth is None:
            return self._allow_for_speedup(recorded)
        likely = self._estimate_table_peak(growth)
        # What more values than those of the sample do makes a peak flatter, and none that was not
        # recorded.
        if likely is not None and likely.server_factor >= recorded.server_factor:
            return recorded
        return likely

    @cached_property
    def recorded_peak(self) -> WritePeak | None:
        """Return the busiest minute of the events of a recording, as if they were all.

        A burst may lie in the half by which regions are placed, or be cut in two by its end.
        """
        whole = self._whole_sample
        if self.source.origin != "sample" or whole.density is None:
            return None
        replay = self.replay
        if self._is_half_replayed:
            replay = Replay(replay.design, self.boundaries, whole.event_count, self.seed)
            for events in self.source.stream():
                replay.add(events)
        skews = [window.compute_skew() for window in replay.windows]
        return find_write_peak(skews, whole.density, whole.event_count, replay.placements)

    @cached_property
    def has_untold_peak(self) -> bool:
        """Return whether a recording came in too few busy times to tell the peak of the table.

        One with about as many events a second as are declared is believed.

        Source: the number of equal shares with the same sum of squares; Hill, Diversity and
        Evenness (1973).
        """
        density = self.time_density
        if density is None or density.sample_factor <= MAX_WAVE_FACTOR:
            return False
        if self.recorded_peak is None:
            return False
        places = density.place_times(self._whole_sample.rows)
        parts, _ = np.histogram(places, PARTS_OF_TIME, (0.0, 1.0))
        busy = len(places) ** 2 / int((parts * parts).sum())
        return busy < min(MIN_BUSY_PARTS, np.count_nonzero(parts) / 2)

    def _estimate_table_peak(self, growth: PartGrowth) -> WritePeak | None:
        """Return the peak of the table of which the sample has a part.

        Args:
            growth: how the table follows from it.
        """
        density, rows = self.time_density, self._whole_sample.rows
        assert density is not None
        names = find_indivisible_fields(self.design)
        replayed = "peaks", growth, *self._sample_identity
        return estimate_table_peak(
            names,
            self._list_entity_choices(names),
            locate_key_array(self.boundaries, pa.array(self._whole_sample.keys, pa.binary())),
            rows,
            density,
            growth,
            self.write_shares,
            self._find_window_shares(growth),
            self.replay.placements.regions,
            self.source.measurements.setdefault(replayed, {}),
        )

    def _list_entity_choices(self, names: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
        """Return fields of what may come by itself in time, such as a user.

        The field of which the sample has a part; any field that has many values where nothing says
        it. Events come by themselves where the sample has a part of those.

        Args:
            names: the fields of which rows with equal values lie on one server at a time.
        """
        if self._part_growth is None or self._declared_part is None:
            return [(one,) for one in self._entity_fields]
        return [self._declared_part.fields or names]

    @cached_property
    def _entity_fields(self) -> Sequence[str]:
        """Return the fields of many values, of which each has some events and none has many."""
        rows, time = self._whole_sample.rows, self.design.writes.time
        found = []
        for name in rows.schema.names:
            if time is None or name != time.name:
                groups = assign_row_codes(rows, [name])
                is_repeated = MIN_ENTITY_EVENTS * (int(groups.max()) + 1) <= len(groups)
                if is_repeated and count_draws(groups) >= MIN_ENTITY_DRAWS:
                    found.append(name)
        return found

    def _allow_for_speedup(self, peak: WritePeak | None) -> WritePeak | None:
        """Return the peak of a table whose values write more often than those of the sample."""
        if peak is None or peak.factor <= MAX_WAVE_FACTOR:
            return peak
        return peak.repeat(self._build_row_scale({}).measure_speedup())

    def _find_window_shares(self, growth: PartGrowth) -> np.ndarray[Any, Any]:
        """Return the share of a window's writes that each server of a table takes.

        Args:
            growth: how the table follows from the sample.
        """
        shares, servers = self.write_shares, self.design.cluster.servers
        busiest = min(self.verdict.skew / servers, 1.0)
        if self.verdict.level == "even":  # chance explains where the sampled entities lie
            return shares if growth.copies < MIN_FACTOR else np.full(servers, 1 / servers)
        if busiest <= shares.max():
            return shares
        # Windows are more uneven than all of them together: their busiest server changes.
        others = (1 - busiest) / max(servers - 1, 1)
        return np.array([busiest, *[others] * (servers - 1)])

    @cached_property
    def _declared_growth(self) -> DeclaredGrowth:
        """Return by which factors the table has more values of fields than its sample."""
        if self.source.origin != "sample":
            return DeclaredGrowth({})
        rows = self._whole_sample.rows
        return measure_declared_growth(self.design, rows, self.time_density, self._grows)

    @cached_property
    def _declared_part(self) -> DeclaredPart | None:
        """Return which part of the table a sample is declared to be; None if all of its values."""
        is_faster = self._grows == "rows" and self.design.sample_share is None
        if self.source.origin != "sample" or is_faster:
            return None
        return find_declared_part(
            self.design, self._whole_sample.rows, self.time_density, self._declared_growth
        )

    @cached_property
    def _part_growth(self) -> PartGrowth | None:
        """Return how the table follows from a sample; None if that is no declared part of it.

        A declared number of values alone does not say that they come at the pace of the sample.
        """
        part, whole = self._declared_part, self._whole_sample
        is_part = self._declared_growth.entity is not None or self.design.sample_share is not None
        if part is None or not is_part:
            return None
        thinning = part.share * part.copies * whole.rows.num_rows / whole.event_count
        return PartGrowth(part.copies, thinning)

    @property
    def _assumed_growth(self) -> PartGrowth | None:
        """Return how far the table is taken to outgrow a sample of a far lower rate, else None.

        Reads take such a sample for one of few values, all of whose events it has. So does the
        peak: many more values are not busy in the same minute. Values that write more often are.
        """
        density = self.time_density
        if density is None or density.sample_factor <= MAX_WAVE_FACTOR or self._grows == "rows":
            return None
        if self.design.sample_part == "events" or not self._entity_fields:
            return None
        if self._build_row_scale({}).measure_speedup() > 1:
            return None
        whole = self._whole_sample
        return PartGrowth(density.sample_factor, whole.rows.num_rows / whole.event_count)

    @cached_property
    def _entity_chance(self) -> EntityChance | None:
        """Return an estimator of the chance in the load, for a sample of some of the entities.

        None if the sample has all entities of the table.

        Values of a great share keep it unless they are entities of which more are declared, and
        rows without a value are of no entity: chance has no part in either.
        """
        part = self._declared_part
        if part is None or not part.fields or part.copies < MIN_FACTOR:
            return None
        regions = locate_key_array(self.boundaries, pa.array(self.sampled_keys, pa.binary()))
        servers = self.replay.placements.assignments[0].take(regions)
        entities = assign_row_codes(self.sampled_rows, part.fields)
        keeps_share = find_null_rows(self.sampled_rows, part.fields)
        density = self._replayed_density
        if part.fields not in self._declared_growth.diluted_fields and density is not None:
            places = density.place_times(self.sampled_rows)
            keeps_share |= ValueGrowth(entities, places).is_heavy[entities]
        entities[keeps_share] = len(entities) + np.flatnonzero(keeps_share)
        return EntityChance(entities, servers, 1 / part.copies)

    @property
    def overwrite_count(self) -> int:
        """Return how many events wrote a row that an earlier one had written."""
        if self.design.layout.has_shared_rows:
            return 0
        return self.replay.row_counter.repeat_count

    @property
    def is_overwrite_exact(self) -> bool:
        """Return whether overwrites were counted exactly, not estimated."""
        return self.replay.row_counter.is_exact

    @cached_property
    def sampled_rows(self) -> pa.RecordBatch:
        """Return a uniform sample of the events, in the order of arrival."""
        return self.replay.sampled_rows

    @cached_property
    def sampled_keys(self) -> list[bytes]:
        """Return the row key of each sampled event."""
        return encode_keys(self.replay.design, self.sampled_rows, self.replay.sampled_salts)

    @cached_property
    def key_bytes(self) -> float:
        """Return the mean bytes of a row key."""
        return sum(map(len, self.sampled_keys)) / max(len(self.sampled_keys), 1)

    @cached_property
    def event_bytes(self) -> float:
        """Return the mean bytes that an event adds to a store, uncompressed."""
        return self.design.layout.estimate_event_bytes(self.key_bytes, self.facts)

    @property
    def load_map(self) -> tuple[int, int, np.ndarray[Any, Any]] | None:
        """Return the load by time and region; None if events have no times.

        Start of the first column in seconds since 1970, seconds of a column, and operations by
        column and region. For many regions `sum_load_map` takes less memory.
        """
        return self.sum_load_map(None, len(self.boundaries))

    def sum_load_map(
        self, region_groups: Sequence[int] | None, group_count: int
    ) -> tuple[int, int, np.ndarray[Any, Any]] | None:
        """Return what `load_map` does, with groups of regions in place of the regions.

        Args:
            region_groups: the group of each region, from 0; None if each is its own.
            group_count: how many groups there are.
        """
        if not self.replay.has_times:
            return None
        groups = None if region_groups is None else np.asarray(region_groups, np.int64)
        first, counts = self.replay.load_map.sum_groups(groups, group_count)
        return first, self.replay.load_map.width_s, counts

    @property
    def server_load_map(self) -> tuple[int, int, np.ndarray[Any, Any]] | None:
        """Return the load by time and server, as `load_map` does by region."""
        region_servers = [region.server for region in self.regions]
        return self.sum_load_map(region_servers, self.design.cluster.servers)

    @property
    def write_operations(self) -> float:
        """Return the operations that one event costs a server; more than 1 if it is large."""
        return count_write_operations(self.event_bytes)

    def build_operation_map(
        self, region_groups: Sequence[int], group_count: int
    ) -> OperationMap | None:
        """Return the operations a second of writes and reads by time; None without times.

        Events of a sample are scaled to the declared rate, if there is one: it is then the mean of
        the map. Reads have their declared rates, or 1/s.

        Args:
            region_groups: the group of each region, from 0.
            group_count: how many groups there are.
        """
        load_map = self.sum_load_map(region_groups, group_count)
        if load_map is None:
            return None
        start_s, width_s, events = load_map
        rate, rate_factor = self.design.writes.rate, 1.0
        if rate is not None and self.source.origin == "sample":
            rate_factor = rate * width_s * len(events) / max(int(events.sum()), 1)
        reads = self.total_read_load
        return OperationMap(
            start_s,
            width_s,
            events,
            rate_factor * self.write_operations / width_s,
            None
            if reads is None
            else np.bincount(region_groups, reads.regions.operations, group_count),
        )

    @cached_property
    def _whole_sample(self) -> _WholeSample:
        """Return the whole sample, however much of it is replayed.

        Where boundaries come from its first half, only the second one tells how even writes are;
        reads find the rows of both, and a burst may lie in either.
        """
        source, is_shared = self.source, self.design.layout.has_shared_rows
        summary = source.summary
        if summary is None or not self._is_half_replayed:
            count = self.operation_count
            rows = count if is_shared else self.replay.row_counter.distinct_count
            density = self._replayed_density
            return _WholeSample(self.sampled_rows, self.sampled_keys, count, rows, density)
        names, design = self.sampled_rows.schema.names, self.replay.design
        events = summary.keyed_events.rows.select(names)
        keys = summary.keyed_events.keys
        if design.key is not summary.key or design.key.is_salted:
            bits = build_bit_generator("salt", self.seed)
            keys = encode_keys(design, events, draw_salts(design.key, events.num_rows, bits))
        count, repeats = source.total_count, summary.repeat_count
        if repeats is None:  # it cannot be counted, as of versions of a row
            repeats = round(count * self.overwrite_count / max(self.operation_count, 1))
        density = measure_time_density(self.design, events, count, is_generated=False)
        return _WholeSample(events, keys, count, count - repeats, density)

    @property
    def _sample_identity(self) -> tuple[object, ...]:
        """Return what tells the sampled rows from those of other replays of the same source."""
        whole = self._whole_sample
        counts = whole.event_count, self.source.total_count, whole.rows.num_rows
        return *counts, self.seed, self._is_half_replayed

    def _build_row_scale(self, measurements: dict[tuple[object, ...], Any]) -> RowScale:
        """Return the scale from replayed rows to the rows of the table in use.

        Args:
            measurements: what was measured of the same rows before, which more is added to.
        """
        design, sampled_rows = self.design, self._whole_sample.rows
        replayed, density = self._whole_sample.row_count, self._whole_sample.density
        rows = estimate_table_rows(
            design.layout, design.families, design.writes, self.source.row_counts
        )
        if rows is not None:
            growth = rows / replayed if replayed else 1.0
        else:  # it only grows: it holds at least what came in the time of the sample
            growth = 1.0 if density is None else density.sample_factor
        growth = max(growth, 1.0)
        return RowScale(
            sampled_rows,
            growth,
            density,
            measurements,
            is_bounded=rows is not None,
            value_counts=count_key_values(
                design.layout,
                design.families,
                design.writes,
                1 if density is None else density.step_ns,
            ),
            declared_counts=self._list_declared_counts(),
            pace=self._find_pace(),
            part=design.sample_part,
            part_share=design.sample_share,
            grows=self._grows,
            declared_growth=self._declared_growth,
            unique_fields=self._list_unique_fields(),
        )

    def _list_unique_fields(self) -> list[str]:
        """Return the fields of which no value comes twice: declared so, or numbered upwards."""
        facts = self.source.facts
        return [
            name
            for name, field in self.design.fields.items()
            if field.declaration.unique
            or (name in facts and (facts[name].rising_share or 0.0) >= MIN_RISING_SHARE)
        ]

    def _list_declared_counts(self) -> dict[str, int]:
        """Return how many values the table has in the fields of a sample that declare it.

        A choice does so by its list: more events are no more values of it.
        """
        counts: dict[str, int] = {}
        if self.source.origin != "sample":
            return counts
        for name, field in self.design.fields.items():
            if count := field.declaration.distinct or len(field.type.possible_values or ()):
                counts[name] = count
        return counts

    def _find_pace(self) -> tuple[str, float, float] | None:
        """Return the field whose values each write at a declared period, with it and the ttl."""
        writes = self.design.writes
        ttl_s = max(family.ttl_s for family in self.design.families.values())
        if writes.entity is None or writes.period_ms is None or ttl_s == FOREVER_S:
            return None
        return writes.entity, writes.period_ms / 1_000, ttl_s

    @cached_property
    def reads(self) -> Sequence[ReadCost]:
        """Return the cost of each declared read."""
        if not self.design.reads or not self.sampled_keys:
            return []
        simulator = self.build_read_simulator(
            self.replay.design, self.boundaries, self._whole_sample.keys
        )
        return [simulator.measure_read(read) for read in self.design.reads]

    def build_read_simulator(
        self, design: Design, boundaries: Boundaries, keys: Sequence[bytes]
    ) -> ReadSimulator:
        """Return what runs reads on the sampled rows under the key of a design.

        Args:
            design: this design, or the same one with another key.
            boundaries: where its regions begin.
            keys: the row key of each sampled event under it.
        """
        rows = self._whole_sample.rows
        measurements = self.source.measurements.setdefault(self._sample_identity, {})
        return ReadSimulator(
            design,
            boundaries,
            rows,
            keys,
            self._whole_sample.row_count,
            self.event_bytes,
            self._build_row_scale(measurements),
            self.max_read_trials,
            measurements,
        )

    @property
    def is_growth_open(self) -> bool:
        """Return whether the declared rate is higher than the sample's, and nothing says why."""
        density = self.time_density
        if self.source.origin != "sample" or density is None or self.design.sample_part != "period":
            return False
        return self.design.declaration.writes.grows is None and density.sample_factor > MIN_GROWTH

    def assume_growth(self, grows: str) -> Simulation:
        """Return the same simulation with something said to make the declared rate higher.

        Nothing is replayed again; reads are measured anew.

        Args:
            grows: `entities` for more values that write at the same pace, `rows` for the same
                values that write more often.
        """
        arguments = {one.name: getattr(self, one.name) for one in fields(Simulation)}
        other = Simulation(**{**arguments, "grows": grows})
        kept = self._get_read_free_results()
        for name in _GROWING_RESULTS:
            kept.pop(name, None)
        vars(other).update(kept)
        return other

    def _get_read_free_results(self) -> dict[str, Any]:
        """Return the results so far in which the declared reads have no part."""
        return {name: vars(self)[name] for name in _READ_FREE_RESULTS if name in vars(self)}

    def copy_with_reads(self, design: Design) -> Simulation:
        """Return the same simulation for a design that declares fewer of its reads.

        Nothing is replayed or measured again.

        Args:
            design: the design with some of its reads, in any order, under another name or not.
        """
        costs = {cost.name: cost for cost in self.reads}
        replay = copy(self.replay)
        replay.design = design
        other = replace(self, design=design, replay=replay)
        vars(other).update(
            self._get_read_free_results(), reads=[costs[read.name] for read in design.reads]
        )
        return other

    @cached_property
    def read_loads(self) -> Sequence[ReadLoad]:
        """Return where each declared read falls at its rate, without those that cannot be run."""
        return [
            ReadLoad.from_answer(cost.load, read, self.replay.placements)
            for read, cost in zip(self.design.reads, self.reads, strict=False)
            if cost.load is not None
        ]

    @cached_property
    def total_read_load(self) -> ReadLoad | None:
        """Return where all declared reads together fall at their rates; None without any."""
        return reduce(ReadLoad.add, self.read_loads) if self.read_loads else None

    @cached_property
    def load_result(self) -> LoadResult:
        """Return the measured load in which causes of hot spots are recognised."""
        verdict, replay = self.verdict, self.replay
        return LoadResult(
            replay.design,
            self.facts,
            self.boundaries,
            replay.placements,
            replay.writes,
            self.skews,
            MeasuredSkew(verdict.skew, verdict.even_skew, verdict.width_s, verdict.level == "even"),
            self.region_shares,
            self.server_shares,
            self.sampled_rows,
            self.sampled_keys,
            locate_key_array(self.boundaries, pa.array(self.sampled_keys, pa.binary())),
            replay.equal_windows.assign_windows(replay.reservoir.collect_positions()),
            self.split_report.key_range,
            self.source.estimate_demand(self.design),
        )

    @cached_property
    def causes(self) -> Sequence[CauseFinding]:
        """Return the causes of hot spots, the largest first; made-up values blame no splits."""
        causes = recognise_causes(self.load_result)
        if not self.has_invented_places:
            return causes
        return [one for one in causes if not CAUSES[one.code].concerns_regions]

    @cached_property
    def invented_fields(self) -> tuple[str, ...]:
        """Return the fields at the front of the key that decide the region by made-up values.

        Generated values stand for those of the table where a part hashes them, or has them all. In
        their own order they meet listed splits only by chance.
        """
        listed = self.design.splits.request.listed
        part = find_leading_part(self.design, self.facts)
        if self.source.origin != "generated" or not listed or part is None:
            return ()
        is_ordered = part.order.is_ascending or part.order.is_descending
        is_moving = find_clock_field(self.design, self.facts) is not None
        return () if is_moving or not is_ordered or part.images({}).points else part.fields

    @property
    def has_invented_places(self) -> bool:
        """Return whether the load is uneven by where made-up values lie among listed splits."""
        return bool(self.invented_fields) and self.verdict.level != "even"

    @cached_property
    def read_causes(self) -> Mapping[str, Sequence[ReadCauseFinding]]:
        """Return why servers have much to do for each read that can be run, by its name.

        A read that scans the table has none: each answer reads all rows, whatever it asks for.
        """
        costs = zip(self.design.reads, self.reads, strict=False)
        loads = {load.name: load for load in self.read_loads}
        return {
            read.name: []
            if cost.is_full_scan
            else recognise_read_causes(self._build_read_load_result(read, cost, loads[read.name]))
            for read, cost in costs
            if read.name in loads
        }

    def _build_read_load_result(
        self, read: DeclaredRead, cost: ReadCost, load: ReadLoad
    ) -> ReadLoadResult:
        """Return the measured load of a read as its causes are recognised in it."""
        assert cost.load is not None
        placements, writes = self.replay.placements, self.replay.writes
        region_servers = placements.assignments[0]
        asked = [len(np.unique(region_servers[one.regions])) for one in cost.load.trials]
        used = int((placements.sum_by_server(writes) > 0).sum())
        return ReadLoadResult(
            self.design,
            self.facts,
            read,
            self.sampled_rows,
            self.load_result.regions,
            region_servers,
            load.regions.operations / load.rate,
            load.servers.operations / load.rate,
            cost.regions[0],
            float(np.mean(asked)),
            used or placements.servers,
            load.servers.level == "even",
        )

    @cached_property
    def growth(self) -> RegionGrowth | None:
        """Return how regions split as the table grows; None if its size is unknown."""
        return _predict_growth(self)

    @cached_property
    def scaled_run(self) -> ScaledRun | None:
        """Return the result at the declared rate; None without a sample or a rate.

        None too where that is the rate of more entities, of which a sample has no events to repeat.
        """
        if self._entity_chance is not None:
            return None
        return replay_at_declared_rate(
            self.replay.design, self.source, self.boundaries, self.sampled_rows, self.seed
        )

    @property
    def late_count(self) -> int:
        """Return how many operations came after their window was closed, at any width."""
        return max(window.late_count for window in self.replay.windows)

    @property
    def is_thin(self) -> bool:
        """Return whether there are too few events to find causes."""
        return self.operation_count < MIN_VALUES_FOR_FACTS

    @property
    def empty_region_count(self) -> int:
        """Return how many regions got no write."""
        return int((self.replay.writes == 0).sum())

    @property
    def used_region_count(self) -> int:
        """Return how many regions of the table get writes.

        All do where it is declared to have more entities than the sample.
        """
        has_more = self._entity_chance is not None
        return len(self.regions) - (0 if has_more else self.empty_region_count)


def _remark_few_events(event_count: int) -> Iterator[str]:
    """Yield a remark if there are too few events to find causes of hot spots."""
    if 0 < event_count < MIN_VALUES_FOR_FACTS:
        yield (
            f"{pluralize(event_count, 'event')} replayed; causes of hot spots are searched "
            f"from {MIN_VALUES_FOR_FACTS} events on"
        )


def _remark_time_order(disorder: float | None) -> Iterator[str]:
    """Yield a remark if a sample was sorted because its times were in no order.

    Args:
        disorder: the share of its times below an earlier one; None if it was not sorted.
    """
    if disorder is not None:
        yield Message(
            "sample.unordered_times",
            "the times in this sample do not rise from row to row: {share:.0%} are earlier than a "
            "time before them, so it is replayed in the order of time; if rows arrive in the order "
            "of the file, set [writes] sort = false",
            share=disorder,
        )


def _remark_stray_times(density: TimeDensity | None, row_count: int) -> Iterator[str]:
    """Yield a remark if some times are so far from the others that they do not count.

    Args:
        density: how densely the events lie in time.
        row_count: sampled events.
    """
    if density is not None and density.stray_count:
        yield Message(
            "sample.stray_times",
            "{share:.2%} of the events are further from all others in time than these take "
            "together: they do not count for the time that the sample covers, which is "
            "{days:,.3g} days",
            share=density.stray_count / row_count,
            days=density.duration_s / 86_400,
        )


def _remark_unknown_rate(simulation: Simulation) -> Iterator[str]:
    """Yield a remark if a recording is too short to tell the rate that nothing declares."""
    writes, source = simulation.design.writes, simulation.source
    if source.origin != "sample" or writes.rate is not None or simulation.time_density is not None:
        return
    has_clock = writes.time is not None and writes.time.type.unit_ns is not None
    if has_clock and writes.arrival in CLOCK_ARRIVALS:
        yield Message(
            "sample.no_rate",
            "the recording is too short to tell a rate, so the writes are judged by how evenly "
            "they fall: declare [writes] rate to judge the load too",
        )


def _predict_growth(simulation: Simulation) -> RegionGrowth | None:
    """Predict how regions split until the table has the size that the file implies."""
    design, keys = simulation.design, simulation.sampled_keys
    size = simulation.source.estimate_demand(design).size
    if not size or len(keys) < 2 or not simulation.key_bytes:
        return None
    keys = _drop_old_versions(keys, max(family.versions for family in design.families.values()))
    ranked = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    ranks = np.array([ranked[key] for key in keys], np.int64)
    ordered = list(ranked)
    starts = [bisect_left(ordered, split) for split in simulation.boundaries.splits]
    return simulate_growth(
        ranks,
        max(size // len(keys), 1),
        boundaries=starts,
        servers=design.cluster.servers,
    )


def _drop_old_versions(keys: Sequence[bytes], versions: int) -> list[bytes]:
    """Return row keys in their order, each at most as often as versions are kept."""
    counts: dict[bytes, int] = {}
    kept_keys = []
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= versions:
            kept_keys.append(key)
    return kept_keys
