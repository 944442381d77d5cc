"""Cells that a program which knows nothing of rowkey writes to the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from move.twins import choose_salt
from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import CellSelection, ScanRange

if TYPE_CHECKING:
    from rowkey.table import GenerationState, Table

    Place = tuple[tuple[Any, ...], str, bytes, int]
    """The identity of a row, the family, the name within its event, and the timestamp."""


def write_foreign(table: Table, row: Mapping[str, Any], *cells: Cell) -> None:
    """Write cells of an event of a table, whose qualifiers lack the prefix of the event."""
    layout = table.design.layout
    identity = {name: row[name] for name in layout.identity_fields}
    prefix = layout.qualifier_prefix
    front = b"" if prefix is None else prefix.encode(identity)
    key = layout.key.encode(identity, salt=choose_salt(table))
    written = [
        one
        if one.cell_type in (CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)
        else one._replace(qualifier=front + one.qualifier)
        for one in cells
    ]
    table.store.mutate([RowCells(key, written)])


def delete_cells(table: Table, row: Mapping[str, Any], *columns: tuple[str, bytes]) -> None:
    """Delete all versions of some cells of an event."""
    for family, name in columns:
        marker = Cell(family, name, 1 << 45, cell_type=CellType.DELETE_COLUMN)
        write_foreign(table, row, marker)


def read_foreign(state: GenerationState, names: tuple[str, ...]) -> dict[Place, bytes]:
    """Return the visible undeclared cells of the events of a table, with all their versions."""
    layout = state.combined_design.layout
    declared = {(slot.family, slot.qualifier) for slot in layout.slots}
    found: dict[Place, bytes] = {}
    for row_key, cells in read_rows(state, versions=9):
        for one in layout.event_reader.split_cells(row_key, cells)[1]:
            if one.event_prefix is None or one.column in declared:
                continue
            values = layout.key.decode(row_key)
            if (prefix := layout.qualifier_prefix) is not None:
                starts = prefix.find_slice_starts(layout.key, row_key)
                values = {**values, **prefix.decode(one.event_prefix, starts)}
            identity = tuple(values.get(name) for name in names)
            found[identity, *one.column, one.cell.timestamp] = one.cell.value
    return found


def read_rows(state: GenerationState, versions: int = 1) -> Iterator[RowCells]:
    """Yield the stored rows of a table with some versions of each cell."""
    (cursor,) = state.writer.store.scan([ScanRange()], CellSelection(versions=versions))
    with cursor:
        yield from cursor
