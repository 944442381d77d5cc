"""Written rows are read back alone and in batches, whatever the places of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from rowkey.cells import CellType, build_sort_key
from rowkey.rows import build_cell_blocks, decode_event_columns
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_written_rows_are_read_back_alone_and_in_batches(
    data: st.DataObject, layout: Layout
) -> None:
    """Rows have the cells, the coordinates, the batches and the events of one another."""
    # To draw a layout costs as much as a check, so each is given to all.
    rows = data.draw(st.lists(random_layouts.draw_rows(layout), min_size=1, max_size=6))
    for row in rows:
        check_row_is_read_back(layout, row)
    check_coordinates_differ(layout, rows)
    check_blocks_have_cells_of_rows(layout, rows)
    check_batch_has_events_of_rows(layout, rows)


def check_row_is_read_back(layout: Layout, row: random_layouts.Row) -> None:
    """Check that a row's cells are in storage order, one per column, and their event is the row."""
    change = random_layouts.encode_or_reject(layout, row)
    assert sorted(change.cells, key=build_sort_key) == list(change.cells)
    assert len({(cell.family, cell.qualifier) for cell in change.cells}) == len(change.cells)
    stored = random_layouts.CellStore()
    stored.apply(change)
    (whole,) = stored.row_cells()
    assert repr([row]) == repr(layout.decode_events(*whole))
    assert [] == layout.event_reader.split_cells(*whole)[1]


def check_coordinates_differ(layout: Layout, rows: list[random_layouts.Row]) -> None:
    """Check that different events differ in key or qualifier, unless the key is lossy."""
    telling = {*layout.key.fields, *layout.placed_fields.get("qualifier", ())} - {
        *layout.lossy_key_fields
    }
    found: dict[str, tuple[bytes, bytes]] = {}
    for row in rows:
        key, cells = random_layouts.encode_or_reject(layout, row)
        least = min(cells, key=lambda cell: len(cell.qualifier))
        found[repr({name: row[name] for name in telling})] = (key, least.qualifier)
    if not layout.lossy_key_fields:
        assert len(found) == len(set(found.values()))


def check_blocks_have_cells_of_rows(layout: Layout, rows: list[random_layouts.Row]) -> None:
    """Check that a batch of rows, and one of none, gives the same puts as its single rows."""
    for some in (rows, []):
        expected = {
            (one.row, cell)
            for row in some
            for one in [random_layouts.encode_or_reject(layout, row)]
            for cell in one.cells
            if cell.cell_type is CellType.PUT
        }
        blocks = build_cell_blocks(
            layout, random_layouts.to_arrow(layout, some), salts=np.zeros(len(some), np.int64)
        )
        assert expected == random_layouts.list_puts(blocks)


def check_batch_has_events_of_rows(layout: Layout, rows: list[random_layouts.Row]) -> None:
    """Check that columns decoded from cells, or from none, equal the events of single rows."""
    types = {name: declared.type.build_arrow_type() for name, declared in layout.fields.items()}
    for some in (rows, []):
        stored = random_layouts.CellStore()
        for row in some:
            stored.apply(random_layouts.encode_or_reject(layout, row))
        expected = [event for one in stored.row_cells() for event in layout.decode_events(*one)]
        found = decode_event_columns(layout, stored.batch())
        assert repr(expected) == repr(random_layouts.from_arrow(layout, found))
        assert pa.schema(types) == found.schema
