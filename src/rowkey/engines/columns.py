"""Rows of cells as Arrow columns and back, for engines that have no faster way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell, RowCells
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from rowkey.cells import CellBlock

BLOCK_BYTES_MOST = 64 << 20
"""Bytes of values after which a block ends early: an Arrow binary array holds 2 GiB."""


def block_schema() -> pa.Schema:
    """The columns of a block: row, family, qualifier, timestamp, value; one line a cell."""
    import pyarrow as pa

    return pa.schema(
        [
            ("row", pa.binary()),
            ("family", pa.dictionary(pa.int32(), pa.string())),
            ("qualifier", pa.binary()),
            ("timestamp", pa.int64()),
            ("value", pa.binary()),
        ]
    )


def build_blocks(
    rows: Iterable[RowCells], families: Sequence[str], each: int = 8192
) -> Iterator[pa.RecordBatch]:
    """Whole rows as blocks of `block_schema`.

    Args:
        rows: puts only, row by row.
        families: every family that may occur, in the order its number has in each block.
        each: rows of a block; the last one has fewer, one of large values as well.

    Returns:
        Blocks of at least one cell, made as they are asked for.

    Raises:
        Refused: `each` is below 1.

    Cost: about 0.5 µs a cell.
    """
    if each < 1:
        raise Refused("rows", f"{each} is too few", "1 or more")
    return _blocks(rows, families, each)


def _blocks(
    rows: Iterable[RowCells], families: Sequence[str], each: int
) -> Iterator[pa.RecordBatch]:
    block = _Block(families)
    for row in rows:
        block.add(row)
        if block.rows == each or block.size >= BLOCK_BYTES_MOST:
            yield block.as_arrow()
            block = _Block(families)
    if block.rows:
        yield block.as_arrow()


class _Block:
    """Columns while they grow."""

    def __init__(self, families: Sequence[str]) -> None:
        self.families = families
        self.number = {name: index for index, name in enumerate(families)}
        self.columns: tuple[list[Any], ...] = ([], [], [], [], [])
        self.rows = self.size = 0

    def add(self, row: RowCells) -> None:
        """Take one row."""
        keys, families, qualifiers, timestamps, values = self.columns
        for family, qualifier, timestamp, value, _, _ in row.cells:
            keys.append(row.row)
            families.append(self.number[family])
            qualifiers.append(qualifier)
            timestamps.append(timestamp)
            values.append(value)
            self.size += len(row.row) + len(qualifier) + len(value)
        self.rows += 1

    def as_arrow(self) -> pa.RecordBatch:
        """The columns as they stand."""
        import pyarrow as pa

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
        return pa.RecordBatch.from_arrays(arrays, schema=block_schema())


def rows_of(blocks: Sequence[CellBlock]) -> list[RowCells]:
    """The puts that some blocks make of each row.

    Args:
        blocks: of the same rows, in the same order.

    Returns:
        One piece for each row, without cells where all values are null.

    Raises:
        Refused: the blocks name different rows, a row is null, or a column has another length.

    Cost: about 2 µs a cell.
    """
    if not blocks:
        return []
    keys = blocks[0].rows
    if keys.null_count:
        raise Refused("rows", f"{keys.null_count:,} of {len(keys):,} are null", "row keys")
    for block in blocks[1:]:
        if block.rows is not keys and not block.rows.equals(keys):
            raise Refused("rows", "two blocks name different rows", "the same rows in each block")
    columns = [list(_cells_of(block, len(keys))) for block in blocks]
    pieces = zip(*columns, strict=True)
    return [
        RowCells(row, [cell for cell in cells if cell is not None])
        for row, cells in zip(keys.to_pylist(), pieces, strict=True)
    ]


def _cells_of(block: CellBlock, count: int) -> Iterator[Cell | None]:
    """The cell of each row, None where the value is null."""
    qualifiers = _listed("qualifiers", block.qualifiers, count)
    timestamps = _listed("timestamps", block.timestamps, count)
    values = _listed("values", block.values, count)
    for qualifier, timestamp, value in zip(qualifiers, timestamps, values, strict=True):
        yield None if value is None else Cell(block.family, qualifier, timestamp, value)


def _listed(path: str, given: Any, count: int) -> list[Any]:
    """A value for each row: the same for all, or those of an Arrow or NumPy array."""
    if isinstance(given, bytes | int):
        return [given] * count
    if len(given) != count:
        raise Refused(path, f"{len(given):,} for {count:,} rows", "one a row")
    return list(given.tolist())
