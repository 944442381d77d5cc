"""A sample played at another rate: by a generator fitted to it, never by squeezing its times.

Squeezed times would lose their alignment, and with it exactly what makes `ts % n` fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.heat import Skew
from rowkey.simulate.replay import Replay
from rowkey.simulate.simulation import Scaled
from rowkey.workload import Events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.simulate.source import Source

MOST_EVENTS = 4_000_000
MOST_SECONDS = 600
BLOCK = 1 << 16


def at_declared_rate(
    design: Design, source: Source, boundaries: Boundaries, rows: Any, seed: int
) -> Scaled | None:
    """The skew at the declared rate, ten minutes of it or four million events.

    Each event is a row of the sample, drawn at random, with a new time: the clock at the declared
    rate, cut to the sample's own step. So values come together as they did, and times stay aligned
    as they were.

    Args:
        design: the design.
        source: the events it was judged by.
        boundaries: where its regions begin.
        rows: a uniform sample of the events.
        seed: where randomness begins.

    Returns:
        None without a sample, a declared rate, or a field that holds the time.
    """
    rate, time = design.writes.rate, design.writes.time
    if source.kind != "sample" or rate is None or time is None or not rows.num_rows:
        return None
    count = max(min(int(rate * MOST_SECONDS), MOST_EVENTS), 1)
    replay = Replay(design, boundaries, count, seed)
    for events in _fitted(design, source, rows, count, seed):
        replay.add(events)
    span_s = count / rate
    skews = (_within(window.skew(), span_s) for window in replay.windows)
    return Scaled(rate, count, tuple(skews))


def _within(skew: Skew, span_s: float) -> Skew:
    """A skew, or none where no window is as wide as the time that was made."""
    if skew.width_s <= span_s or skew.servers is None:
        return skew
    reason = f"the events made last {span_s:.3g} s, which is no window of {skew.width_s} s"
    return Skew(skew.width_s, reason=reason)


def _fitted(design: Design, source: Source, rows: Any, count: int, seed: int) -> Iterator[Events]:
    """Rows of the sample in random order, at the declared rate, at the sample's times of day."""
    import numpy as np
    import pyarrow as pa

    rate, time = design.writes.rate, design.writes.time
    assert rate is not None
    assert time is not None
    chance = np.random.default_rng(seed)
    step, start = _grid(design, source, rows)
    tick = time.type.tick or 1
    index = rows.schema.get_field_index(time.name)
    coded = _coded(rows, index)
    for first in range(0, count, BLOCK):
        many = min(BLOCK, count - first)
        chosen = chance.integers(0, rows.num_rows, many)
        elapsed = np.arange(first, first + many, dtype=np.float64) * (1e9 / rate / tick)
        units = start + (elapsed.astype(np.int64) // step) * step
        batch = coded.take(pa.array(chosen))
        batch = batch.set_column(index, time.name, time.type.from_numbers(units))
        clock = ((units - start) * tick + start * tick) // 1_000_000
        yield Events(batch, clock)


def _grid(design: Design, source: Source, rows: Any) -> tuple[int, int]:
    """The step of the sample's times, and its last one: the events go on from there."""
    time = design.writes.time
    assert time is not None
    known = source.facts.get(time.name)
    held = time.physical(rows.column(time.name))
    return (known.step if known is not None and known.step else 1), int(held.max())


def _coded(rows: Any, index: int) -> Any:
    """The rows with their text and bytes coded, so that drawing from them moves numbers."""
    import pyarrow as pa

    arrays = [
        column.dictionary_encode()
        if place != index and (pa.types.is_string(column.type) or pa.types.is_binary(column.type))
        else column
        for place, column in enumerate(rows.columns)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)
