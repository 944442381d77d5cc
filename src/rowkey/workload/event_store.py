"""Events that are read once and replayed later, in the order of arrival or of their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.workload.batch_store import BatchStore
from rowkey.workload.event_batch import EventBatch
from rowkey.workload.reservoir import decode_rows

MAX_RUN_EVENTS = 1 << 20
"""Events sorted in memory at a time; more are sorted in runs, which are then merged."""
SORTED_BATCH_EVENTS = 1 << 14
"""Events of a sorted batch."""
CLOCK_COLUMN = "\0clock"
"""The column of kept batches that holds the times of events; no field can have this name."""


class EventStore:
    """Keeps events for any number of passes, in memory up to 128 MiB, then in a temporary file.

    Args:
        events: the events; the numbers of their rows are not kept.
    """

    def __init__(self, events: Iterable[EventBatch] = ()) -> None:
        self._batches = BatchStore()
        for batch in events:
            self.append(batch)

    @classmethod
    def from_unsorted(cls, events: Iterable[EventBatch]) -> EventStore:
        """Return events in the order of their times; equal times stay in the order they had.

        Args:
            events: the events, each with a time.
        """
        runs: list[BatchStore] = []
        for table in _sort_runs(events):
            run = BatchStore(0) if runs else BatchStore()
            for batch in table.to_batches(max_chunksize=SORTED_BATCH_EVENTS):
                run.append(batch)
            runs.append(run)
        store = cls()
        if len(runs) == 1:
            store._batches = runs[0]
        else:
            for batch in _merge_runs(runs):
                store._batches.append(batch)
        return store

    def shuffle(self, bits: np.random.BitGenerator) -> EventStore:
        """Return the events in a random order, at random times between their first and their last.

        Args:
            bits: where randomness comes from.
        """
        chance = np.random.Generator(bits)
        clocks = (batch.clock_ms for batch in self.read_events())
        ends = [(one.min(), one.max()) for one in clocks if one is not None and len(one)]
        first = min((one for one, _ in ends), default=0)
        last = max((one for _, one in ends), default=0)
        return EventStore.from_unsorted(
            EventBatch(batch.rows, chance.integers(first, last, len(batch), endpoint=True))
            for batch in self.read_events()
        )

    def __len__(self) -> int:
        return self._batches.row_count

    def append(self, events: EventBatch) -> None:
        """Keep the next events."""
        self._batches.append(_join_clock(events))

    def read_events(self) -> Iterator[EventBatch]:
        """Return the events in their order."""
        return map(_split_clock, self._batches)


def _join_clock(events: EventBatch) -> pa.RecordBatch:
    """Return events as one batch with a column of their times, if they have any."""
    if events.clock_ms is None:
        return events.rows
    return events.rows.append_column(CLOCK_COLUMN, pa.array(events.clock_ms))


def _split_clock(batch: pa.RecordBatch) -> EventBatch:
    """Return the events of a batch that `_join_clock` made."""
    if CLOCK_COLUMN not in batch.schema.names:
        return EventBatch(batch, None)
    clock_ms = batch.column(CLOCK_COLUMN).to_numpy()
    return EventBatch(batch.drop_columns([CLOCK_COLUMN]), clock_ms)


def _sort_runs(events: Iterable[EventBatch]) -> Iterator[pa.Table]:
    """Return sorted tables of about a million events."""
    batches: list[pa.RecordBatch] = []
    count = 0
    for batch in events:
        batches.append(decode_rows(_join_clock(batch)))
        count += len(batch)
        if count >= MAX_RUN_EVENTS:
            yield _sort_batches(batches)
            batches, count = [], 0
    if batches:
        yield _sort_batches(batches)


def _sort_batches(batches: list[pa.RecordBatch]) -> pa.Table:
    table = pa.Table.from_batches(batches).combine_chunks()
    clock_ms = table.column(CLOCK_COLUMN).to_numpy()
    if bool((clock_ms[1:] >= clock_ms[:-1]).all()):
        return table
    return table.take(pa.array(np.argsort(clock_ms, kind="stable")))


def _merge_runs(runs: Sequence[BatchStore]) -> Iterator[pa.RecordBatch]:
    """Return sorted runs as one stream; of equal times, those of earlier runs come first.

    Each step sorts the events that come before all events of later batches, so that runs whose
    times alternate are not cut into batches of single events.
    """
    streams = [iter(run) for run in runs]
    first_batches = {number: next(stream, None) for number, stream in enumerate(streams)}
    heads = {number: batch for number, batch in first_batches.items() if batch is not None}
    while heads:
        stop_ms, stop_run = min((_read_clock(head)[-1], number) for number, head in heads.items())
        parts = []
        for number, head in list(heads.items()):
            clock_ms = _read_clock(head)
            count = int(
                np.searchsorted(clock_ms, stop_ms, "right" if number <= stop_run else "left")
            )
            parts.append(head.slice(0, count))
            rest = head.slice(count) if count < head.num_rows else next(streams[number], None)
            if rest is None:
                del heads[number]
            else:
                heads[number] = rest
        yield from _sort_batches(parts).to_batches(max_chunksize=SORTED_BATCH_EVENTS)


def _read_clock(batch: pa.RecordBatch) -> np.ndarray[Any, Any]:
    clock_ms: np.ndarray[Any, Any] = batch.column(CLOCK_COLUMN).to_numpy()
    return clock_ms
