"""Events made from the design file alone: how many, when, and with which values."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import chance_for, scattered
from rowkey.workload.draws import KINDS as DRAWS
from rowkey.workload.sample import Events, split_events
from rowkey.workload.writes import DEFAULT_RATE, Writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Domain, Field, Key
    from rowkey.workload.contract import Draw

BLOCK = 1 << 17
"""Events made at a time: few enough for the cache, enough that Python's share is small.
With another number a seed would give other events."""
START_MS = 1_704_067_200_000
"""2024-01-01T00:00:00Z: generated events begin on a full day."""
MOST_VALUES = 2_000_000_000
"""Values made for all events together, as many as are taken from a list in the same time.

Derivation: with 20 to 60 ns each, a design is judged in two minutes or less."""
COST_OF_NUMBER = 3
"""Values taken from a list in the time of a number that is not listed, and is hashed for itself."""
COST_OF_TEXT = 10
"""The same of any other value that is not listed."""
MOST_SORTED = 1 << 22
"""Events that are sorted by their row keys at once: about 400 MB."""
MOST_SORTED_BYTES = 1 << 30
"""Bytes of events, with their row keys, that are sorted at once."""
MOST_BLOCK_BYTES = 1 << 28
"""Bytes of the values of a field that are made at once."""
NUMBER_BYTES = 16
"""Bytes of a value that is neither text nor bytes, at most."""
MOST_LISTED = 1 << 17
"""Values of a field that are made once and coded; above it each event makes its own."""
GUESSED_DISTINCT = 1_000
"""Values of a text field of which nothing was declared; said in `Workload.assumed`."""
GUESSED_NUMBERS = 1_000_000
"""Values of any other field of which nothing was declared."""
COUNTING = "sequential"
"""The arrival under which fields count up, as entities do that come in turn."""


@dataclass(slots=True)
class Workload:
    """Events to be made.

    Args:
        writes: how rows come in.
        fields: the fields an event has, by name.
        seed: where randomness begins: the same seed gives the same events.
        key: the row key, whose order an arrival of `bulk_sorted` follows.
        assumed: what was not declared and had to be assumed, as sentences.
    """

    writes: Writes
    fields: Mapping[str, Field]
    seed: int = 0
    key: Key | None = None
    assumed: list[str] = field(default_factory=list)
    rate: float = field(init=False)

    def __post_init__(self) -> None:
        declared = self.writes.rate
        if self.writes.arrival == "per" and self.writes.period_ms:
            entities = self.distinct(self.fields[str(self.writes.entity)])
            declared = entities * 1_000 / self.writes.period_ms
        self.rate = declared or DEFAULT_RATE
        if declared is None:
            self.assumed.append(
                f"{DEFAULT_RATE:,.0f} events a second; [writes] rate says otherwise"
            )

    def distinct(self, declared: Field) -> int:
        """How many values a field has: declared, listed, or assumed."""
        size = self.domain(declared).size
        if declared.words.distinct is not None:
            return min(declared.words.distinct, size)
        guess = GUESSED_DISTINCT if declared.type.is_sequence else GUESSED_NUMBERS
        count = min(guess, size)
        if count < size:
            said = f"{declared.name} has {count:,} values; distinct = … says otherwise"
            if said not in self.assumed:
                self.assumed.append(said)
        return count

    def domain(self, declared: Field) -> Domain:
        """The values that a field may have: those that the key has room for."""
        if self.key is not None and declared.name in self.key.fields:
            return self.key.domain(declared.name)
        return declared.type.domain

    @property
    def count(self) -> int:
        """How many events there are."""
        return _total(self.writes, self.rate)

    @property
    def most_events(self) -> int:
        """How many events may be made: fewer where their values are not listed beforehand."""
        if self.writes.arrival == "bulk_sorted":
            return min(MOST_SORTED, max(MOST_SORTED_BYTES // self._event_bytes, 1))
        return MOST_VALUES // max(sum(map(self._value_cost, self.fields.values())), 1)

    def events(self) -> Iterator[Events]:
        """The events in the order of their arrival, a bounded number at a time.

        Raises:
            Refused: there would be more than `most_events`, or their values are too long.

        Cost: 15 to 40 ns an event, and memory that does not grow with their number; for an arrival
        of `bulk_sorted` all are held at once, about 100 bytes each.
        """
        self._check_count()
        for declared in self.fields.values():
            if declared is not self.writes.time:
                self._check_length(declared)
        made = self._sorted() if self.writes.arrival == "bulk_sorted" else self._unsorted()
        for some in made:
            yield from split_events(some, self._event_bytes)

    @property
    def _event_bytes(self) -> int:
        """Bytes of the values and the row key of an event, as far as their types tell."""
        key = 0 if self.key is None else self.key.least_bytes
        return key + sum(map(self._value_bytes, self.fields.values()))

    def _value_cost(self, declared: Field) -> int:
        """The time that a value takes, in values that are taken from a list."""
        import pyarrow as pa

        if declared is self.writes.time or self.distinct(declared) <= MOST_LISTED:
            return 1
        return COST_OF_NUMBER if pa.types.is_integer(declared.type.arrow()) else COST_OF_TEXT

    def _value_bytes(self, declared: Field) -> int:
        value = self.domain(declared).nth(0)
        return len(value) if isinstance(value, str | bytes) else NUMBER_BYTES

    def _check_count(self) -> None:
        """Raise if there would be too many events, with a duration or a rate that fits."""
        count, most = self.count, self.most_events
        if count <= most:
            return
        longest = bisect_right(
            range(1, self.writes.lasting_ms),
            most,
            key=lambda ms: _total(replace(self.writes, lasting_ms=ms), self.rate),
        )
        fits = f'Write for = "{longest}ms", or declare a smaller rate.'
        if not longest:
            fits = f"Declare a rate of {self.rate * most / count:,.0f}/s or less."
        raise Refused("writes", f"{count:,} events", f"at most {most:,}", fits)

    def _check_length(self, declared: Field) -> None:
        """Raise if the values of a field that are made at once take too much memory."""
        distinct, each = self.distinct(declared), self._value_bytes(declared)
        at_once = distinct if distinct <= MOST_LISTED else min(distinct, BLOCK)
        if at_once * each > MOST_BLOCK_BYTES:
            raise Refused(
                f"fields.{declared.name}",
                f"{at_once:,} values of {each:,} bytes are made at once",
                f"at most {MOST_BLOCK_BYTES:,} bytes",
                f"Write distinct = {MOST_BLOCK_BYTES // each}, or judge it by a sample.",
            )

    def _sorted(self) -> Iterator[Events]:
        """The events in the order of their row keys; the clock of their arrival goes on evenly.

        A random salt is drawn when a row is written, so no import is in its order.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        made = [some.rows for some in self._unsorted()]
        table = pa.Table.from_batches(made).unify_dictionaries().combine_chunks()
        if self.key is not None:
            keys = [_keys(self.key, rows) for rows in made]
            table = table.take(pc.sort_indices(pa.chunked_array(keys)))
        clock = _Clock(self.writes, self.rate)
        first = 0
        for rows in table.to_batches(max_chunksize=BLOCK):
            yield Events(rows, clock.instants(first, rows.num_rows))
            first += rows.num_rows

    def _unsorted(self) -> Iterator[Events]:
        """The events as the clock brings them."""
        chance = chance_for("times", self.seed)
        columns = [_Column(self, f) for f in self.fields.values() if f is not self.writes.time]
        clock = _Clock(self.writes, self.rate)
        for first in range(0, self.count, BLOCK):
            count = min(BLOCK, self.count - first)
            yield self._block(chance, columns, clock, first, count)

    def _block(
        self,
        chance: np.random.Generator,
        columns: list[_Column],
        clock: _Clock,
        first: int,
        count: int,
    ) -> Events:
        import pyarrow as pa

        arrived = clock.instants(first, count)
        arrays, names = [], []
        for column in columns:
            arrays.append(column.values(first, count))
            names.append(column.field.name)
        if self.writes.time is not None:
            arrays.append(self._times(chance, arrived))
            names.append(self.writes.time.name)
        return Events(pa.RecordBatch.from_arrays(arrays, names=names), arrived)

    def _times(self, chance: np.random.Generator, arrived: np.ndarray[Any, Any]) -> pa.Array:
        """The time of each event: when it arrived, less its delay; or any time at all."""
        import numpy as np

        time = self.writes.time
        assert time is not None
        happened = arrived
        if self.writes.arrival == "random":
            happened = START_MS + chance.integers(0, self.writes.lasting_ms, len(arrived))
        elif self.writes.late_share:
            delays = chance.integers(0, self.writes.late_ms + 1, len(arrived))
            is_late = chance.random(len(arrived)) < self.writes.late_share
            happened = np.where(is_late, arrived - delays, arrived)
        tick = time.type.tick or 1
        coarse, fine = max(tick // 1_000_000, 1), max(1_000_000 // tick, 1)
        return time.type.from_numbers(happened // coarse * fine)


def _keys(key: Key, rows: pa.RecordBatch) -> pa.Array:
    """The row keys of some rows, as if chance gave all of them one salt."""
    import numpy as np

    return key.encode_valid_batch(rows, salts=np.zeros(rows.num_rows, np.int64))


class _Column:
    """The values of one field, event by event."""

    def __init__(self, workload: Workload, declared: Field) -> None:
        self.field = declared
        self.chance = chance_for(f"values of {declared.name}", workload.seed)
        self.distinct = workload.distinct(declared)
        self.draw = self._chosen(workload)
        self.domain = workload.domain(declared)
        self.is_periodic = workload.writes.entity == declared.name
        self.listed = self._listed() if self.distinct <= MOST_LISTED else None

    def _chosen(self, workload: Workload) -> Draw:
        """The declared draw, or what the arrival implies."""
        writes = workload.writes
        if writes.arrival == "per" and writes.entity == self.field.name:
            return _drawn_under(COUNTING)
        declared = writes.draws.get(self.field.name)
        if declared is not None:
            return declared
        return _drawn_under(writes.arrival)

    def _listed(self) -> pa.Array:
        import numpy as np

        return self._made(np.arange(self.distinct))

    def _made(self, indexes: Any) -> pa.Array:
        """Values by their numbers: in order where they come in order, else as chance makes them."""
        import pyarrow as pa

        kind = self.field.type.arrow()
        in_order = self.draw.comes_in_order and not self.is_periodic
        values = self.domain.some(indexes) if in_order else self.domain.drawn(indexes)
        if isinstance(values, pa.Array):
            return values.cast(kind)
        if pa.types.is_timestamp(kind):
            return pa.array(values, pa.int64()).cast(kind)
        return pa.array(values, kind)

    def values(self, first: int, count: int) -> pa.Array:
        """The values of the next events."""
        import numpy as np
        import pyarrow as pa

        drawn = self.draw.draw(self.chance, first, count, self.distinct)
        if self.is_periodic:
            drawn = scattered(drawn, self.distinct)
        if self.listed is not None:
            codes = pa.array(drawn.astype(np.int32, copy=False))
            return pa.DictionaryArray.from_arrays(codes, self.listed)
        kind = self.field.type.arrow()
        if pa.types.is_integer(kind):
            start = self.domain.nth(0)
            return pa.array(drawn.astype(np.int64) + start).cast(kind)
        indexes, codes = np.unique(drawn, return_inverse=True)
        made = self._made(indexes)
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), made)


class _Clock:
    """When the events of a workload arrive: evenly, but for the bursts."""

    def __init__(self, writes: Writes, rate: float) -> None:
        import numpy as np

        edges = [0.0, float(writes.lasting_ms)]
        rates = [rate / 1_000]
        for burst in writes.bursts:
            if burst.start_ms >= writes.lasting_ms:
                continue
            stop = min(float(burst.stop_ms), float(writes.lasting_ms))
            edges[-1:] = [float(burst.start_ms), stop, float(writes.lasting_ms)]
            rates += [rate / 1_000 * burst.times, rate / 1_000]
        counts = np.diff(edges) * np.array(rates)
        self.reached = np.concatenate([[0.0], np.cumsum(counts)])
        self.edges = np.array(edges)

    def instants(self, first: int, count: int) -> np.ndarray[Any, Any]:
        """The arrival of the next events, in milliseconds since 1970."""
        import numpy as np

        numbers = np.arange(first, first + count, dtype=np.float64)
        if len(self.edges) == 2:
            spent = numbers * (self.edges[1] / self.reached[1])
        else:
            spent = np.interp(numbers, self.reached, self.edges)
        return np.asarray(spent.astype(np.int64) + START_MS)


def _drawn_under(arrival: str) -> Draw:
    """What draws a field under an arrival that declares no draw."""
    return next(kind for kind in DRAWS.values() if arrival in kind.arrivals)({})


def _total(writes: Writes, rate: float) -> int:
    return max(int(_Clock(writes, rate).reached[-1]), 1)
