"""Decoding of Arrow cells to Arrow columns: cells are split by column and gathered by event.

Rows come whole and one after the other, so that a row begins where its key differs from the one
before; nothing is sorted unless many events share a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import Cell, RowCells
from rowkey.errors import InvalidArgument, RowError
from rowkey.rows.batches.arrays import (
    BoolArray,
    IntArray,
    find_column,
    scatter_values,
    to_contiguous_array,
)
from rowkey.rows.batches.shared_rows import split_events
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.layout import Layout
from rowkey.rows.placement_interface import CellSlot

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


@dataclass(frozen=True, slots=True)
class SlotCells:
    """The cells of one column of the layout: the newest of each event.

    Args:
        cell_indexes: the indexes of the cells.
        event_indexes: the event of each cell, ascending and distinct.
    """

    cell_indexes: IntArray
    event_indexes: IntArray


def decode_event_columns(
    layout: Layout, cells: pa.RecordBatch, fields: Sequence[str] | None
) -> pa.RecordBatch:
    """Return the events in the cells of many rows as Arrow columns of fields."""
    field_names = list(layout.fields) if fields is None else list(fields)
    for name in field_names:
        if name not in layout.fields:
            known = ", ".join(list(layout.fields)[:12])
            raise RowError(f"field {name}", "the design has no such field", f"one of {known}")
    cell_columns = read_cell_columns(cells)
    try:
        columns = decode_fields(layout, build_event_cells(cell_columns), frozenset(field_names))
    except (InvalidArgument, RowError, pa.ArrowInvalid, OverflowError):
        _raise_first_mistake(layout, cell_columns)
        raise
    return pa.RecordBatch.from_arrays([columns[name] for name in field_names], names=field_names)


def read_cell_columns(cells: pa.RecordBatch) -> list[pa.Array]:
    """Return the columns of cells in the order of `CELL_COLUMNS`.

    Raises:
        RowError: one is missing.
    """
    return [_read_cell_column(cells, name) for name in CELL_COLUMNS]


def _read_cell_column(cells: pa.RecordBatch, name: str) -> pa.Array:
    """Return one of the columns `row`, `family`, `qualifier`, `timestamp` and `value` of cells."""
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


def decode_fields(
    layout: Layout,
    table: EventCells,
    field_names: frozenset[str],
    undeclared: IntArray | None = None,
) -> dict[str, pa.Array]:
    """Return some fields of all events as Arrow columns, from keys, qualifiers and cells.

    Args:
        layout: the layout of the design.
        table: the cells of whole rows.
        field_names: the wanted fields.
        undeclared: the indexes of undeclared cells, among those of events, whose events are
            returned as well; None for none.
    """
    decoded = layout.key.decode_batch(table.keys)
    if layout.qualifier_prefix is not None:
        table = split_events(layout.qualifier_prefix, layout.key, table)
    filled = _select_slot_cells(layout.slots, table)
    exists = np.zeros(table.event_count, np.bool_)
    row_of = np.zeros(table.event_count, np.int64)
    first = np.zeros(table.event_count, np.int64)
    latest = np.full(table.event_count, -1, np.int64)
    for one in filled:
        exists[one.event_indexes] = True
        row_of[one.event_indexes] = table.row_indexes[one.cell_indexes]
        first[one.event_indexes] = one.cell_indexes
        latest[one.event_indexes] = np.maximum(
            latest[one.event_indexes], table.timestamps[one.cell_indexes]
        )
    if undeclared is not None:
        bare = undeclared[~exists[table.event_indexes[undeclared]]]
        exists[table.event_indexes[bare]] = True
        row_of[table.event_indexes[bare]] = table.row_indexes[bare]
        first[table.event_indexes[bare]] = bare
    count = int(exists.sum())
    number = np.cumsum(exists) - 1
    columns = _decode_cell_fields(layout, table, filled, number, field_names)
    if (
        layout.cell_timestamp is not None
        and (name := layout.cell_timestamp.field.name) in field_names
    ):
        columns[name] = _decode_latest(layout.cell_timestamp, latest[exists])
    for name in field_names & table.prefix_columns.keys():
        columns[name] = table.prefix_columns[name].take(pa.array(first[exists]))
    is_row = layout.qualifier_prefix is None and count == len(table.keys)
    keep = None if is_row else pa.array(row_of[exists])
    for name in field_names & set(decoded.schema.names):
        column = decoded.column(name)
        columns[name] = column if keep is None else column.take(keep)
    for name in field_names - columns.keys():
        columns[name] = pa.nulls(count, layout.fields[name].type.build_arrow_type())
    return columns


def _decode_latest(codec: CellTimestamp, latest: IntArray) -> pa.Array:
    """Return the time fields of events from their last timestamps; null where that is -1."""
    is_known = latest >= 0
    if is_known.all():
        return codec.decode_timestamps(latest)
    column = codec.decode_timestamps(latest[is_known])
    return scatter_values(column, np.flatnonzero(is_known), len(latest))


def _select_slot_cells(slots: Sequence[CellSlot], table: EventCells) -> list[SlotCells]:
    """Return the newest cells of each column of the layout, in the order of the columns."""
    family_masks: dict[str, pa.Array] = {}
    slot_cells = []
    for slot in slots:
        if slot.family not in family_masks:
            family_masks[slot.family] = pc.equal(table.families, slot.family)
        name_mask = pc.equal(table.column_names, pa.scalar(slot.qualifier, table.column_names.type))
        mask = pc.and_(family_masks[slot.family], name_mask).to_numpy(zero_copy_only=False)
        at = np.flatnonzero(mask)
        events = table.event_indexes[at]
        newest = np.ones(len(at), np.bool_)
        newest[1:] = events[1:] != events[:-1]
        slot_cells.append(
            SlotCells(at, events) if newest.all() else SlotCells(at[newest], events[newest])
        )
    return slot_cells


def _decode_cell_fields(
    layout: Layout,
    table: EventCells,
    filled: Sequence[SlotCells],
    number: IntArray,
    field_names: frozenset[str],
) -> dict[str, pa.Array]:
    """Return some of the fields that are stored in cell values as Arrow columns."""
    count = int(number[-1]) + 1 if len(number) else 0
    columns: dict[str, pa.Array] = {}
    for slot, one in zip(layout.slots, filled, strict=True):
        if field_names.isdisjoint(slot.field_names):
            continue
        values = table.values.take(pa.array(one.cell_indexes))
        for name, column in slot.read_batch(values, field_names).items():
            columns[name] = scatter_values(column, number[one.event_indexes], count)
    return columns


def _raise_first_mistake(layout: Layout, cell_columns: Sequence[pa.Array]) -> None:
    """Decode row by row, to raise the error of the first row that cannot be decoded.

    Raises:
        RowError: a row cannot be read.
    """
    for row in iterate_rows(cell_columns):
        layout.decode_events(*row)


def iterate_rows(cell_columns: Sequence[pa.Array]) -> Iterator[RowCells]:
    """Yield the rows of cells, given in the order of `CELL_COLUMNS`."""
    rows, *columns = (column.to_pylist() for column in cell_columns)
    start = 0
    for stop in range(1, len(rows) + 1):
        if stop == len(rows) or rows[stop] != rows[start]:
            cells = [Cell(*one) for one in zip(*(c[start:stop] for c in columns), strict=True)]
            yield RowCells(rows[start], cells)
            start = stop
