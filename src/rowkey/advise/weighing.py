"""What a design costs in itself: the bytes of its keys and cells, and the time to make a key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError, SampleError
from rowkey.simulate import source_of
from rowkey.workload import Reservoir, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.advise.agreeing import Scale
    from rowkey.design import Design
    from rowkey.keys import Field, Key
    from rowkey.simulate import Source

TIMED_ROWS = 2_000
"""Rows of which keys are made by the clock."""
ROUNDS = 7
"""Times each design makes them; the least counts, for whatever disturbs only adds."""


def opened(design: Design, scale: Scale, seed: int) -> tuple[Source, bool]:
    """The sample as events of a design, and whether they have all that it stores.

    Where they have not, what they have is still looked at: its widths tell of the bytes.

    Raises:
        SampleError: it lacks what judging needs, or cannot be read.
    """

    def source(fields: Any) -> Source:
        return source_of(
            design,
            scale.path,
            scale.format_words,
            second_half=scale.second_half,
            seed=seed,
            fields=fields,
        )

    try:
        return source(design.fields), True
    except SampleError:
        wanted = design.wanted_fields()
        fields = design.fields.items()
        return source({n: f if n in wanted else _nullable(f) for n, f in fields}), False


def _nullable(field: Field) -> Field:
    """A field that events may lack."""
    return replace(field, nullable=True)


class Weight:
    """The bytes of the replayed events on one design.

    Args:
        design: the design.
        source: its events.
        is_whole: whether they have all that it stores; else bytes are told from widths.
        seed: where the choice of rows to time begins.
    """

    def __init__(self, design: Design, source: Source, *, is_whole: bool, seed: int) -> None:
        self.design = design
        self.source = source
        self.is_measured = is_whole
        self.key_bytes = 0
        self._stored = 0
        reservoir = Reservoir(TIMED_ROWS, seed)
        for events in source.replayed():
            reservoir.offer(events.rows)
            self._add(events.rows)
        self.rows: Sequence[dict[str, Any]] = reservoir.rows().to_pylist()

    def _add(self, rows: Any) -> None:
        import numpy as np
        import pyarrow.compute as pc

        salts = np.zeros(rows.num_rows, np.int64)
        keys = self.design.key.encode_batch(rows, salts=salts)
        self.key_bytes += int(pc.sum(pc.binary_length(keys)).as_py() or 0)
        if self.is_measured:
            try:
                self._stored += stored_bytes(self.design.layout, rows)
            except RowError:
                self.is_measured = False

    def event_bytes(self, *, measured: bool) -> float:
        """Bytes that all events add to a store together.

        Args:
            measured: whether they are counted; else they are told from the widths of the fields.
        """
        if measured:
            return float(self._stored)
        mean = self.key_bytes / max(self.source.count, 1)
        # Of a field that no event has nothing is known, not that it is always null.
        facts = {name: one for name, one in self.source.facts.items() if one.nulls < 1}
        return self.design.layout.event_bytes(mean, facts) * self.source.count


def encode_us(weights: Sequence[Weight], clock: Callable[[], float] | None) -> list[float | None]:
    """Microseconds that each design takes to make a row key, one at a time.

    Designs take turns, so that what disturbs one disturbs all; equal keys are timed once.

    Args:
        weights: the designs with rows of the sample.
        clock: gives seconds, as `time.perf_counter` does; nothing is timed if None.
    """
    if clock is None:
        return [None] * len(weights)
    timed = {_told(one.design.key): one for one in weights}
    least: dict[Any, float] = {}
    for _ in range(ROUNDS):
        for told, one in timed.items():
            least[told] = min(least.get(told, float("inf")), _round_us(one, clock))
    return [least[_told(one.design.key)] for one in weights]


def _round_us(weight: Weight, clock: Callable[[], float]) -> float:
    encode = weight.design.key.encode
    started = clock()
    for row in weight.rows:
        encode(row)
    return (clock() - started) * 1e6 / max(len(weight.rows), 1)


def _told(key: Key) -> tuple[Any, ...]:
    """What a key is made of: keys that agree in it are the same."""
    return str(key), *(repr(field) for field in key.fields.values())
