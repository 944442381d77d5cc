"""A uniform sample of a stream of events, of bounded size, whatever the stream's length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import chance_for

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

ROOM = 1 << 17
"""Events kept: shares are then known to about a quarter of a percent."""
MOST_BYTES = 1 << 27
"""Bytes of events from which fewer are kept: events of up to 512 bytes never are fewer for it."""


class Reservoir:
    """Keeps `room` events of all that were offered, each equally likely to be kept.

    Every event gets a random number; those with the smallest are kept. While all fit, all are
    kept, and what is counted from them is exact.

    Args:
        room: events kept.
        seed: where randomness begins.

    Cost: about 0.1 ns an event once the reservoir is full.
    """

    def __init__(self, room: int = ROOM, seed: int = 0) -> None:
        self.room = room
        self.seen = 0
        self._chance = chance_for("sample", seed)
        self._limit = 1.0
        self._batches: list[Any] = []
        self._tags: list[np.ndarray[Any, Any]] = []
        self._numbers: list[np.ndarray[Any, Any]] = []
        self._held = 0
        self._bytes = 0

    @property
    def is_exact(self) -> bool:
        """Whether every event offered is kept."""
        return self.seen <= self.room

    @property
    def scale(self) -> float:
        """How many events each kept one stands for."""
        return self.seen / max(min(self.seen, self.room), 1)

    def offer(self, rows: pa.RecordBatch) -> None:
        """Look at the next events."""
        import numpy as np

        count = rows.num_rows
        if self._limit == 1.0:
            chosen = np.arange(count)
        else:
            accepted = int(self._chance.binomial(count, self._limit))
            chosen = np.sort(self._chance.choice(count, accepted, replace=False))
        if len(chosen):
            self._batches.append(_plain(rows, chosen))
            self._bytes += self._batches[-1].nbytes
            self._tags.append(self._chance.random(len(chosen)) * self._limit)
            self._numbers.append(chosen + self.seen)
            self._held += len(chosen)
        self.seen += count
        if self._held > 2 * self.room or self._bytes > MOST_BYTES:
            self._shrink()

    def _shrink(self) -> None:
        """Keep the events with the smallest numbers."""
        import numpy as np

        if self._bytes > MOST_BYTES:
            self.room = min(self.room, max(self._held * (MOST_BYTES // 2) // self._bytes, 1))
        tags = np.concatenate(self._tags)
        kept = np.sort(np.argpartition(tags, self.room - 1)[: self.room])
        self._limit = float(tags[kept].max())
        rows = self._together()
        self._batches = [_plain(rows, kept)]
        self._tags = [tags[kept]]
        self._numbers = [np.concatenate(self._numbers)[kept]]
        self._held, self._bytes = len(kept), self._batches[0].nbytes

    def _together(self) -> pa.RecordBatch:
        import pyarrow as pa

        table = pa.Table.from_batches(self._batches).combine_chunks()
        return table.to_batches()[0] if table.num_rows else table.schema.empty_table()

    def rows(self) -> pa.RecordBatch:
        """The kept events in the order in which they came."""
        import pyarrow as pa

        if self._held > self.room:
            self._shrink()
        return self._together() if self._batches else pa.record_batch({})

    def numbers(self) -> np.ndarray[Any, Any]:
        """The position of each kept event among all, from 0, ascending."""
        import numpy as np

        if self._held > self.room:
            self._shrink()
        return np.concatenate(self._numbers) if self._numbers else np.empty(0, np.int64)


def _plain(rows: pa.RecordBatch, chosen: np.ndarray[Any, Any]) -> pa.RecordBatch:
    """Some rows, dictionaries resolved, so that batches can stand together."""
    import pyarrow as pa

    taken = rows.take(pa.array(chosen))
    arrays = [
        column.cast(column.type.value_type)
        if isinstance(column.type, pa.DictionaryType)
        else column
        for column in taken.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)
