"""Replays events on regions block by block and counts the operations."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.hotspots import (
    WINDOW_WIDTHS_S,
    EqualCountWindows,
    LoadMap,
    Placements,
    RegionCounts,
    WindowCounts,
)
from rowkey.keys import (
    ColumnBatch,
    FixedByteColumn,
    Key,
    compute_row_fingerprints,
    find_leading_parts,
    find_only_field,
)
from rowkey.regions import Boundaries, locate_fixed_keys, locate_keys
from rowkey.workload import (
    RESERVOIR_CAPACITY,
    DistinctCounter,
    EventBatch,
    Reservoir,
    build_bit_generator,
)

BLOCK_EVENTS = 1 << 15
"""Events replayed at a time: their bytes stay in cache from one step to the next."""
MAX_KEPT_KEY_BYTES = 1 << 26
"""Bytes of the row keys of events that are kept: for keys of up to 512 bytes that is no limit."""
MAX_SPLIT_KEY_BYTES = 1 << 28
"""Bytes of the row keys from which split points are taken."""


SALT_COLUMN = "\0salt"
"""The column of sampled rows that holds their random salts; no field can have this name."""


class Replay:
    """Counts in which regions and windows events land; parts of a stream can be merged.

    Memory does not grow with the events: windows, the load map and the sample have bounded size.
    Random choices follow from the seed and the number of each event alone.

    Args:
        boundaries: where its regions begin.
        expected_events: how many events the whole stream has.
        seed: where randomness begins.
        first_event: the number of the first event that will be added, from 0.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        expected_events: int,
        seed: int,
        first_event: int = 0,
    ) -> None:
        self.design = design
        self.boundaries = boundaries
        self.seed = seed
        self.first_event = first_event
        regions = len(boundaries)
        self.placements = Placements(regions, design.cluster.servers, seed)
        is_first = first_event == 0
        self.windows = [
            WindowCounts(width, self.placements, is_first=is_first) for width in WINDOW_WIDTHS_S
        ]
        self.load_map = LoadMap(regions)
        self.equal_windows = EqualCountWindows(expected_events, regions, first_event=first_event)
        self.writes = np.zeros(regions, np.int64)
        capacity = min(RESERVOIR_CAPACITY, _compute_max_keys(design, MAX_KEPT_KEY_BYTES))
        self.reservoir = Reservoir(capacity, seed, first_event)
        self.row_counter = DistinctCounter()
        self.operation_count = 0
        self.has_times = False
        self._salt_bits = build_bit_generator("salt", seed, first_event)
        self._leading_parts = find_leading_parts(design.key, boundaries.longest_split_bytes)
        self._last_columns: ColumnBatch | None = None

    def add(self, events: EventBatch, salts: np.ndarray[Any, Any] | None = None) -> None:
        """Replay the next events of the stream.

        Args:
            salts: the random salt of each, where the key has one; drawn if None.
        """
        rows = events.rows
        if self.design.key.is_salted:
            if salts is None:
                salts = draw_salts(self.design.key, len(events), self._salt_bits)
            rows = rows.append_column(SALT_COLUMN, pa.array(salts))
        self.reservoir.offer(rows)
        columns = self.design.key.build_columns(
            events.rows, salts=salts, previous=self._last_columns
        )
        self._last_columns = columns
        for start in range(0, len(events), BLOCK_EVENTS):
            stop = min(start + BLOCK_EVENTS, len(events))
            clock = None if events.clock_ms is None else events.clock_ms[start:stop]
            self._count_block(columns.slice(start, stop), clock)

    def count_rows(self, events: EventBatch) -> None:
        """Count the rows of further events of the stream, which are not replayed."""
        fields = list(self.design.key.fields.values())
        columns = ColumnBatch.from_batch(events.rows, fields, self._last_columns)
        self._last_columns = columns
        for start in range(0, len(events), BLOCK_EVENTS):
            block = columns.slice(start, min(start + BLOCK_EVENTS, len(events)))
            self.row_counter.add(compute_row_fingerprints(self.design.key, block))

    def merge(self, later: Replay) -> None:
        """Add the counts of a later part of the same stream of events.

        Raises:
            InvalidArgument: it is no later part, or of another design.
        """
        if later.first_event <= self.first_event or later.boundaries != self.boundaries:
            what = (
                f"a part that begins at event {later.first_event:,} cannot follow a part that "
                f"begins at event {self.first_event:,}"
            )
            allowed = "a later part of the replay of the same design"
            raise InvalidArgument("later", what, allowed, "Merge the parts in their order.")
        for window, later_window in zip(self.windows, later.windows, strict=True):
            window.merge(later_window)
        self.load_map.merge(later.load_map)
        self.equal_windows.merge(later.equal_windows)
        self.writes += later.writes
        self.reservoir.merge(later.reservoir)
        self.row_counter.merge(later.row_counter)
        self.operation_count += later.operation_count
        self.has_times = self.has_times or later.has_times

    @property
    def sampled_rows(self) -> pa.RecordBatch:
        """Return a uniform sample of the events, in the order of arrival."""
        rows = self.reservoir.collect_rows()
        return rows.drop_columns([SALT_COLUMN]) if SALT_COLUMN in rows.schema.names else rows

    @property
    def sampled_salts(self) -> np.ndarray[Any, Any] | None:
        """Return the random salt of each sampled event; None if the key has none."""
        rows = self.reservoir.collect_rows()
        if SALT_COLUMN not in rows.schema.names:
            return None
        salts: np.ndarray[Any, Any] = rows.column(SALT_COLUMN).to_numpy()
        return salts

    def _count_block(self, columns: ColumnBatch, clock_ms: np.ndarray[Any, Any] | None) -> None:
        """Count a block of rows by region, window and row."""
        regions = self._locate_rows(columns)
        found = np.bincount(regions, minlength=len(self.writes))
        self.writes += found
        self.equal_windows.add(regions)
        self.operation_count += len(regions)
        self.row_counter.add(compute_row_fingerprints(self.design.key, columns))
        if clock_ms is not None:
            self.has_times = True
            counts = RegionCounts.from_events(clock_ms // 1_000, regions, len(self.writes))
            self.load_map.add(counts)
            width_s = 1
            for window in self.windows:
                counts, width_s = window.add(counts, width_s), window.width_s

    def _locate_rows(self, columns: ColumnBatch) -> np.ndarray[Any, Any]:
        """Return the region of each row."""
        if len(self.boundaries) == 1:
            return np.zeros(len(columns), np.int32)
        field = find_only_field(self._leading_parts)
        if field is not None and columns.has_codes(field):
            places = columns.compute_per_value(field, (self, "regions"), self._locate_columns)
            located: np.ndarray[Any, Any] = places.take(columns.columns[field].codes)
            return located
        return self._locate_columns(columns)

    def _locate_columns(self, columns: ColumnBatch) -> np.ndarray[Any, Any]:
        """Return the region of each row, given as columns of fields."""
        lead = self.design.key.encode_parts(columns, self._leading_parts)
        if isinstance(lead, FixedByteColumn):
            return locate_fixed_keys(self.boundaries, lead.to_matrix())
        spans = lead.to_sliced().to_packed()
        offsets = np.concatenate([spans.starts, [len(spans.data)]])
        return locate_keys(self.boundaries, spans.data, offsets)


def sample_keys(design: Design, events: Any, capacity: int, seed: int) -> list[bytes]:
    """Return the row keys of a random sample of events, ascending.

    Args:
        events: the stream.
        capacity: keys kept; all if there are fewer.
        seed: where randomness begins.
    """
    reservoir = Reservoir(min(capacity, _compute_max_keys(design, MAX_SPLIT_KEY_BYTES)), seed)
    for batch in events:
        reservoir.offer(batch.rows)
    rows = reservoir.collect_rows()
    salts = draw_salts(design.key, rows.num_rows, build_bit_generator("split salt", seed))
    return sorted(encode_keys(design, rows, salts))


def draw_salts(key: Key, count: int, bits: np.random.PCG64) -> np.ndarray[Any, Any] | None:
    """Draw a random salt for each of some rows; None if the key has no salt.

    Args:
        count: how many rows.
        bits: where randomness comes from.
    """
    if not key.is_salted:
        return None
    drawn: np.ndarray[Any, Any] = np.asarray(bits.random_raw(count), np.uint64)
    return (drawn % np.uint64(key.salt_count)).astype(np.int64)


def _compute_max_keys(design: Design, max_bytes: int) -> int:
    """Return how many row keys fit into a number of bytes."""
    return max(max_bytes // max(design.key.min_bytes, 1), 1)


def encode_keys(
    design: Design, rows: Any, salts: np.ndarray[Any, Any] | None = None
) -> list[bytes]:
    """Return the row key of each row, in order.

    Args:
        salts: the random salt of each, where the key has one.
    """
    if not rows.num_rows:
        return []
    keys: list[bytes] = design.key.encode_valid_batch(rows, salts=salts).to_pylist()
    return keys
