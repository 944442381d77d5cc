"""The bytes that events take on disk, measured by encoding and compressing their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import (
    LATEST,
    BlockCell,
    compute_cell_bytes,
    encode_block,
    find_compressor,
    split_blocks,
)
from rowkey.rows import build_cell_blocks
from rowkey.workload.write_pattern import DEFAULT_EVENTS_PER_S, WritePattern

if TYPE_CHECKING:
    from rowkey.cells import CellBlock, Family
    from rowkey.rows import Layout

MAX_MEASURED_ROWS, MAX_MEASURED_BYTES = 4_096, 1 << 24
"""Events of a sample that are measured, and their bytes. Four times as many gave the same within
4 % on 26 recordings."""
STRETCH_COUNT = 16
"""Stretches of neighbouring rows that are measured where that is not all of them."""
FIRST_WRITE_MS = 1_700_000_000_000
"""Timestamp of the first cell; those of others follow at the rate of the writes."""


@dataclass(frozen=True, slots=True)
class FamilySize:
    """The mean bytes that an event adds to one family.

    Args:
        plain_bytes: as KeyValues, before encoding and compression.
        disk_bytes: in the blocks of one copy of a file, encoded and compressed.
        is_compressed: whether the family's codec was there to measure; if not, compression is left
            out.
    """

    plain_bytes: float
    disk_bytes: float
    is_compressed: bool


@dataclass(frozen=True, slots=True)
class SampledEvents:
    """A uniform sample of events with the row keys and numbers that a replay gave them.

    Args:
        rows: the events in the order of arrival, a column for each field that is there.
        keys: the row key of each.
        salts: the random salt of each; None if the key has none.
        positions: the number of each among all events.
    """

    rows: pa.RecordBatch
    keys: Sequence[bytes]
    salts: np.ndarray[Any, Any] | None
    positions: np.ndarray[Any, Any]


def measure_family_sizes(
    layout: Layout, families: Mapping[str, Family], writes: WritePattern, events: SampledEvents
) -> dict[str, FamilySize]:
    """Measure the bytes that an event adds to each family, in blocks as HBase writes them.

    Of many events 16 stretches of neighbouring rows are measured. Cells have the timestamps that
    they would get at the rate of the writes; of equal cells as many stay as the family keeps.

    Args:
        layout: where the fields live.
        families: how blocks are encoded and compressed.
        writes: how events come.
        events: a sample of them.

    Raises:
        RowError: an event is no row of the layout, or nothing of it would be written.

    Cost: 5 to 20 µs a cell, of 4,096 events at most.
    """
    chosen = _choose_rows(events)
    rate = writes.rate or DEFAULT_EVENTS_PER_S
    times = (FIRST_WRITE_MS + events.positions[chosen] * 1_000 / rate).astype("int64").tolist()
    salts = None if events.salts is None else events.salts[chosen]
    cells: dict[str, list[BlockCell]] = {}
    for block in build_cell_blocks(layout, events.rows.take(chosen), salts=salts):
        cells.setdefault(block.family, []).extend(_list_cells(block, times))
    return {
        name: _measure_family(families[name], listed, len(chosen)) for name, listed in cells.items()
    }


def _choose_rows(events: SampledEvents) -> np.ndarray[Any, Any]:
    """Return the indexes of the rows to measure, in key order: all, or stretches of them."""
    order: np.ndarray[Any, Any] = pc.sort_indices(pa.array(events.keys, pa.binary())).to_numpy()
    row_bytes = events.rows.nbytes / max(len(order), 1)
    count = min(MAX_MEASURED_ROWS, max(int(MAX_MEASURED_BYTES / max(row_bytes, 1)), STRETCH_COUNT))
    if len(order) <= count:
        return order
    length = count // STRETCH_COUNT
    starts = np.linspace(0, len(order) - length, STRETCH_COUNT).astype(np.int64)
    return np.concatenate([order[start : start + length] for start in starts])


def _list_cells(block: CellBlock, times: Sequence[int]) -> Iterator[BlockCell]:
    """Yield the cells of one column; those without a timestamp of their own get a given one."""
    qualifiers, stamps = block.qualifiers, block.timestamps
    names = [qualifiers] * len(times) if isinstance(qualifiers, bytes) else qualifiers.to_pylist()
    if not isinstance(stamps, int):
        times = stamps.tolist()
    elif stamps != LATEST:
        times = [stamps] * len(times)
    columns = block.rows.to_pylist(), names, times, block.values.to_pylist()
    for row, name, time, value in zip(*columns, strict=True):
        if value is not None:
            yield BlockCell(row, name, max(time, 0), value)


def _measure_family(family: Family, cells: list[BlockCell], event_count: int) -> FamilySize:
    """Return the bytes of an event in one family, from all cells of some events."""
    name = family.name.encode()
    codec = family.compression_compact or family.compression
    compress = find_compressor(codec)
    cells.sort(key=itemgetter(2), reverse=True)
    cells.sort(key=itemgetter(0, 1))
    kept = list(_drop_old_versions(cells, family.versions))
    disk_bytes = 0
    for some in split_blocks(kept, name, family.block_size):
        block = encode_block(some, name, family.encoding)
        disk_bytes += len(block if compress is None else compress(block))
    plain_bytes = _sum_plain_bytes(cells, len(name)) / max(event_count, 1)
    ratio = disk_bytes / max(_sum_plain_bytes(kept, len(name)), 1)
    return FamilySize(plain_bytes, plain_bytes * ratio, compress is not None)


def _drop_old_versions(cells: Sequence[BlockCell], versions: int) -> Iterator[BlockCell]:
    """Yield sorted cells without those that a compaction removes."""
    last_row, last_qualifier, count, last_time = b"", b"", 0, -1
    for cell in cells:
        row, qualifier, time, _ = cell
        if row != last_row or qualifier != last_qualifier:
            last_row, last_qualifier, count, last_time = row, qualifier, 0, -1
        if time != last_time and count < versions:
            count, last_time = count + 1, time
            yield cell


def _sum_plain_bytes(cells: Sequence[BlockCell], family_bytes: int) -> int:
    """Return the bytes of some cells as KeyValues."""
    fixed_bytes = compute_cell_bytes(0, family_bytes, 0, 0)
    variable_bytes = sum(
        [len(row) + len(qualifier) + len(value) for row, qualifier, _, value in cells]
    )
    return fixed_bytes * len(cells) + variable_bytes
