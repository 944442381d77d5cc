"""Write many rows at once: Arrow columns as blocks of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.cells import Cell, CellBlock, CellType, RowCells
from rowkey.design import Design, is_index
from rowkey.engines import CellSelection
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import add_row_number, validate_batch
from rowkey.open_file_limit import explain_shortage
from rowkey.rows import build_cell_blocks
from rowkey.table.joint_writes import WritableTable, WriteState
from rowkey.table.row_writer import to_row_error
from rowkey.workload import (
    DistinctCounter,
    convert_rows,
    read_arrow_rows,
    require_time_units,
)

BLOCK_ROWS = 16_384
"""Rows that are encoded together: their columns stay in the processor's cache."""


@explain_shortage
def load_blocks(table: WritableTable, rows: Any) -> int:
    """Put the rows of a table in memory by blocks; return how many.

    Args:
        table: the table that is written.
        rows: columns named as the fields, in an object that has an Arrow C interface.

    Raises:
        RowError: a value is not valid for its field; the message has the number of the row, from
            0. Rows before it are written, rows after it are not.
    """
    first = 0
    for batch in read_arrow_rows(rows, table.get_write_state().active_design.fields):
        validate_batch(batch, first)
        for some in split_blocks(batch):
            for index, problem in write_block(table, some, _put_converted_block, max_errors=1):
                _check_columns(table.get_write_state().active_design, some)
                raise add_row_number(first + index, problem)
            first += some.num_rows
    return first


def _check_columns(design: Design, rows: pa.RecordBatch) -> None:
    """Raise an error if the columns of some rows cannot be encoded, whatever their values are.

    Raises:
        RowError: a column is missing or unknown, or has an unsuitable type.
    """
    columns = rows.slice(0, 0)
    salts = compute_load_salts(design, columns) if design.key.is_salted else None
    build_cell_blocks(design.layout, columns, salts=salts)


def write_block(
    table: WritableTable,
    rows: pa.RecordBatch,
    put_block: _PutBlock,
    max_errors: int | None = None,
) -> list[tuple[int, RowError]]:
    """Put a block of rows under one timestamp, while all rows of the table are locked.

    Args:
        table: the table; its state is read once more after the rows are written.
        put_block: puts them and yields the index and the error of each refused row.
        max_errors: refused rows after which no more rows are put; None for no limit.

    Returns:
        The index of each row that cannot be put, and why.

    Raises:
        Unavailable: the table has got other companions meanwhile, or its catalog cannot be reached.
    """
    state = table.get_write_state()
    clock = state.writer.clock
    is_salted = any(one.active_design.key.is_salted for one in state.load_order)
    with clock.lock_all_rows():
        at = clock.stamp_all_rows(is_exclusive=is_salted)
        refused = list(islice(put_block(state, rows, at), max_errors))
    clock.throttle_writer(at)
    written = state
    while (state := table.get_write_state()) is not written:
        # Cells of another table, to which rows are moved now, would be missing, and nobody reads
        # rows under a bucket count that was retired meanwhile.
        if not _reads_all_rows(written, state):
            list(islice(put_block(state, rows, at), max_errors))
            _take_back(written, state, rows, at)
        written = state
    return refused


def _take_back(written: WriteState, state: WriteState, rows: pa.RecordBatch, at: int) -> None:
    """Delete rows that were put under row keys that nobody reads any more.

    Args:
        written: the state under which they were put.
        state: the state under which they were put again.
        at: their timestamp.
    """
    for earlier in written.load_order:
        now = next((one for one in state.load_order if one.has_same_table(earlier)), None)
        layout = earlier.active_design.layout
        if now is None or now.reads_rows_of(earlier) or layout.has_shared_rows:
            continue
        keys = [
            _encode_rows(written, one.active_design, rows, at)[0].rows.to_pylist()
            for one in (earlier, now)
        ]
        left = [*{*keys[0]} - {*keys[1]}]
        stored = now.store.get(left, CellSelection(time_range=(at, at + 1)))
        deletes = [
            RowCells(row, [Cell(*c[:3], cell_type=CellType.DELETE_COLUMN) for c in cells])
            for row, cells in stored
            if cells
        ]
        now.writer.send_mutations(deletes)


def _encode_rows(
    state: WriteState, design: Design, rows: pa.RecordBatch, timestamp: int
) -> list[CellBlock]:
    """Return the cells of rows in one of the tables of a state; an index has fewer fields."""
    if is_index(state.primary.active_design, design):
        rows = rows.select([name for name in rows.schema.names if name in design.fields])
    salts = compute_load_salts(design, rows) if design.key.is_salted else None
    return build_cell_blocks(design.layout, rows, timestamp=timestamp, salts=salts)


def _reads_all_rows(written: WriteState, state: WriteState) -> bool:
    """Return whether rows were written to all tables that are written now, and are read there."""
    return all(
        any(one.reads_rows_of(other) for other in written.all_states) for one in state.all_states
    )


def split_blocks(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows, at most `BLOCK_ROWS` at a time."""
    for start in range(0, rows.num_rows, BLOCK_ROWS):
        yield rows.slice(start, BLOCK_ROWS)


_PutBlock = Callable[["WriteState", "pa.RecordBatch", int], Iterator[tuple[int, RowError]]]
"""A function that puts a block of rows under a timestamp, and yields the refused ones."""


def _put_converted_block(
    state: WriteState, rows: pa.RecordBatch, timestamp: int
) -> Iterator[tuple[int, RowError]]:
    """Put a block of rows as `put_block` does; what is refused is converted like a file's rows.

    Cost: where a column is converted, its rows are encoded twice.
    """
    try:
        require_time_units(state.active_design.fields, rows)
        _put_rows(state, rows, timestamp)
    except (InvalidArgument, RowError):
        converted, problem = convert_rows(state.active_design.fields, rows)
        yield from put_block(state, converted, timestamp)
        if problem is not None:
            yield converted.num_rows, problem


def _put_rows(
    state: WriteState,
    rows: pa.RecordBatch,
    timestamp: int,
    key_counter: DistinctCounter | None = None,
) -> None:
    """Put a block of rows, or none of them if one is refused; count their row keys."""
    encoded = []
    for one in state.load_order:
        blocks = _encode_rows(state, one.active_design, rows, timestamp)
        encoded.append((one.writer.store, blocks))
        if one is state.primary:
            row_keys = blocks[0].rows
    for store, blocks in encoded:
        if store.row_clock is not state.writer.clock:
            store.row_clock.advance_to(timestamp)
        store.load_blocks(blocks)
    state.mirror_loaded_rows(row_keys)
    if key_counter is not None:
        from rowkey.keys import SlicedByteColumn, compute_fingerprints

        keys = SlicedByteColumn.from_list(row_keys.to_pylist())
        key_counter.add(compute_fingerprints(keys))


def put_block(
    state: WriteState,
    rows: pa.RecordBatch,
    timestamp: int,
    key_counter: DistinctCounter | None = None,
) -> Iterator[tuple[int, RowError]]:
    """Put a block of rows, and yield the index of each that cannot be put, with its error.

    The other rows are written once the iterator is exhausted.

    Args:
        state: the state of the table.
        timestamp: that of their cells.
        key_counter: counts the row keys that are written.

    Cost: for each refused row twice the logarithm of the number of rows, in smaller puts.
    """
    if not rows.num_rows:
        return
    try:
        _put_rows(state, rows, timestamp, key_counter)
    except (InvalidArgument, RowError) as refusal:
        if rows.num_rows == 1:
            yield 0, to_row_error(refusal) if isinstance(refusal, InvalidArgument) else refusal
            return
    else:
        return
    half = rows.num_rows // 2
    for start, some in ((0, rows.slice(0, half)), (half, rows.slice(half))):
        for index, problem in put_block(state, some, timestamp, key_counter):
            yield start + index, problem


def compute_load_salts(design: Design, rows: pa.RecordBatch) -> Any:
    """Return a salt for each row; rows with the same key get the same salt, so the last one wins.

    Python hashes bytes with a random seed for each process, so that the salts are as good as
    random, and a row has the same salt as long as the process runs.

    Args:
        design: a design whose key has a random salt.
        rows: columns named as its fields.
    """
    keys = design.key.encode_valid_batch(rows, salts=np.zeros(rows.num_rows, np.int64))
    hashed = np.fromiter(map(hash, keys.to_pylist()), np.int64, rows.num_rows)
    return hashed % design.key.salt_count
