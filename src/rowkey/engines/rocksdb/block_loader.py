"""Writes many puts from Arrow columns: all keys are composed at once and written in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, cycle, repeat, starmap
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import (
    LATEST,
    MAX_CELL_BYTES,
    MAX_ROW_BYTES,
    Cell,
    CellBlock,
    RowCells,
    check_families,
    check_mutation,
    check_row,
    check_timestamp,
    compute_cell_bytes,
)
from rowkey.engines.cell_blocks import check_block_rows, check_row_count, to_row_cells
from rowkey.engines.pairs.cell_columns import build_keys, escape_array, wrap_values
from rowkey.engines.rocksdb.open_table import OpenTable
from rowkey.errors import InvalidArgument

BATCH_ROWS = 8_192
"""Rows of a batch: each batch is written whole or not at all."""


def load_blocks(table: OpenTable, blocks: Sequence[CellBlock]) -> None:
    """Write blocks of puts for the same rows to a table, in batches of whole rows.

    After a crash the table has the first rows of the blocks, each whole. See `Store.load_blocks`.

    Raises:
        InvalidArgument: a block is invalid; nothing was written.

    Cost: about 0.2 µs a cell, without the time of RocksDB.
    """
    if not blocks:
        return
    rows = _to_binary_array("rows", blocks[0].rows)
    _check_rows(rows, blocks)
    now = table.row_clock.read_time_ms()
    columns = [_build_column(table, block, rows, now) for block in blocks]
    if _has_shared_columns(columns):
        row_cells = to_row_cells([column.to_block(rows) for column in columns])
        with table.lock:
            table.write_rows(row_cells)
        return
    for start in range(0, len(rows), BATCH_ROWS):
        with table.lock:
            _write_batch(
                table,
                rows.slice(start, BATCH_ROWS),
                [column.slice_batch(start) for column in columns],
            )


def _has_shared_columns(columns: Sequence[_LoadColumn]) -> bool:
    """Return whether two blocks may write the same column, so that rows go one by one."""
    names = [(column.family, column.qualifiers) for column in columns]
    return any(
        family == other
        and not (isinstance(first, bytes) and isinstance(second, bytes) and first != second)
        for (family, first), (other, second) in combinations(names, 2)
    )


@dataclass(frozen=True, slots=True)
class _LoadColumn:
    """A checked block of puts, with its timestamps resolved."""

    family: str
    qualifiers: Any
    values: Any
    timestamps: Any

    def slice_batch(self, start: int) -> _LoadColumn:
        """Return the puts of the batch that starts at row `start`."""
        qualifiers, timestamps = self.qualifiers, self.timestamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.slice(start, BATCH_ROWS)
        if not isinstance(timestamps, int):
            timestamps = timestamps[start : start + BATCH_ROWS]
        return _LoadColumn(
            self.family, qualifiers, self.values.slice(start, BATCH_ROWS), timestamps
        )

    def take_rows(self, order: Any) -> _LoadColumn:
        """Return the puts of the given rows, in their order."""
        qualifiers, timestamps = self.qualifiers, self.timestamps
        if not isinstance(qualifiers, bytes):
            qualifiers = qualifiers.take(order)
        if not isinstance(timestamps, int):
            timestamps = timestamps[order.to_numpy()]
        return _LoadColumn(self.family, qualifiers, self.values.take(order), timestamps)

    def to_block(self, rows: Any) -> CellBlock:
        """Convert the column back to a block, with its timestamps resolved."""
        stamps = self.timestamps if isinstance(self.timestamps, int) else pa.array(self.timestamps)
        return CellBlock(rows, self.family, self.qualifiers, self.values, stamps)

    def estimate_size_bytes(self, rows: Any) -> int:
        """Return the estimated bytes of the cells, from the mean length of the row keys."""
        count: int = len(self.values) - self.values.null_count
        fixed: int = compute_cell_bytes(0, len(self.family), 0, 0) + _sum_lengths(rows) // len(rows)
        if isinstance(self.qualifiers, bytes):
            return count * (fixed + len(self.qualifiers)) + _sum_lengths(self.values)
        return count * fixed + _sum_lengths(self.qualifiers) + _sum_lengths(self.values)


def _sum_lengths(array: Any) -> int:
    """Return the total bytes of the elements of an Arrow binary array."""
    return int(pc.sum(pc.binary_length(array)).as_py() or 0)


def _write_batch(table: OpenTable, rows: Any, columns: Sequence[_LoadColumn]) -> None:
    """Write the puts of some rows in one batch; the caller holds the table's lock."""
    table.check_open()
    batch = table.database.start_batch()
    # RocksDB inserts a key much faster next to the key before it. The sort is stable: of equal
    # rows the last one is written last.
    order = pc.sort_indices(rows)
    rows, columns = rows.take(order), [column.take_rows(order) for column in columns]
    escaped = escape_array(rows)
    keys = [build_keys(escaped, column.qualifiers, column.timestamps) for column in columns]
    stored = [wrap_values(column.values) for column in columns]
    handles = [table.database.family_handles[column.family] for column in columns]
    puts: Iterable[Any] = zip(
        _interleave_columns(keys), _interleave_columns(stored), cycle(handles)
    )
    if any(column.values.null_count for column in columns):
        puts = (put for put in puts if put[1] is not None)
    deque(starmap(batch.put, puts), maxlen=0)
    size = sum(column.estimate_size_bytes(rows) for column in columns)
    table.commit_batch(batch, table.region_tracker.measure_array_writes(rows, size))


def _interleave_columns(columns: list[list[Any]]) -> Iterable[Any]:
    """Yield the elements of several lists row by row."""
    return columns[0] if len(columns) == 1 else chain.from_iterable(zip(*columns, strict=True))


def _to_binary_array(path: str, value: Any) -> Any:
    """Convert an Arrow array to one array of the type binary.

    Raises:
        InvalidArgument: its elements cannot be converted to bytes.
    """
    try:
        array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
        return array if array.type == pa.binary() else array.cast(pa.binary())
    except (AttributeError, pa.ArrowException) as problem:
        type_name = getattr(value, "type", type(value).__name__)
        what = f"the array has the type {type_name}, which cannot be converted to bytes"
        raise InvalidArgument(path, what, "an Arrow array of binary") from problem


def _check_rows(rows: Any, blocks: Sequence[CellBlock]) -> None:
    """Raise InvalidArgument if the row keys of the blocks are invalid or differ."""
    check_block_rows(rows, blocks)
    lengths = pc.binary_length(rows)
    is_invalid = pc.or_(pc.less(lengths, 1), pc.greater(lengths, MAX_ROW_BYTES))
    for row in rows.filter(is_invalid).slice(0, 1).to_pylist():
        check_row(row)


def _build_column(table: OpenTable, block: CellBlock, rows: Any, now: int) -> _LoadColumn:
    """Check a block of puts, and resolve its timestamps.

    Raises:
        InvalidArgument: the family is unknown, or a column has a wrong type, length or value.
    """
    check_families([block.family], table.families)
    values = _to_binary_array("values", block.values)
    check_row_count("values", values, len(rows))
    qualifiers = block.qualifiers
    if not isinstance(qualifiers, bytes):
        qualifiers = _to_binary_array("qualifiers", qualifiers)
        check_row_count("qualifiers", qualifiers, len(rows))
        if qualifiers.null_count:
            what = f"{qualifiers.null_count:,} of {len(qualifiers):,} qualifiers are null"
            raise InvalidArgument("qualifiers", what, "a qualifier for each row")
    _check_sizes(rows, block.family, qualifiers, values)
    return _LoadColumn(
        block.family, qualifiers, values, _resolve_timestamps(block.timestamps, rows, now)
    )


def _check_sizes(rows: Any, family: str, qualifiers: Any, values: Any) -> None:
    """Raise InvalidArgument for the first cell that is too large."""

    def find_max_bytes(array: Any) -> int:
        return pc.max(pc.binary_length(array)).as_py() or 0

    widest = len(qualifiers) if isinstance(qualifiers, bytes) else find_max_bytes(qualifiers)
    if (
        compute_cell_bytes(0, 0, 0, 0) + 64 + find_max_bytes(rows) + widest + find_max_bytes(values)
        <= MAX_CELL_BYTES
    ):
        return
    names = repeat(qualifiers) if isinstance(qualifiers, bytes) else qualifiers.to_pylist()
    for row, qualifier, value in zip(rows.to_pylist(), names, values.to_pylist(), strict=False):
        if value is not None:
            check_mutation(RowCells(row, [Cell(family, qualifier, 0, value)]), (family,))


def _resolve_timestamps(timestamps: Any, rows: Any, now: int) -> Any:
    """Return one timestamp for all rows or an int64 array, with `LATEST` replaced by now.

    Raises:
        InvalidArgument: they are not int64, one is null, or there are more or fewer than rows.
    """
    if isinstance(timestamps, int):
        check_timestamp(timestamps)
        return now if timestamps == LATEST else timestamps
    check_row_count("timestamps", timestamps, len(rows))
    if getattr(timestamps, "null_count", 0):
        what = f"{timestamps.null_count:,} of {len(timestamps):,} timestamps are null"
        raise InvalidArgument("timestamps", what, "milliseconds for each row")
    stamps = np.asarray(timestamps)
    if stamps.dtype != np.int64:
        what = f"the timestamps have the type {stamps.dtype}"
        raise InvalidArgument("timestamps", what, "milliseconds as int64")
    if len(stamps):
        check_timestamp(int(stamps.min()))
    return np.where(stamps == LATEST, now, stamps)
