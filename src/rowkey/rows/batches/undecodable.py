"""Selection of the rows among Arrow cells that a design can decode."""

from __future__ import annotations

from collections.abc import Callable

from rowkey.array_libraries import pa
from rowkey.errors import RowError
from rowkey.rows.batches.pivot import iterate_rows, read_cell_columns
from rowkey.rows.layout import Layout


def select_decodable_rows(
    layout: Layout, cells: pa.RecordBatch, report_row: Callable[[bytes, RowError], None]
) -> pa.RecordBatch:
    """Return the cells of rows that can be decoded; see `Layout.select_decodable_rows`."""
    mask: list[bool] = []
    for row in iterate_rows(read_cell_columns(cells)):
        try:
            layout.decode_events(*row)
        except RowError as problem:
            report_row(row.row, problem)
            mask += [False] * len(row.cells)
        else:
            mask += [True] * len(row.cells)
    return cells.filter(pa.array(mask, pa.bool_()))
