"""Decoding of Arrow cells to Arrow columns: cells are split by column and gathered by event.

Nothing is sorted unless many events share a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument, RowError
from rowkey.rows.batches.arrays import IntArray, scatter_values
from rowkey.rows.batches.event_cells import (
    EventCells,
    build_event_cells,
    iterate_rows,
    read_cell_columns,
)
from rowkey.rows.batches.shared_rows import split_events
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.layout import Layout
from rowkey.rows.placement_interface import CellSlot


@dataclass(frozen=True, slots=True)
class SlotCells:
    """The cells of one column of the layout: the newest of each event.

    Args:
        event_indexes: the event of each cell, ascending and distinct.
    """

    cell_indexes: IntArray
    event_indexes: IntArray


def decode_event_columns(
    layout: Layout, cells: pa.RecordBatch, fields: Sequence[str] | None = None
) -> pa.RecordBatch:
    """Return the events of many rows as Arrow columns.

    Args:
        cells: columns `row`, `family`, `qualifier`, `timestamp`, `value`: the puts of whole rows,
            one after the other, each in the order of its cells.
        fields: the wanted fields, in order; all if None. Cells of other fields are not decoded.

    Returns:
        The events that `Layout.decode_events` returns for each row, one after the other.

    Raises:
        RowError: as `Layout.decode_events`, for the first row; or there is no such field.

    Cost: 50 to 200 ns a cell where a row holds one event.
    """
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


def decode_fields(
    layout: Layout,
    table: EventCells,
    field_names: frozenset[str],
    undeclared: IntArray | None = None,
) -> dict[str, pa.Array]:
    """Return some fields of all events as Arrow columns, from keys, qualifiers and cells.

    Args:
        table: the cells of whole rows.
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
