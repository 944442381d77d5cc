"""Undeclared cells are counted exactly, row by row, by batches and by parts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import given

from rowkey.cells import Cell, CellType, RowCells
from rowkey.design import Design
from rowkey.errors import RowError
from rowkey.rows import UndeclaredCells, select_undeclared_rows
from rows import random_layouts

if TYPE_CHECKING:
    from rowkey.rows import Layout


@st.composite
def draw_foreign_cells(draw: st.DrawFn, layout: Layout, row: RowCells) -> RowCells:
    """Return puts of another program in a row, some with the prefix of an event of the row."""
    names = st.sampled_from([b"x", b"", b"\x80\x0b", b"zz"])
    own = [cell.qualifier for cell in row.cells] if layout.has_shared_rows else []
    qualifiers = st.one_of(
        names, st.binary(max_size=4), *[names.map(own[0].__add__) for _ in own[:1]]
    )
    columns = st.tuples(st.sampled_from(["d", "e", "z"]), qualifiers, st.integers(0, 9))
    return RowCells(row.row, [Cell(*one) for one in draw(st.lists(columns, max_size=3))])


@st.composite
def draw_tables(draw: st.DrawFn) -> tuple[Layout, random_layouts.CellStore]:
    """Return a layout, and rows in which its events and cells of another program are stored."""
    layout = draw(random_layouts.draw_layouts())
    stored = random_layouts.CellStore()
    for values in draw(st.lists(random_layouts.draw_rows(layout), max_size=4)):
        row = random_layouts.encode_or_reject(layout, values)
        kind = draw(st.sampled_from(["ours", "both", "theirs"]))
        for change in (row, draw(draw_foreign_cells(layout, row))):
            if kind in ("both", "ours" if change is row else "theirs"):
                stored.apply(change)
    return layout, stored


def is_undeclared(layout: Layout, row_key: bytes, cell: Cell) -> bool:
    """Return whether a cell alone makes no event."""
    try:
        return not layout.decode_events(row_key, [cell])
    except RowError:
        return False  # a declared cell with bytes that are no value


@given(table=draw_tables())
def test_cells_that_belong_to_no_event_are_counted(
    table: tuple[Layout, random_layouts.CellStore],
) -> None:
    """Rows and batches give the same summary, with the cells that make no event by themselves."""
    layout, stored = table
    rows = stored.row_cells()
    summary = layout.count_undeclared_cells(rows)
    expected = [
        (key, cell) for key, cells in rows for cell in cells if is_undeclared(layout, key, cell)
    ]
    found = [(row.row, one) for row in rows for one in layout.event_reader.split_cells(*row)[1]]
    assert expected == [(key, one.cell) for key, one in found]
    assert len(expected) == summary.cell_count == sum(summary.columns.values())
    assert sorted(expected)[:5] == summary.samples
    assert Counter(one.column for _, one in found) == summary.columns
    groups = {(key, one.event_prefix) for key, one in found}
    assert len(groups) == summary.row_count
    if not layout.has_shared_rows:
        alone = [key for key, cells in rows if all(is_undeclared(layout, key, c) for c in cells)]
        assert len(alone) == summary.undeclared_row_count
    assert summary == layout.count_undeclared_cells(select_undeclared_rows(layout, stored.batch()))


@given(table=draw_tables(), data=st.data())
def test_summaries_of_undeclared_cells_can_be_merged_in_any_order(
    table: tuple[Layout, random_layouts.CellStore], data: st.DataObject
) -> None:
    """The merged summaries of the rows of a table are the summary of the table."""
    layout, stored = table
    rows = stored.row_cells()
    merged = UndeclaredCells()
    for row in data.draw(st.permutations(rows)):
        merged.merge(layout.count_undeclared_cells([row]))
    assert layout.count_undeclared_cells(rows) == merged


def test_a_summary_lists_the_first_hundred_undeclared_columns() -> None:
    """Of many columns the first hundred are listed, each with all its cells."""
    layout = Design("t", "[n]", fields={"n": "u16", "v": "u8"}).layout
    rows = [
        RowCells(n.to_bytes(2), [Cell("d", b"x%03d" % ((7 * n + i) % 150), 1) for i in range(9)])
        for n in range(300)
    ]
    forward, backward = (layout.count_undeclared_cells(some) for some in (rows, rows[::-1]))
    assert forward == backward
    assert [f"d:x{n:03}" for n in range(100)] == list(forward.column_counts)
    assert {18} == set(forward.columns.values())
    assert (2_700, 900, 300) == (
        forward.cell_count, forward.unlisted_cell_count, forward.undeclared_row_count,
    )  # fmt: skip
    assert 5 == len(forward.samples)


def test_an_undeclared_cell_belongs_to_the_event_of_its_qualifier_or_to_the_row() -> None:
    """A cell belongs to the event that its qualifier names, or else to the row."""
    fields = {"host": "text", "item": {"type": "u8", "at": "qualifier"}, "size": "u16"}
    layout = Design("t", "[host]", fields=fields).layout
    ours, theirs = Cell("d", b"\7size", 1, b"\0\5"), Cell("d", b"\7x", 1)
    other_event, no_event = Cell("d", b"\x08x", 1), Cell("d", b"", 1)
    deleted = Cell("d", b"\7y", 1, cell_type=CellType.DELETE)
    row = RowCells(b"ab\0", [no_event, ours, theirs, deleted, other_event])
    assert [(None, no_event), (b"\7", theirs), (b"\x08", other_event)] == (
        layout.event_reader.split_cells(*row)[1]
    )
    summary = layout.count_undeclared_cells([row])
    assert {"d:": 1, "d:x": 2} == summary.column_counts
    assert (3, 3, 2) == (summary.cell_count, summary.row_count, summary.undeclared_row_count)
