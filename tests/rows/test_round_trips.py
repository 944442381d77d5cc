"""What is written is read back: alone and in batches, whatever the places of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from rowkey.cells import CellType, build_sort_key
from rows import placed

if TYPE_CHECKING:
    from rowkey.rows import Layout


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in all that is printed of them, the sign of zero included."""
    return repr(one) == repr(other)


@given(data=st.data(), layout=placed.layouts())
def test_a_row_is_read_back(data: st.DataObject, layout: Layout) -> None:
    """The event of a row's cells is the row."""
    row = data.draw(placed.rows(layout))
    stored = placed.Stored()
    stored.apply(placed.written(layout, row))
    (whole,) = stored.row_cells()
    assert repr([row]) == repr(layout.decode_events(*whole, strict=True))


@given(data=st.data(), layout=placed.layouts())
def test_cells_come_in_order(data: st.DataObject, layout: Layout) -> None:
    """The cells of a row stand as they will in the store, each under a column of its own."""
    _, cells = placed.written(layout, data.draw(placed.rows(layout)))
    assert sorted(cells, key=build_sort_key) == list(cells)
    assert len({(cell.family, cell.qualifier) for cell in cells}) == len(cells)


@given(data=st.data(), layout=placed.layouts())
def test_events_that_differ_have_coordinates_that_differ(
    data: st.DataObject, layout: Layout
) -> None:
    """Unless the key loses something, its fields and those of the qualifier tell events apart."""
    telling = {*layout.key.fields, *layout.placed_fields.get("qualifier", ())} - {
        *layout.lossy_key_fields
    }
    found: dict[str, tuple[bytes, bytes]] = {}
    for row in data.draw(st.lists(placed.rows(layout), min_size=2, max_size=5)):
        key, cells = placed.written(layout, row)
        least = min(cells, key=lambda cell: len(cell.qualifier))
        found[repr({name: row[name] for name in telling})] = (key, least.qualifier)
    if not layout.lossy_key_fields:
        assert len(found) == len(set(found.values()))


@given(data=st.data(), layout=placed.layouts())
def test_blocks_are_the_cells_of_their_rows(data: st.DataObject, layout: Layout) -> None:
    """A batch of rows gives the puts that each of them gives."""
    rows = data.draw(st.lists(placed.rows(layout), max_size=6))
    salts = [data.draw(st.integers(0, 0)) for _ in rows]
    expected = {
        (one.row, cell)
        for row in rows
        for one in [placed.written(layout, row)]
        for cell in one.cells
        if cell.cell_type is CellType.PUT
    }
    blocks = layout.encode_blocks(placed.arrow_of(layout, rows), salts=np.array(salts, np.int64))
    assert expected == placed.puts_of(blocks)


@given(data=st.data(), layout=placed.layouts())
def test_a_batch_of_cells_is_the_events_of_their_rows(data: st.DataObject, layout: Layout) -> None:
    """Columns gathered from cells are the events that each row gives by itself."""
    stored = placed.Stored()
    for row in data.draw(st.lists(placed.rows(layout), max_size=6)):
        stored.apply(placed.written(layout, row))
    expected = [event for one in stored.row_cells() for event in layout.decode_events(*one)]
    found = layout.decode_batch(stored.batch())
    assert repr(expected) == repr(placed.rows_of(layout, found))
    types = {name: declared.type.build_arrow_type() for name, declared in layout.fields.items()}
    assert pa.schema(types) == found.schema
