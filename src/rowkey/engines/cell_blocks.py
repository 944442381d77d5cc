"""Converts rows of cells to Arrow columns and back, for engines without a faster way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rowkey.array_libraries import pa
from rowkey.cells import Cell, CellBlock, RowCells
from rowkey.errors import InvalidArgument
from rowkey.messages import pluralize

MAX_BLOCK_BYTES = 64 << 20
"""Bytes of values after which a block ends early: an Arrow binary array holds 2 GiB."""


def build_block_schema() -> pa.Schema:
    """Return the Arrow schema of cells: row, family, qualifier, timestamp, value."""
    return pa.schema(
        [
            ("row", pa.binary()),
            ("family", pa.dictionary(pa.int32(), pa.string())),
            ("qualifier", pa.binary()),
            ("timestamp", pa.int64()),
            ("value", pa.binary()),
        ]
    )


def check_block_read(rows_per_block: int, *, raw: bool = False) -> None:
    """Raise InvalidArgument unless a cursor can return its rows as record batches.

    Args:
        rows_per_block: rows of a record batch, 1 or more.
        raw: whether the read returns deletes too, for which a record batch has no column.
    """
    if raw:
        what = "record batches cannot show the deletes that a raw read returns"
        raise InvalidArgument("raw", what, "raw=False", "Iterate over the rows instead.")
    if rows_per_block < 1:
        what = f"a record batch cannot have {rows_per_block} rows"
        raise InvalidArgument("rows", what, "1 or more")


def build_blocks(
    rows: Iterable[RowCells], families: Sequence[str], rows_per_block: int = 8192
) -> Iterator[pa.RecordBatch]:
    """Convert rows of cells to record batches with the schema of `build_block_schema`.

    Args:
        rows: puts only, row by row.
        families: every family that may occur, in the order its number has in each block.
        rows_per_block: rows of a block; the last one has fewer, one of large values as well.

    Returns:
        Blocks of at least one cell, made as they are asked for.

    Raises:
        InvalidArgument: `rows_per_block` is below 1.

    Cost: about 0.5 µs a cell.
    """
    check_block_read(rows_per_block)
    return _iterate_blocks(rows, families, rows_per_block)


def _iterate_blocks(
    rows: Iterable[RowCells], families: Sequence[str], rows_per_block: int
) -> Iterator[pa.RecordBatch]:
    """Yield record batches of `rows_per_block` rows, or fewer if their values are large."""
    block = _BlockBuilder(families)
    for row in rows:
        block.add_row(row)
        if block.row_count == rows_per_block or block.size_bytes >= MAX_BLOCK_BYTES:
            yield block.to_arrow()
            block = _BlockBuilder(families)
    if block.row_count:
        yield block.to_arrow()


class _BlockBuilder:
    """The columns of a record batch, filled row by row."""

    def __init__(self, families: Sequence[str]) -> None:
        self.families = families
        self.family_numbers = {name: index for index, name in enumerate(families)}
        self.columns: tuple[list[Any], ...] = ([], [], [], [], [])
        self.row_count = self.size_bytes = 0

    def add_row(self, row: RowCells) -> None:
        keys, families, qualifiers, timestamps, values = self.columns
        for family, qualifier, timestamp, value, _, _ in row.cells:
            keys.append(row.row)
            families.append(self.family_numbers[family])
            qualifiers.append(qualifier)
            timestamps.append(timestamp)
            values.append(value)
            self.size_bytes += len(row.row) + len(qualifier) + len(value)
        self.row_count += 1

    def to_arrow(self) -> pa.RecordBatch:
        keys, families, qualifiers, timestamps, values = self.columns
        names = pa.DictionaryArray.from_arrays(
            pa.array(families, pa.int32()), pa.array(self.families, pa.string())
        )
        arrays = [
            pa.array(keys, pa.binary()),
            names,
            pa.array(qualifiers, pa.binary()),
            pa.array(timestamps, pa.int64()),
            pa.array(values, pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=build_block_schema())


def join_blocks(blocks: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return blocks with the same families as one block."""
    return blocks[0] if len(blocks) == 1 else pa.concat_batches(blocks)


def to_row_cells(blocks: Sequence[CellBlock]) -> list[RowCells]:
    """Convert blocks of puts, each for one family, to one mutation for each row.

    Args:
        blocks: puts of the same rows, in the same order.

    Returns:
        One mutation for each row, without cells where all values are null.

    Raises:
        InvalidArgument: the blocks have different rows, a row is null, or a column has another
            length.

    Cost: about 2 µs a cell.
    """
    if not blocks:
        return []
    keys = blocks[0].rows
    check_block_rows(keys, blocks)
    columns = [list(_iterate_cells(block, len(keys))) for block in blocks]
    pieces = zip(*columns, strict=True)
    return [
        RowCells(row, [cell for cell in cells if cell is not None])
        for row, cells in zip(keys.to_pylist(), pieces, strict=True)
    ]


def check_block_rows(rows: Any, blocks: Sequence[CellBlock]) -> None:
    """Raise InvalidArgument if a row key is null, or two blocks have different row keys.

    Args:
        rows: the row keys of the first block, an Arrow array.
        blocks: all blocks of one call.
    """
    if rows.null_count:
        what = f"{rows.null_count:,} of {len(rows):,} row keys are null"
        raise InvalidArgument("rows", what, "a key for each row", "Remove the rows without a key.")
    first_rows = blocks[0].rows
    for number, block in enumerate(blocks[1:], 2):
        if block.rows is not first_rows and not block.rows.equals(first_rows):
            what = f"block {number} has other row keys than block 1"
            remedy = "Write blocks with other rows in another call."
            raise InvalidArgument("rows", what, "the same rows in each block", remedy)


def check_row_count(path: str, array: Any, row_count: int) -> None:
    """Raise InvalidArgument unless an array has as many elements as there are rows."""
    if len(array) != row_count:
        what = f"the array has {len(array):,} elements for {pluralize(row_count, 'row')}"
        raise InvalidArgument(path, what, "one element for each row")


def _iterate_cells(block: CellBlock, count: int) -> Iterator[Cell | None]:
    """Yield the put of each row of a block; None where its value is null."""
    qualifiers = _expand_to_rows("qualifiers", block.qualifiers, count)
    timestamps = _expand_to_rows("timestamps", block.timestamps, count)
    values = _expand_to_rows("values", block.values, count)
    for qualifier, timestamp, value in zip(qualifiers, timestamps, values, strict=True):
        yield None if value is None else Cell(block.family, qualifier, timestamp, value)


def _expand_to_rows(path: str, value: Any, count: int) -> list[Any]:
    """Return a list with one element for each row, from a single value or an array."""
    if isinstance(value, bytes | int):
        return [value] * count
    check_row_count(path, value, count)
    return list(value.tolist())
