"""A uniform sample, of bounded size, of a stream of events."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.workload.contract import build_bit_generator

RESERVOIR_CAPACITY = 1 << 17
"""Events kept: shares are then known to about a quarter of a percent."""
MAX_HELD_BYTES = 1 << 26
"""Bytes of the values of kept events: events of up to 512 bytes never are fewer for it."""


class Reservoir:
    """A uniform random sample of `capacity` events from a stream of events.

    Every event has a random number, which follows from the seed and its number in the stream;
    those with the smallest are kept, up to a limit of bytes. While all fit, all are kept,
    and what is counted from them is exact. So reservoirs of the parts of a stream merge to that of
    the whole.

    Args:
        capacity: events kept.
        seed: where randomness begins.
        first_event: the number of the first event that will be offered, from 0.

    Cost: about 3 ns an event once the reservoir is full.
    """

    def __init__(
        self, capacity: int = RESERVOIR_CAPACITY, seed: int = 0, first_event: int = 0
    ) -> None:
        self.capacity = capacity
        self.event_count = 0
        self._next_event = first_event
        self._random = build_bit_generator("sample", seed, first_event)
        self._tag_limit: int | None = None
        self._batches: list[pa.RecordBatch] = []
        self._tags: list[np.ndarray[Any, Any]] = []
        self._positions: list[np.ndarray[Any, Any]] = []
        self._held_count = 0
        self._held_bytes = 0

    @property
    def is_exact(self) -> bool:
        """Return whether every offered event is kept."""
        self._shrink_to_fit()
        return self._held_count == self.event_count

    def offer(self, rows: pa.RecordBatch) -> None:
        """Offer the next events, some of which are kept."""
        count = rows.num_rows
        if not count:
            return
        tags = self._random.random_raw(count)
        positions = np.arange(self._next_event, self._next_event + count)
        self.event_count += count
        self._next_event += count
        if self._tag_limit is not None:
            chosen = np.flatnonzero(tags < np.uint64(self._tag_limit))
            rows, tags, positions = rows.take(chosen), tags[chosen], positions[chosen]
        self._append(decode_rows(rows), tags, positions)

    def merge(self, other: Reservoir) -> None:
        """Add the kept events of another part of the stream, as if they had been offered here."""
        self.event_count += other.event_count
        self._next_event = max(self._next_event, other._next_event)
        limits = [one for one in (self._tag_limit, other._tag_limit) if one is not None]
        self._tag_limit = min(limits, default=None)
        for batch, tags, positions in zip(
            other._batches, other._tags, other._positions, strict=True
        ):
            self._append(batch, tags, positions)
        self._shrink_to_fit()

    def _append(
        self,
        rows: pa.RecordBatch,
        tags: np.ndarray[Any, Any],
        positions: np.ndarray[Any, Any],
    ) -> None:
        """Keep rows with their random tags and their positions in the stream."""
        if not rows.num_rows:
            return
        self._batches.append(rows)
        self._tags.append(tags)
        self._positions.append(positions)
        self._held_count += rows.num_rows
        self._held_bytes += rows.nbytes
        if self._held_count > 2 * self.capacity or self._held_bytes > 2 * MAX_HELD_BYTES:
            self._shrink_to_fit()

    def _shrink_to_fit(self) -> None:
        """Keep at most `capacity` events, those with the smallest tags."""
        if self._held_count <= self.capacity and self._held_bytes <= MAX_HELD_BYTES:
            return
        tags = np.concatenate(self._tags)
        if self._held_count > self.capacity:
            self._drop_above(int(np.partition(tags, self.capacity - 1)[self.capacity - 1]))
        if self._held_bytes > MAX_HELD_BYTES:
            tags = np.concatenate(self._tags)
            order = np.argsort(tags)
            sizes = np.concatenate([_measure_rows(batch) for batch in self._batches])
            fitting = int(np.searchsorted(np.cumsum(sizes[order]), MAX_HELD_BYTES, "right"))
            if fitting < len(tags):
                self._drop_above(int(tags[order[max(fitting - 1, 0)]]))
            self._held_bytes = min(self._held_bytes, MAX_HELD_BYTES)

    def _drop_above(self, highest_tag: int) -> None:
        """Drop the events whose tags are above a limit."""
        self._tag_limit = highest_tag + 1
        for at, tags in enumerate(self._tags):
            indexes = np.flatnonzero(tags <= np.uint64(highest_tag))
            if len(indexes) < len(tags):
                self._batches[at] = self._batches[at].take(indexes)
                self._tags[at], self._positions[at] = tags[indexes], self._positions[at][indexes]
        self._held_count = sum(map(len, self._tags))
        self._held_bytes = sum(batch.nbytes for batch in self._batches)

    def _combine_batches(self) -> pa.RecordBatch:
        table = pa.Table.from_batches(self._batches).combine_chunks()
        return table.to_batches()[0] if table.num_rows else table.schema.empty_table()

    def collect_rows(self) -> pa.RecordBatch:
        """Return the kept events in the order of their numbers."""
        self._shrink_to_fit()
        if not self._batches:
            return pa.record_batch({})
        positions = np.concatenate(self._positions)
        rows = self._combine_batches()
        is_ordered = bool((positions[1:] > positions[:-1]).all())
        return rows if is_ordered else rows.take(np.argsort(positions))

    def collect_positions(self) -> np.ndarray[Any, Any]:
        """Return the number of each kept event among all, from 0, ascending."""
        self._shrink_to_fit()
        if not self._positions:
            return np.empty(0, np.int64)
        return np.sort(np.concatenate(self._positions))


def decode_rows(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with their dictionaries resolved, so that batches can stand together."""
    arrays = [
        column.cast(column.type.value_type)
        if isinstance(column.type, pa.DictionaryType)
        else column
        for column in rows.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)


def _measure_rows(rows: pa.RecordBatch) -> np.ndarray[Any, Any]:
    """Return the bytes that the values of each row take."""
    sizes = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            sizes += pc.binary_length(column).fill_null(0).to_numpy(zero_copy_only=False)
        elif not pa.types.is_null(column.type):
            sizes += column.type.bit_width // 8
    return sizes
