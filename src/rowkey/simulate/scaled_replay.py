"""Replays a sample at another rate, with a generator fitted to it; its times are not compressed.

Compressed times would lose their alignment, which is what makes `ts % n` fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots import Skew
from rowkey.regions import Boundaries
from rowkey.simulate.replay import Replay
from rowkey.workload import EventBatch

if TYPE_CHECKING:
    from rowkey.simulate.event_source import EventSource

MAX_EVENTS = 4_000_000
MAX_SECONDS = 600
BLOCK_EVENTS = 1 << 16


@dataclass(frozen=True)
class ScaledRun:
    """The skew at the declared rate, measured with events generated like the sample.

    Args:
        rate: events a second.
        operation_count: events made.
        skews: the skew at each width of window.
    """

    rate: float
    operation_count: int
    skews: tuple[Skew, ...]


def replay_at_declared_rate(
    design: Design, source: EventSource, boundaries: Boundaries, rows: Any, seed: int
) -> ScaledRun | None:
    """Replay generated events like the sample at the declared rate; None without a rate.

    Each event is a random row of the sample with a new time: the clock at the declared rate,
    truncated to the sample's step. So values stay correlated and times stay aligned.

    Args:
        source: the events it was judged by.
        boundaries: where its regions begin.
        rows: a uniform sample of the events.
        seed: where randomness begins.

    Returns:
        None without a sample, a declared rate, or a field that holds the time.
    """
    rate, time = design.writes.rate, design.writes.time
    if source.origin != "sample" or rate is None or time is None or not rows.num_rows:
        return None
    count = max(min(int(rate * MAX_SECONDS), MAX_EVENTS), 1)
    replay = Replay(design, boundaries, count, seed)
    for events in _generate_events(design, source, rows, count, seed):
        replay.add(events)
    span_s = count / rate
    skews = (_drop_wide_skew(window.compute_skew(), span_s) for window in replay.windows)
    return ScaledRun(rate, count, tuple(skews))


def _drop_wide_skew(skew: Skew, span_s: float) -> Skew:
    """Return a skew without figures if its windows are wider than the generated time."""
    if skew.width_s <= span_s or skew.server_skew is None:
        return skew
    reason = (
        f"the generated events span only {span_s:.3g} s, which is less than a window of "
        f"{skew.width_s} s"
    )
    return Skew(skew.width_s, reason=reason)


def _generate_events(
    design: Design, source: EventSource, rows: Any, count: int, seed: int
) -> Iterator[EventBatch]:
    """Yield sampled rows in random order, with times at the declared rate."""
    rate, time = design.writes.rate, design.writes.time
    assert rate is not None
    assert time is not None
    chance = np.random.default_rng(seed)
    step, start = _find_time_grid(design, source, rows)
    tick = time.type.unit_ns or 1
    index = rows.schema.get_field_index(time.name)
    coded = _encode_texts(rows, index)
    for first in range(0, count, BLOCK_EVENTS):
        many = min(BLOCK_EVENTS, count - first)
        chosen = chance.integers(0, rows.num_rows, many)
        elapsed = np.arange(first, first + many, dtype=np.float64) * (1e9 / rate / tick)
        units = start + (elapsed.astype(np.int64) // step) * step
        batch = coded.take(pa.array(chosen))
        batch = batch.set_column(index, time.name, time.type.build_number_column(units))
        clock = ((units - start) * tick + start * tick) // 1_000_000
        yield EventBatch(batch, clock)


def _find_time_grid(design: Design, source: EventSource, rows: Any) -> tuple[int, int]:
    """Return the step of the sample's times, and the last one, where generated times start."""
    time = design.writes.time
    assert time is not None
    known = source.facts.get(time.name)
    held = time.to_internal_batch(rows.column(time.name))
    return (known.step if known is not None and known.step else 1), int(held.max())


def _encode_texts(rows: Any, index: int) -> Any:
    """Return the rows with dictionary-encoded texts, so that random rows are cheap to draw."""
    arrays = [
        column.dictionary_encode()
        if place != index and (pa.types.is_string(column.type) or pa.types.is_binary(column.type))
        else column
        for place, column in enumerate(rows.columns)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)
