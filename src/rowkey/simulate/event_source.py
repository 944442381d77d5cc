"""The events that a design is judged by: a recorded sample, or events generated from its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.errors import RowError, SampleError
from rowkey.hotspots import (
    RANDOM_ARRIVAL,
    build_declared_facts,
    is_in_another_order,
    measure_time_density,
)
from rowkey.keys import (
    ColumnBatch,
    Determinant,
    Field,
    FirstSeenDictionary,
    Key,
    check_key_lengths,
    encode_repeated_texts,
    sum_lengths,
)
from rowkey.messages import Message
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress
from rowkey.regions import TableDemand
from rowkey.schema import FieldFacts, RowCounts
from rowkey.workload import (
    EventBatch,
    EventStore,
    FamilySize,
    FieldProfile,
    RecordedSample,
    SampleFile,
    SampleSummary,
    SkippedRows,
    WorkloadGenerator,
    build_bit_generator,
    compute_max_events,
    estimate_table_rows,
    open_sample,
    split_events,
)

READING, REPLAYING = "reading", "replaying"
"""The phases in which a design is simulated."""


@dataclass(slots=True)
class EventSource:
    """The events by which a design is judged: recorded or generated ones.

    Args:
        origin: `sample` or `generated`.
        name: the sample's file, or an empty string.
        total_count: how many events there are.
        first_replayed: the number of the first event that is replayed.
        facts: what is known of the fields.
        skipped_rows: rows of a sample that were no events.
        assumptions: what was assumed for lack of a declaration, as sentences.
        stream: returns all events, again at each call.
        row_counts: how many rows they are; None where that was not counted.
        summary: what the sample shows; None of generated events.
        disorder: the share of a sample's times below an earlier one, if it was sorted because it
            was in no order of time; else None.
        has_all_fields: whether a sample has all fields of the design.
        is_whole: whether these are all events of the sample, of which `summary` has its rows.
    """

    origin: str
    name: str
    total_count: int
    first_replayed: int
    facts: Mapping[str, FieldFacts]
    stream: Any
    skipped_rows: SkippedRows = field(default_factory=SkippedRows)
    assumptions: list[str] = field(default_factory=list)
    row_counts: RowCounts | None = None
    summary: SampleSummary | None = None
    disorder: float | None = None
    has_all_fields: bool = False
    is_whole: bool = True
    measurements: dict[tuple[object, ...], Any] = field(default_factory=dict, repr=False)
    """What was measured of sampled events and does not depend on a key, shared by all designs."""

    @property
    def replayed_count(self) -> int:
        """Return how many events are replayed."""
        return self.total_count - self.first_replayed

    def copy_for_design(self, design: Design, *, keeps_all_fields: bool) -> EventSource:
        """Return these events of a sample, which have all fields, as they are opened for a design.

        Args:
            design: a design with the same fields, key and writes.
            keeps_all_fields: whether they keep all fields; else only those that judging needs.
        """
        assert self.summary is not None
        needed = design.collect_needed_fields()
        names = [name for name in self.summary.fields if keeps_all_fields or name in needed]
        return replace(
            self,
            first_replayed=self.total_count // 2 if design.splits.needs_sample else 0,
            stream=lambda: (events.select_fields(names) for events in self.stream()),
            assumptions=[*self.assumptions],
            has_all_fields=self.has_all_fields and len(names) == len(self.summary.fields),
            measurements={},
        )

    def estimate_demand(self, design: Design) -> TableDemand:
        """Estimate the size and load of the design's table from the events."""
        return design.estimate_demand(
            self.facts, counts=self.row_counts, family_sizes=self.measure_family_sizes(design)
        )

    def estimate_rows(self, design: Design) -> float:
        """Return how many rows the table comes to hold, at least those that are replayed.

        Of a table that only grows, what its rate adds in the time of the sample.
        """
        rows = estimate_table_rows(design.layout, design.families, design.writes, self.row_counts)
        if rows is None and self.summary is not None:
            events = self.summary.keyed_events.rows
            density = measure_time_density(design, events, self.total_count, is_generated=False)
            rows = 0.0 if density is None else self.total_count * density.sample_factor
        return max(rows or 0.0, float(self.replayed_count))

    def measure_family_sizes(self, design: Design) -> Mapping[str, FamilySize]:
        """Return the bytes that an event adds to each family of a design; empty if not measured.

        They are measured only where something tells how the table grows.
        """
        is_growth_known = design.writes.rate is not None or self.row_counts is not None
        if self.summary is None or not is_growth_known:
            return {}
        return self.summary.measure_family_sizes(design.layout, design.families, design.writes)

    def check_events(self) -> None:
        """Raise an error if there is no event.

        Raises:
            SampleError: no row of the sample has a row key.
        """
        if not self.total_count:
            raise SampleError(
                self.name,
                "no row of the sample has a valid row key",
                "row keys of 1 to 32,767 bytes",
                f"The first problem: {self.skipped_rows.first_problem}.",
            )

    def assign_codes(self, design: Design) -> Design:
        """Return the design with `code` values numbered in the order of these events.

        A key without `code` stays as it is. The numbers follow from these events alone, not from
        what the design encoded before.
        """
        if not design.key.has_coded_fields:
            return design
        coded = (part for part in design.key.parts if part.determined_by is Determinant.DICTIONARY)
        names = dict.fromkeys(name for part in coded for name in part.fields)
        dictionary = FirstSeenDictionary()
        for events in self.stream():
            for name in names:
                dictionary.assign_ids({name: _list_values(design.fields[name], events.rows)})
        return design.copy_with_dictionary(dictionary)

    def read_earlier_events(self) -> Iterator[EventBatch]:
        """Yield the events before those that are replayed."""
        yield from _slice_stream(self.stream(), 0, self.first_replayed)

    def read_replayed_events(self) -> Iterator[EventBatch]:
        """Yield the events that are replayed."""
        yield from _slice_stream(self.stream(), self.first_replayed, self.total_count)


def _list_values(field: Field, rows: pa.RecordBatch) -> list[Any]:
    """Return the distinct values of a field, in the order of their first rows."""
    array = rows.column(field.name).unique().drop_null()
    batch = pa.RecordBatch.from_arrays([array], names=[field.name])
    values = ColumnBatch.from_batch(batch, [field]).iterate_rows([field.name])
    return [field.normalize(row[field.name]) for row in values]


def _slice_stream(stream: Iterator[EventBatch], start: int, stop: int) -> Iterator[EventBatch]:
    """Yield the events from number `start` to `stop` of a stream."""
    at = 0
    for events in stream:
        low, high = max(start - at, 0), min(stop - at, len(events))
        if low < high:
            yield events.slice(low, high)
        at += len(events)
        if at >= stop:
            return


def build_generated_source(design: Design, seed: int) -> EventSource:
    """Return events that are generated from the design file alone.

    Args:
        seed: the same seed makes the same events.
    """
    workload = WorkloadGenerator(design.writes, design.collect_needed_fields(), seed, design.key)
    facts = {}
    for name, declared in design.collect_needed_fields().items():
        if declared is not design.writes.time:
            distinct = workload.count_distinct(declared)
            draw = design.writes.distributions.get(name)
            heaviest: tuple[tuple[object, float], ...] = ()
            if draw is not None:
                share = draw.compute_heaviest_share(distinct, workload.event_count)
                heaviest = ((draw.find_heaviest_value(workload.find_domain(declared)), share),)
            mean = declared.declaration.mean_bytes
            facts[name] = FieldFacts(
                distinct_count=distinct, heaviest_values=heaviest, mean_bytes=mean
            )
    facts = _add_declared_facts(design, facts)
    return EventSource(
        "generated",
        "",
        workload.event_count,
        0,
        facts,
        workload.generate_events,
        assumptions=workload.assumptions,
    )


@explain_shortage
def open_recorded_source(
    design: Design,
    recording: RecordedSample,
    *,
    second_half: bool,
    seed: int,
    keeps_all_fields: bool = False,
    progress: ReportProgress | None = None,
) -> EventSource:
    """Read and summarize a sample once, and return its events.

    All declared fields that the file has are read. Where the file lacks a field that judging does
    not need, or cannot give its values, the sample is read without it.

    Args:
        second_half: whether only the second half is replayed.
        keeps_all_fields: whether the events have all fields that are read; else only those that
            judging needs.
        progress: called with the events read so far.

    Raises:
        SampleError: the sample cannot be read, or does not have the fields that judging needs.
    """
    needed = design.collect_needed_fields()
    others_optional = {
        name: one if name in needed else replace(one, nullable=True)
        for name, one in design.fields.items()
    }
    problem: SampleError | None = None
    for fields in (design.fields, others_optional, needed):
        file = open_sample(recording, fields, design.writes.time)
        try:
            if fields is not needed:
                file = file.match_columns()
            kept_names = None if keeps_all_fields else [n for n in file.fields if n in needed]
            source = _read_source(design, file, kept_names, second_half, seed, progress)
        except SampleError as refusal:
            problem = refusal
            continue
        source.has_all_fields = fields is design.fields and (
            kept_names is None or set(kept_names) == set(file.fields)
        )
        if fields is needed and problem is not None:
            source.assumptions.append(
                Message(
                    "sample.fields_left_out",
                    "the sample is read without the fields that are only stored in cells, because "
                    "with them it cannot be read: {problem}",
                    problem=problem.mistake.problem,
                )
            )
        return source
    assert problem is not None
    raise problem


def _read_source(
    design: Design,
    file: SampleFile,
    kept_names: Sequence[str] | None,
    second_half: bool,
    seed: int,
    progress: ReportProgress | None,
) -> EventSource:
    """Read a sample file and return its events, with some of their fields or with all."""
    summary = SampleSummary(
        file.fields,
        design.key,
        design.layout,
        build_declared_facts(design),
        seed=seed,
        path=str(file.path),
        profile=_find_profile(design, file, seed),
    )
    events = _read_keyed_events(design.key, file, summary)
    if kept_names is not None:
        events = (batch.select_fields(kept_names) for batch in events)
    if progress is not None:
        events = _report_reading(events, file, progress)
    store = EventStore.from_unsorted(events) if design.writes.is_sorted else EventStore(events)
    disorder = _measure_disorder(design, summary)
    if disorder is not None:
        store = EventStore.from_unsorted(store.read_events())
    elif design.writes.arrival == RANDOM_ARRIVAL and design.writes.time is not None:
        # Without a time, as drafts declare it, the order of the file is all that is known.
        store = store.shuffle(build_bit_generator("arrival", seed))
    summary.skipped_rows, summary.refused_rows = file.skipped_rows, file.refused_rows
    summary.assumptions = file.assumptions
    return EventSource(
        "sample",
        str(file.path),
        len(store),
        len(store) // 2 if second_half else 0,
        _add_declared_facts(design, summary.measured_facts),
        store.read_events,
        skipped_rows=file.skipped_rows,
        assumptions=file.assumptions,
        row_counts=summary.row_counts if design.writes.rate is not None else None,
        summary=summary,
        disorder=disorder,
    )


def _find_profile(design: Design, file: SampleFile, seed: int) -> FieldProfile | None:
    """Return the profile that was made of the same events before; None if there is none."""
    profile = None if file.recording is None else file.recording.field_profile
    if profile is None or profile.max_batch_events > compute_max_events(design.key.min_bytes):
        return None  # its batches would be smaller here, on which estimates depend
    return profile if profile.is_equal_for(file.fields, file.time, seed) else None


def _measure_disorder(design: Design, summary: SampleSummary) -> float | None:
    """Return the share of times below an earlier one; None if the sample is in order of time."""
    facts, time = summary.measured_facts, design.writes.time
    if time is None or not is_in_another_order(design, facts):
        return None
    return 1 - (facts[time.name].rising_share or 0.0)


def _report_reading(
    events: Iterator[EventBatch], file: SampleFile, progress: ReportProgress
) -> Iterator[EventBatch]:
    """Yield events, and report how many rows of their file are read."""
    for batch in events:
        yield batch
        progress(Progress(READING, file.read_count, file.estimate_total() or 0))


def _read_keyed_events(
    key: Key, sample: SampleFile, summary: SampleSummary
) -> Iterator[EventBatch]:
    """Yield the events that have a valid row key, and record the others as skipped.

    All are added to the summary. Batches are small enough for the length of the keys.
    """
    for batch in sample.read_events():
        for events in split_events(_encode_repeated_texts(batch), key.min_bytes):
            keyed_events = events
            if not key.has_coded_fields and not _can_encode(key, events):
                keyed_events = _drop_refused_rows(key, events, sample)
            summary.add(events, keyed_events)
            if len(keyed_events):
                yield keyed_events


def _encode_repeated_texts(events: EventBatch) -> EventBatch:
    """Return events with codes for texts that often repeat, so that each is computed once."""
    arrays = [encode_repeated_texts(array) for array in events.rows.columns]
    rows = pa.RecordBatch.from_arrays(arrays, names=events.rows.schema.names)
    return EventBatch(rows, events.clock_ms, events.row_numbers)


def _can_encode(key: Key, events: EventBatch) -> bool:
    try:
        pieces = key.part_sequence.encode_parts(events.get_key_columns(key))
        check_key_lengths(sum_lengths(pieces))
    except RowError:
        return False
    return True


def _drop_refused_rows(key: Key, events: EventBatch, sample: SampleFile) -> EventBatch:
    """Return the events of a batch with a valid row key, and record the others as skipped."""
    columns = ColumnBatch.from_batch(events.rows, list(key.fields.values()))
    has_key = np.ones(len(events), np.bool_)
    assert events.row_numbers is not None, "the events are read from a sample"
    for index, row in enumerate(columns.iterate_rows(list(key.fields))):
        try:
            key.encode(row, salt=0)
        except RowError as problem:
            has_key[index] = False
            sample.note_refused_row(problem.mistake, int(events.row_numbers[index]))
    clock_ms = None if events.clock_ms is None else events.clock_ms[has_key]
    return EventBatch(events.rows.filter(pa.array(has_key)), clock_ms)


def _add_declared_facts(
    design: Design, sampled_facts: Mapping[str, FieldFacts]
) -> dict[str, FieldFacts]:
    """Return the facts from a sample, completed by declared facts of other fields."""
    facts = dict(sampled_facts)
    for name, declared in design.fields.items():
        options = declared.declaration
        if name not in facts and (options.distinct or options.mean_bytes):
            facts[name] = FieldFacts(distinct_count=options.distinct, mean_bytes=options.mean_bytes)
    return facts
