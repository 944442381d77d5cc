"""A translated table shows what its source shows, now and at every time before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rowkey
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import MAX_VERSIONS, CellSelection, ScanRange
from rowkey.errors import DesignRefused
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.row_writer import PRECEDING_TIMESTAMP
from table.move_pairs import (
    HOSTS,
    START_MS,
    STEP_MS,
    TIMES,
    MovePair,
    WrittenTables,
    build_design,
    draw_pairs,
    list_rows,
    scan_raw,
)

if TYPE_CHECKING:
    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EXAMPLES = 2_000 if IS_LONG else 12


def write_tables(pair: MovePair, data: st.DataObject) -> WrittenTables:
    """Return tables that were changed at random, under several bucket counts."""
    tables = WrittenTables(pair)
    for number in range(data.draw(st.integers(1, 14))):
        tables.change(data)
        if number % 5 == 4:
            tables.change_buckets(tables.source, data)
    return tables


def build_translator(tables: WrittenTables) -> RowTranslator:
    """Return the translator from the source to the target."""
    return RowTranslator(tables.source.get_state(), tables.target.get_state())


def list_visible_cells(table: Table) -> list[RowCells]:
    """Return all visible versions of a table."""
    return list(table.store.scan([ScanRange()], CellSelection(versions=MAX_VERSIONS))[0])


@settings(max_examples=EXAMPLES)
@given(pair=draw_pairs(), data=st.data())
def test_the_translated_table_shows_the_source_at_the_time_of_each_change(
    pair: MovePair, data: st.DataObject
) -> None:
    """Reads as of the end of each change return the same rows from both tables."""
    tables = write_tables(pair, data)
    if data.draw(st.booleans()):
        tables.change_buckets(tables.target, data)
    translator = build_translator(tables)
    event(f"direct: {translator.is_direct}")
    raw = scan_raw(tables.source)
    tables.target.store.mutate(translator.translate(raw))
    assert list_rows(tables.source) == list_rows(tables.target), translator.untranslatable_reason
    keys = [{"host": host, "ts": at} for host in HOSTS for at in TIMES]
    assert tables.source.get_many(keys) == tables.target.get_many(keys)
    if "stamp" in pair.source.fields and not translator.is_direct:
        return  # a version of a packed cell would show the time of a delete as its stamp
    # A change begins at a multiple of STEP_MS; a replace deletes one ms before it puts.
    times = {cell.timestamp // STEP_MS for one in raw for cell in one.cells}
    for before_ms in ((time + 1) * STEP_MS for time in sorted(times)):
        assert list_rows(tables.source, before_ms) == list_rows(tables.target, before_ms)


@settings(max_examples=EXAMPLES)
@given(pair=draw_pairs(keeps_history=False), data=st.data())
def test_translated_cells_equal_those_of_a_table_written_directly(
    pair: MovePair, data: st.DataObject
) -> None:
    """Visible cells equal those of a table of the target's design with the same changes."""
    tables = write_tables(pair, data)
    translator = build_translator(tables)
    if not translator.is_direct or pair.is_salted:
        return  # a replace behind a salt also deletes older versions
    tables.target.store.mutate(translator.translate(scan_raw(tables.source)))
    assert list_rows(tables.source) == list_rows(tables.target)
    assert list_value_cells(tables.twin) == list_value_cells(tables.target)


def list_value_cells(table: Table) -> list[tuple[bytes, Cell]]:
    """Return the visible versions of the fields that do not identify a row."""
    layout = table.get_state().active_design.layout
    names = {
        (slot.family, slot.qualifier)
        for slot in layout.slots
        if not {"host", "ts"}.issuperset(slot.field_names)
    }
    cut = layout.qualifier_prefix
    return [
        (row, cell)
        for row, cells in list_visible_cells(table)
        for cell in cells
        if (cell.family, cell.qualifier[0 if cut is None else cut.find_end(cell.qualifier) :])
        in names
    ]


@settings(max_examples=EXAMPLES)
@given(pair=draw_pairs(keeps_history=False), data=st.data())
def test_translating_rows_twice_or_in_another_order_gives_the_same_cells(
    pair: MovePair, data: st.DataObject
) -> None:
    """Rows in parts, in another order and twice give the same visible cells."""
    tables = write_tables(pair, data)
    raw = scan_raw(tables.source)
    tables.target.store.mutate(build_translator(tables).translate(raw))
    once = list_visible_cells(tables.target)
    shuffled = data.draw(st.permutations([*raw, *raw]))
    tables.twin.close()
    with rowkey.open(pair.target, "memory:") as other:
        translator = RowTranslator(tables.source.get_state(), other.get_state())
        for one in shuffled:
            other.store.mutate(translator.translate([one]))
        assert once == list_visible_cells(other)


def open_pair(
    source_key: str, target_key: str, wide: Sequence[str] = ()
) -> tuple[WrittenTables, RowTranslator]:
    """Return empty tables with two keys, and their translator."""
    options = {"optional": False, "stamp": False, "versions": 3, "keep_deleted": "FALSE"}
    designs = (
        build_design("source", source_key, (), {}, options),
        build_design("target", target_key, wide, {}, options),
    )
    tables = WrittenTables(MovePair(*designs))
    return tables, build_translator(tables)


@pytest.fixture(params=["[host][ts]", "[salt(4)][host][ts]", "[bucket(host, 8)][ts][host]"])
def many_rows(request: pytest.FixtureRequest) -> tuple[WrittenTables, RowTranslator]:
    """Tables whose source has enough rows to translate keys together."""
    tables, translator = open_pair("[bucket(host, 4)][host][ts]", request.param)
    with tables.source.batch() as batch:
        for number in range(500):
            batch.put({"host": f"h{number % 7}", "ts": START_MS + number, "size": number})
    return tables, translator


def test_a_translated_batch_equals_its_rows_translated_one_by_one(
    many_rows: tuple[WrittenTables, RowTranslator],
) -> None:
    """A batch gives the mutations of its rows, also with a row of another program in it."""
    tables, translator = many_rows
    rows = scan_raw(tables.source)
    strange = RowCells(b"\xff\xff", [Cell("d", b"size", 1, b"1234")])
    deleted = RowCells(rows[7].row, [Cell("d", b"", 5, cell_type=CellType.DELETE_FAMILY)])
    mixed = [*rows[:300], strange, deleted, *rows[300:], strange]
    expected = [one for row in mixed for one in translator.translate([row])]
    assert 2 == translator.untranslatable_count
    translator.untranslatable_count = 0
    assert expected == translator.translate(mixed)
    assert 2 == translator.untranslatable_count
    assert strange.row == translator.untranslatable_row
    assert strange.row.hex() in translator.untranslatable_reason


def test_a_delete_in_a_row_under_a_digest_is_counted_as_untranslatable() -> None:
    """A delete in a row whose key is a digest cannot be translated without a stored field."""
    tables, translator = open_pair("[digest(host, 6)][ts]", "[host][ts]")
    tables.source.put({"host": "a", "ts": START_MS, "size": 1})
    (row,) = scan_raw(tables.source)
    marker = Cell("d", b"", LATEST, cell_type=CellType.DELETE_FAMILY)
    assert [] == translator.translate([RowCells(row.row, [marker])])
    assert 1 == translator.untranslatable_count
    (mutation,) = translator.translate_event({"host": "a", "ts": START_MS}, [marker])
    assert [marker] == list(mutation.cells)


def test_changes_without_timestamps_are_translated_directly() -> None:
    """`LATEST` and `PRECEDING_TIMESTAMP` pass through, and reach derived cells."""
    tables, translator = open_pair("[host][ts]", "[digest(host, 6)][ts]")
    assert translator.is_direct
    row = {"host": "a", "ts": START_MS, "size": 1}
    change = tables.source.writer.build_replace(row)
    (mutation,) = translator.translate(change.mutations)
    expected = tables.twin.writer.build_replace(row)
    assert set(expected.mutations[0].cells) == set(mutation.cells)
    assert {LATEST, PRECEDING_TIMESTAMP} == {cell.timestamp for cell in mutation.cells}


def test_designs_with_other_fields_cannot_be_translated() -> None:
    """The two designs must have the same fields and be identified by the same ones."""
    options = {"optional": False, "stamp": False, "versions": 1, "keep_deleted": "FALSE"}
    source = build_design("source", "[host][ts]", (), {}, options)
    target = build_design("target", "[host][ts]", (), {}, options | {"stamp": True})
    tables = WrittenTables(MovePair(source, target))
    with pytest.raises(DesignRefused, match="stamp"):
        build_translator(tables)
    other = build_design("target", "[host]", (), {}, options)
    with pytest.raises(DesignRefused, match="identified by host, ts"):
        build_translator(WrittenTables(MovePair(source, other)))
