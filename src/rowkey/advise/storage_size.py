"""Measures the stored bytes of a design's keys and cells, and the time to make a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import RowError
from rowkey.keys import Key
from rowkey.workload import Reservoir, measure_stored_bytes

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.simulate import EventSource

TIMED_ROWS = 2_000
"""Rows of which keys are made by the clock."""
TIMING_ROUNDS = 7
"""Times each design makes them; the least counts, for whatever disturbs only adds."""


def _list_rows(design: Design, batch: pa.RecordBatch) -> list[Mapping[str, Any]]:
    """Return the rows of a batch as a program would put them, their times as counts."""
    from rowkey.keys import ColumnBatch

    names = [name for name in batch.schema.names if name in design.key.fields]
    fields = [design.fields[name] for name in names]
    return list(ColumnBatch.from_batch(batch.select(names), fields).iterate_rows(names))


class StorageSize:
    """The stored bytes of the replayed events under one design.

    Args:
        design: the design.
        source: its events, with all fields that the sample has; bytes are told from widths where it
            lacks one.
        seed: where the choice of rows to time, and of their salts, begins.
    """

    def __init__(self, design: Design, source: EventSource, *, seed: int) -> None:
        self.design = design
        self.source = source
        self.is_measured = source.has_all_fields
        self.key_bytes = 0
        self._stored_bytes = 0
        reservoir = Reservoir(TIMED_ROWS, seed)
        for events in source.read_replayed_events():
            reservoir.offer(events.rows)
            self._add_rows(events.rows)
        self.rows = _list_rows(design, reservoir.collect_rows())
        salts = design.key.draw_salts(len(self.rows), np.random.default_rng(seed))
        self.salts: Sequence[int | None] = (
            [None] * len(self.rows) if salts is None else salts.tolist()
        )

    def _add_rows(self, rows: pa.RecordBatch) -> None:
        """Add the key and cell bytes of some rows to the sums."""
        salts = np.zeros(rows.num_rows, np.int64)
        keys = self.design.key.encode_batch(rows, salts=salts)
        self.key_bytes += int(pc.sum(pc.binary_length(keys)).as_py() or 0)
        if self.is_measured:
            try:
                self._stored_bytes += measure_stored_bytes(self.design.layout, rows)
            except RowError:
                self.is_measured = False

    def compute_event_bytes(self, *, is_measured: bool) -> float:
        """Return the bytes that all events together add to a store.

        Args:
            is_measured: whether they are counted rather than estimated from the widths of the
                fields.
        """
        if is_measured:
            return float(self._stored_bytes)
        mean = self.key_bytes / max(self.source.replayed_count, 1)
        # Of a field that no event has nothing is known, not that it is always null.
        facts = {name: one for name, one in self.source.facts.items() if one.null_share < 1}
        return self.design.layout.estimate_event_bytes(mean, facts) * self.source.replayed_count


def time_encoding(
    sizes: Sequence[StorageSize], clock: Callable[[], float] | None
) -> list[float | None]:
    """Measure the microseconds that each design needs to encode one row key.

    Designs take turns, so that a disturbance affects all of them; equal keys are timed once.

    Args:
        sizes: the designs with rows of the sample.
        clock: gives seconds, as `time.perf_counter` does; nothing is timed if None.
    """
    if clock is None:
        return [None] * len(sizes)
    sizes_by_key = {_build_key_identity(one.design.key): one for one in sizes}
    min_times_us: dict[Any, float] = {}
    for _ in range(TIMING_ROUNDS):
        for key_identity, one in sizes_by_key.items():
            min_times_us[key_identity] = min(
                min_times_us.get(key_identity, float("inf")), _time_round(one, clock)
            )
    return [min_times_us[_build_key_identity(one.design.key)] for one in sizes]


def _time_round(size: StorageSize, clock: Callable[[], float]) -> float:
    """Measure the mean microseconds to encode each row key once."""
    encode = size.design.key.encode
    started = clock()
    for row, salt in zip(size.rows, size.salts, strict=True):
        encode(row, salt=salt)
    return (clock() - started) * 1e6 / max(len(size.rows), 1)


def _build_key_identity(key: Key) -> tuple[Any, ...]:
    """Return a value that is equal for equal key definitions."""
    return str(key), *(repr(field) for field in key.fields.values())
