"""Written rows are read back alone and in batches, whatever the places of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from rowkey.cells import CellType, build_sort_key
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout


def have_same_repr(one: Any, other: Any) -> bool:
    """Return whether two values are printed the same, including the sign of zero."""
    return repr(one) == repr(other)


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_a_row_is_read_back(data: st.DataObject, layout: Layout) -> None:
    """A row's cells are in storage order, each under its own column, and their event is the row."""
    row = data.draw(random_layouts.draw_rows(layout))
    change = random_layouts.encode_or_reject(layout, row)
    assert sorted(change.cells, key=build_sort_key) == list(change.cells)
    assert len({(cell.family, cell.qualifier) for cell in change.cells}) == len(change.cells)
    stored = random_layouts.CellStore()
    stored.apply(change)
    (whole,) = stored.row_cells()
    assert repr([row]) == repr(layout.decode_events(*whole, strict=True))


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_events_that_differ_have_coordinates_that_differ(
    data: st.DataObject, layout: Layout
) -> None:
    """Different events differ in key or qualifier, unless the key is lossy."""
    telling = {*layout.key.fields, *layout.placed_fields.get("qualifier", ())} - {
        *layout.lossy_key_fields
    }
    found: dict[str, tuple[bytes, bytes]] = {}
    for row in data.draw(st.lists(random_layouts.draw_rows(layout), min_size=2, max_size=5)):
        key, cells = random_layouts.encode_or_reject(layout, row)
        least = min(cells, key=lambda cell: len(cell.qualifier))
        found[repr({name: row[name] for name in telling})] = (key, least.qualifier)
    if not layout.lossy_key_fields:
        assert len(found) == len(set(found.values()))


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_blocks_are_the_cells_of_their_rows(data: st.DataObject, layout: Layout) -> None:
    """A batch of rows gives the same puts as its single rows."""
    rows = data.draw(st.lists(random_layouts.draw_rows(layout), max_size=6))
    salts = [data.draw(st.integers(0, 0)) for _ in rows]
    expected = {
        (one.row, cell)
        for row in rows
        for one in [random_layouts.encode_or_reject(layout, row)]
        for cell in one.cells
        if cell.cell_type is CellType.PUT
    }
    blocks = layout.encode_blocks(
        random_layouts.to_arrow(layout, rows), salts=np.array(salts, np.int64)
    )
    assert expected == random_layouts.list_puts(blocks)


@given(data=st.data(), layout=random_layouts.draw_layouts())
def test_a_batch_of_cells_is_the_events_of_their_rows(data: st.DataObject, layout: Layout) -> None:
    """Columns decoded from cells equal the events of the single rows."""
    stored = random_layouts.CellStore()
    for row in data.draw(st.lists(random_layouts.draw_rows(layout), max_size=6)):
        stored.apply(random_layouts.encode_or_reject(layout, row))
    expected = [event for one in stored.row_cells() for event in layout.decode_events(*one)]
    found = layout.decode_batch(stored.batch())
    assert repr(expected) == repr(random_layouts.from_arrow(layout, found))
    types = {name: declared.type.build_arrow_type() for name, declared in layout.fields.items()}
    assert pa.schema(types) == found.schema
