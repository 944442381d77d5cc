"""Generates events from the design file alone: how many, when, and with which values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.messages import Message
from rowkey.workload.contract import Distribution, build_rng, scatter_ranks
from rowkey.workload.distributions import DISTRIBUTIONS
from rowkey.workload.event_batch import EventBatch, split_events
from rowkey.workload.write_pattern import DEFAULT_EVENTS_PER_S, WritePattern

if TYPE_CHECKING:
    from rowkey.keys import Domain, Field, Key

ENOUGH_EVENTS = 1 << 26
"""Events after which a workload ends whose duration is not declared. Derivation: 5 s at 75 ns."""
SHORTEST_DURATION_MS = 10_000
"""The shortest duration that is not declared: a window of the width that verdicts are from."""
BLOCK_EVENTS = 1 << 17
"""Events made at a time: few enough for the cache, enough that Python's share is small.
With another number a seed would give other events."""
START_MS = 1_704_067_200_000
"""2024-01-01T00:00:00Z: generated events begin on a full day."""
MAX_GENERATED_VALUES = 2_000_000_000
"""Values made for all events together, as many as are taken from a list in the same time.

Derivation: with 20 to 60 ns each, a design is judged in two minutes or less."""
UNLISTED_NUMBER_COST = 3
"""Values taken from a list in the time of a number that is not listed, and is hashed for itself."""
UNLISTED_TEXT_COST = 10
"""The same of any other value that is not listed."""
MAX_SORTED_EVENTS = 1 << 22
"""Events that are sorted by their row keys at once: about 400 MB."""
MAX_SORTED_BYTES = 1 << 30
"""Bytes of events, with their row keys, that are sorted at once."""
MAX_BLOCK_BYTES = 1 << 28
"""Bytes of the values of a field that are made at once."""
NUMBER_BYTES = 16
"""Bytes of a value that is neither text nor bytes, at most."""
MAX_LISTED_VALUES = 1 << 17
"""Values of a field that are made once and coded, whatever the number of events."""
MAX_LONG_LIST = 1 << 22
"""Values of a field that is no integer which are made once if there are more events than values."""
MAX_INDEXES = 1 << 62
"""Values of a unique field that can be drawn: their indexes are numbers of 64 bits."""
GUESSED_TEXTS = 1_000
"""Values of a text field of which nothing was declared; said in `WorkloadGenerator.assumptions`."""
GUESSED_NUMBERS = 1_000_000
"""Values of any other field of which nothing was declared."""
COUNTING_ARRIVAL = "sequential"
"""The arrival under which fields count up, as entities do that come in turn."""


@dataclass(slots=True)
class WorkloadGenerator:
    """Generates the events of a workload.

    Args:
        writes: how rows come in.
        fields: the fields an event has, by name.
        seed: where randomness begins: the same seed gives the same events.
        key: the row key, whose order an arrival of `bulk_sorted` follows.
        assumptions: what was not declared and had to be assumed, as sentences.
    """

    writes: WritePattern
    fields: Mapping[str, Field]
    seed: int = 0
    key: Key | None = None
    assumptions: list[str] = field(default_factory=list)
    rate: float = field(init=False)
    listed_values: dict[str, pa.Array] = field(default_factory=dict, repr=False)
    """The values of fields that have few, made once for all replays."""

    def __post_init__(self) -> None:
        declared = self.writes.rate
        if self.writes.arrival == "per" and self.writes.period_ms:
            entities = self.count_distinct(self.fields[str(self.writes.entity)])
            declared = entities * 1_000 / self.writes.period_ms
        self.rate = declared or DEFAULT_EVENTS_PER_S
        if declared is None:
            self.assumptions.append(
                Message(
                    "assumption.rate",
                    "{rate:,.0f} events a second; set [writes] rate to change it",
                    rate=DEFAULT_EVENTS_PER_S,
                )
            )
        self._limit_events()

    def _limit_events(self) -> None:
        """Make fewer events if a workload of undeclared duration would have very many.

        It ends early; an import in the order of the keys gets fewer rows instead, since one that
        ended early would pass a region in less time.
        """
        writes, count = self.writes, self.event_count
        if writes.is_duration_declared or writes.bursts:
            return
        if writes.arrival == "bulk_sorted":
            if count > (most := self.max_events):
                self.rate = most * 1_000 / writes.duration_ms
                self.assumptions.append(
                    Message(
                        "assumption.thinned_import",
                        "{count:,} rows stand for the {all_count:,} of an import of {seconds:,} s; "
                        "to change that, set [writes] for",
                        count=self.event_count,
                        all_count=count,
                        seconds=writes.duration_ms // 1_000,
                    )
                )
            return
        if count > ENOUGH_EVENTS:
            whole_s = int(ENOUGH_EVENTS / self.rate)
            duration_ms = max(whole_s * 1_000, SHORTEST_DURATION_MS)
            self.writes = replace(writes, duration_ms=min(duration_ms, writes.duration_ms))
        while self.event_count > self.max_events and self.writes.duration_ms > 1:
            most = min(self.max_events, ENOUGH_EVENTS)
            whole_s, longest_ms = int(most / self.rate), int(most / self.rate * 1_000)
            self.writes = replace(writes, duration_ms=whole_s * 1_000 or max(longest_ms, 1))
        if self.writes == writes:
            return
        whole_s, rest_ms = divmod(self.writes.duration_ms, 1_000)
        self.assumptions.append(
            Message(
                "assumption.duration",
                "the workload ends after {seconds:,} s, with {count:,} events; to change that, "
                "set [writes] for",
                seconds=self.writes.duration_ms / 1_000 if rest_ms else whole_s,
                count=self.event_count,
            )
        )

    def count_distinct(self, declared: Field) -> int:
        """Return how many values a field has: declared, listed, or assumed."""
        size = self.find_domain(declared).size
        if declared.declaration.distinct is not None:
            return min(declared.declaration.distinct, size)
        if declared.declaration.unique:
            return min(size, MAX_INDEXES)
        guess = GUESSED_TEXTS if declared.type.is_sequence else GUESSED_NUMBERS
        count = min(guess, size)
        if count < size:
            assumption = Message(
                "assumption.distinct",
                "{field} has {count:,} values; set distinct = … to change it",
                field=declared.name,
                count=count,
            )
            if assumption not in self.assumptions:
                self.assumptions.append(assumption)
        return count

    def find_domain(self, declared: Field) -> Domain:
        """Return the values that a field may have and the key can encode."""
        if self.key is not None and declared.name in self.key.fields:
            return self.key.find_domain(declared.name)
        return declared.type.domain

    @property
    def event_count(self) -> int:
        """Return how many events there are."""
        return _count_events(self.writes, self.rate)

    @property
    def max_events(self) -> int:
        """Return how many events may be generated: fewer where values cannot be listed."""
        if self.writes.arrival == "bulk_sorted":
            return min(MAX_SORTED_EVENTS, max(MAX_SORTED_BYTES // self._event_bytes, 1))
        return MAX_GENERATED_VALUES // max(
            sum(map(self._compute_value_cost, self.fields.values())), 1
        )

    def generate_events(self) -> Iterator[EventBatch]:
        """Return the events in the order of their arrival, a bounded number at a time.

        Raises:
            InvalidArgument: there would be more than `max_events`, or their values are too long.

        Cost: 15 to 40 ns an event, and memory that does not grow with their number; for an arrival
        of `bulk_sorted` all are held at once, about 100 bytes each.
        """
        self._check_count()
        for declared in self.fields.values():
            if declared is not self.writes.time:
                self._check_length(declared)
        batches = (
            self._generate_sorted()
            if self.writes.arrival == "bulk_sorted"
            else self._generate_unsorted()
        )
        for some in batches:
            yield from split_events(some, self._event_bytes)

    @property
    def _event_bytes(self) -> int:
        """Return the bytes of an event's values and row key, estimated from their types."""
        key = 0 if self.key is None else self.key.min_bytes
        return key + sum(map(self._measure_value, self.fields.values()))

    def _compute_value_cost(self, declared: Field) -> int:
        """Return the time to make a value, as a multiple of taking one from a list."""
        if declared is self.writes.time or self.is_listed(declared):
            return 1
        is_number = pa.types.is_integer(declared.type.build_arrow_type())
        return UNLISTED_NUMBER_COST if is_number else UNLISTED_TEXT_COST

    def is_listed(self, declared: Field) -> bool:
        """Return whether all values of a field are made once, rather than those of each block.

        Listed or not, events have the same values, but for integers.
        """
        distinct = self.count_distinct(declared)
        if distinct <= MAX_LISTED_VALUES:
            return True
        if pa.types.is_integer(declared.type.build_arrow_type()):
            return False
        is_short = distinct * self._measure_value(declared) <= MAX_BLOCK_BYTES
        return is_short and distinct <= min(self.event_count, MAX_LONG_LIST)

    def _measure_value(self, declared: Field) -> int:
        """Return the bytes of a field's value, estimated from its type."""
        value = self.find_domain(declared).generate_value(0)
        return len(value) if isinstance(value, str | bytes) else NUMBER_BYTES

    def _check_count(self) -> None:
        """Raise if there would be too many events, with a duration or rate that fits."""
        count, max_events = self.event_count, self.max_events
        if count <= max_events:
            return
        longest = bisect_right(
            range(1, self.writes.duration_ms),
            max_events,
            key=lambda ms: _count_events(replace(self.writes, duration_ms=ms), self.rate),
        )
        remedy = f'Shorten the workload to for = "{longest}ms", or declare a smaller rate.'
        if not longest:
            remedy = f"Declare a rate of {self.rate * max_events / count:,.0f}/s or less."
        what = f"the workload would have {count:,} events"
        raise InvalidArgument("writes", what, f"at most {max_events:,}", remedy)

    def _check_length(self, declared: Field) -> None:
        """Raise if a field's values that are made at once take too much memory."""
        distinct, each = self.count_distinct(declared), self._measure_value(declared)
        at_once = distinct if self.is_listed(declared) else min(distinct, BLOCK_EVENTS)
        if at_once * each > MAX_BLOCK_BYTES:
            raise InvalidArgument(
                f"design, fields.{declared.name}",
                f"{at_once:,} values of {each:,} bytes do not fit into memory at once",
                f"at most {MAX_BLOCK_BYTES:,} bytes",
                f"Write distinct = {MAX_BLOCK_BYTES // each}, or use a sample file.",
            )

    def _generate_sorted(self) -> Iterator[EventBatch]:
        """Return the events in row key order, arriving at an even rate.

        A random salt is drawn when a row is written, so no import is in its order.
        """
        batches = [some.rows for some in self._generate_unsorted()]
        table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
        if self.key is not None:
            keys = [_encode_keys(self.key, rows) for rows in batches]
            table = table.take(pc.sort_indices(pa.chunked_array(keys)))
        clock = _ArrivalClock(self.writes, self.rate)
        first = 0
        for rows in table.to_batches(max_chunksize=BLOCK_EVENTS):
            yield EventBatch(rows, clock.compute_instants(first, rows.num_rows))
            first += rows.num_rows

    def _generate_unsorted(self) -> Iterator[EventBatch]:
        """Return the events in the order of their arrival."""
        chance = build_rng("times", self.seed)
        columns = [
            _ColumnGenerator(self, f) for f in self.fields.values() if f is not self.writes.time
        ]
        clock = _ArrivalClock(self.writes, self.rate)
        for first in range(0, self.event_count, BLOCK_EVENTS):
            count = min(BLOCK_EVENTS, self.event_count - first)
            yield self._generate_block(chance, columns, clock, first, count)

    def _generate_block(
        self,
        rng: np.random.Generator,
        columns: list[_ColumnGenerator],
        clock: _ArrivalClock,
        first: int,
        count: int,
    ) -> EventBatch:
        """Return the next events, with their values and times."""
        arrived = clock.compute_instants(first, count)
        arrays, names = [], []
        for column in columns:
            arrays.append(column.generate_values(first, count))
            names.append(column.field.name)
        if self.writes.time is not None:
            arrays.append(self._generate_times(rng, arrived))
            names.append(self.writes.time.name)
        return EventBatch(pa.RecordBatch.from_arrays(arrays, names=names), arrived)

    def _generate_times(
        self, rng: np.random.Generator, arrival_ms: np.ndarray[Any, Any]
    ) -> pa.Array:
        """Return the time of each event: its arrival less its delay, or any time."""
        time = self.writes.time
        assert time is not None
        happened = arrival_ms
        if self.writes.arrival == "random":
            happened = START_MS + rng.integers(0, self.writes.duration_ms, len(arrival_ms))
        elif self.writes.late_share:
            delays = rng.integers(0, self.writes.late_ms + 1, len(arrival_ms))
            is_late = rng.random(len(arrival_ms)) < self.writes.late_share
            happened = np.where(is_late, arrival_ms - delays, arrival_ms)
        tick = time.type.unit_ns or 1
        coarse, fine = max(tick // 1_000_000, 1), max(1_000_000 // tick, 1)
        return time.type.build_number_column(happened // coarse * fine)


def _encode_keys(key: Key, rows: pa.RecordBatch) -> pa.Array:
    """Return the row keys of some rows, as if all had the same salt."""
    return key.encode_valid_batch(rows, salts=np.zeros(rows.num_rows, np.int64))


class _ColumnGenerator:
    """Generates the values of one field, event by event."""

    def __init__(self, workload: WorkloadGenerator, declared: Field) -> None:
        self.field = declared
        self.rng = build_rng(f"values of {declared.name}", workload.seed)
        self.distinct_count = workload.count_distinct(declared)
        self.distribution = self._choose_distribution(workload)
        self.domain = workload.find_domain(declared)
        self.is_periodic = workload.writes.entity == declared.name
        self.listed_values = (
            self._list_values(workload.listed_values) if workload.is_listed(declared) else None
        )

    def _choose_distribution(self, workload: WorkloadGenerator) -> Distribution:
        """Return the declared distribution, or the one that the arrival implies."""
        writes = workload.writes
        if writes.arrival == "per" and writes.entity == self.field.name:
            return _find_default_distribution(COUNTING_ARRIVAL)
        declared = writes.distributions.get(self.field.name)
        if declared is not None:
            return declared
        return _find_default_distribution(writes.arrival)

    def _list_values(self, known: dict[str, pa.Array]) -> pa.Array:
        """Return all values of the field, made unless they are known, and then added to these."""
        if self.field.name not in known:
            known[self.field.name] = self._build_values(np.arange(self.distinct_count))
        return known[self.field.name]

    def _build_values(self, indexes: Any) -> pa.Array:
        kind = self.field.type.build_arrow_type()
        in_order = self.distribution.is_ordered and not self.is_periodic
        values = (
            self.domain.generate_values(indexes) if in_order else self.domain.draw_values(indexes)
        )
        if isinstance(values, pa.Array):
            return values.cast(kind)
        if pa.types.is_timestamp(kind):
            return pa.array(values, pa.int64()).cast(kind)
        return pa.array(values, kind)

    def generate_values(self, first: int, count: int) -> pa.Array:
        """Return the values of the next events."""
        indexes = self.distribution.draw_indexes(self.rng, first, count, self.distinct_count)
        if self.is_periodic:
            indexes = scatter_ranks(indexes, self.distinct_count)
        if self.listed_values is not None:
            codes = pa.array(indexes.astype(np.int32, copy=False))
            return pa.DictionaryArray.from_arrays(codes, self.listed_values)
        kind = self.field.type.build_arrow_type()
        if pa.types.is_integer(kind):
            number = np.uint64 if pa.types.is_unsigned_integer(kind) else np.int64
            start = number(self.domain.generate_value(0))
            return pa.array(indexes.astype(number) + start).cast(kind)
        unique_indexes, codes = np.unique(indexes, return_inverse=True)
        values = self._build_values(unique_indexes)
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)


class _ArrivalClock:
    """Computes when the events of a workload arrive: at an even rate, except in bursts."""

    def __init__(self, writes: WritePattern, rate: float) -> None:
        edges = [0.0, float(writes.duration_ms)]
        rates = [rate / 1_000]
        for burst in writes.bursts:
            if burst.start_ms >= writes.duration_ms:
                continue
            stop = min(float(burst.stop_ms), float(writes.duration_ms))
            edges[-1:] = [float(burst.start_ms), stop, float(writes.duration_ms)]
            rates += [rate / 1_000 * burst.rate_factor, rate / 1_000]
        counts = np.diff(edges) * np.array(rates)
        self.event_edges = np.concatenate([[0.0], np.cumsum(counts)])
        self.time_edges = np.array(edges)

    def compute_instants(self, first: int, count: int) -> np.ndarray[Any, Any]:
        """Return the arrival of the next events, in milliseconds since 1970."""
        numbers = np.arange(first, first + count, dtype=np.float64)
        if len(self.time_edges) == 2:
            spent = numbers * (self.time_edges[1] / self.event_edges[1])
        else:
            spent = np.interp(numbers, self.event_edges, self.time_edges)
        return np.asarray(spent.astype(np.int64) + START_MS)


def _find_default_distribution(arrival: str) -> Distribution:
    """Return the distribution of a field that declares none, given the `arrival` of [writes]."""
    return next(kind for kind in DISTRIBUTIONS.values() if arrival in kind.default_arrivals)({})


def _count_events(writes: WritePattern, rate: float) -> int:
    """Return how many events come at a rate."""
    return max(int(_ArrivalClock(writes, rate).event_edges[-1]), 1)
