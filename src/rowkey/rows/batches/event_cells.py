"""Cells of many rows in Arrow columns, with the row and the event of each.

Rows come whole and one after the other, so that a row begins where its key differs from the one
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import Cell, RowCells
from rowkey.errors import RowError
from rowkey.rows.batches.arrays import BoolArray, IntArray, find_column, to_contiguous_array

CELL_COLUMNS = ("row", "family", "qualifier", "timestamp", "value")


@dataclass(frozen=True)
class EventCells:
    """Cells in Arrow columns, with the row and the event that each belongs to.

    Args:
        keys: the row keys, one for each physical row.
        row_indexes: for each cell its row.
        event_indexes: for each cell its event; events of a row follow each other.
        event_count: how many events there are.
        families: the family of each cell.
        column_names: the qualifier of each cell, without the prefix of its event.
        timestamps: the timestamp of each cell.
        values: the value of each cell.
        prefix_columns: the fields in the prefix of each cell's qualifier, by name.
    """

    keys: pa.Array
    row_indexes: IntArray
    event_indexes: IntArray
    event_count: int
    families: pa.Array
    column_names: pa.Array
    timestamps: IntArray
    values: pa.Array
    prefix_columns: Mapping[str, pa.Array]

    def filter_cells(self, is_kept: BoolArray) -> EventCells:
        """Return the same rows with only some of their cells."""
        mask = pa.array(is_kept)
        return replace(
            self,
            row_indexes=self.row_indexes[is_kept],
            event_indexes=self.event_indexes[is_kept],
            families=self.families.filter(mask),
            column_names=self.column_names.filter(mask),
            timestamps=self.timestamps[is_kept],
            values=self.values.filter(mask),
            prefix_columns={
                name: column.filter(mask) for name, column in self.prefix_columns.items()
            },
        )


def read_cell_columns(cells: pa.RecordBatch) -> list[pa.Array]:
    """Return the columns of cells in the order of `CELL_COLUMNS`.

    Raises:
        RowError: one is missing.
    """
    return [_read_cell_column(cells, name) for name in CELL_COLUMNS]


def _read_cell_column(cells: pa.RecordBatch, name: str) -> pa.Array:
    """Return one of the columns `row`, `family`, `qualifier`, `timestamp` and `value` of cells.

    Raises:
        RowError: there is no such column.
    """
    column = find_column(cells, name)
    if column is None:
        what = "the batch of cells has no such column"
        raise RowError(f"column {name}", what, f"the columns {', '.join(CELL_COLUMNS)}")
    return to_contiguous_array(column)


def build_event_cells(cell_columns: Sequence[pa.Array]) -> EventCells:
    """Return the cells with the index of their row, which is also that of their only event."""
    row, family, qualifier, timestamp, value = cell_columns
    count = len(row)
    begins = np.ones(count, np.bool_)
    if count > 1:
        differs = pc.not_equal(row.slice(1), row.slice(0, count - 1))
        begins[1:] = differs.to_numpy(zero_copy_only=False)
    keys = row.filter(pa.array(begins))
    row_of = np.cumsum(begins) - 1
    times = timestamp.cast(pa.int64()).to_numpy()
    return EventCells(keys, row_of, row_of, len(keys), family, qualifier, times, value, {})


def iterate_rows(cell_columns: Sequence[pa.Array]) -> Iterator[RowCells]:
    """Yield the rows of cells, given in the order of `CELL_COLUMNS`."""
    rows, *columns = (column.to_pylist() for column in cell_columns)
    start = 0
    for stop in range(1, len(rows) + 1):
        if stop == len(rows) or rows[stop] != rows[start]:
            cells = [Cell(*one) for one in zip(*(c[start:stop] for c in columns), strict=True)]
            yield RowCells(rows[start], cells)
            start = stop
