"""All versions of single fields of many events, as plain values wherever a layout stores them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkey.rows.batches.pivot import (
    EventCells,
    build_event_cells,
    decode_fields,
    read_cell_columns,
)
from rowkey.rows.batches.shared_rows import split_events
from rowkey.rows.column_codec import ColumnCodec

if TYPE_CHECKING:
    from collections.abc import Collection

    from rowkey.rows.batches.arrays import IntArray
    from rowkey.rows.layout import Layout
    from rowkey.rows.placement_interface import CellSlot


@dataclass(frozen=True, slots=True)
class FieldCells:
    """The stored versions of one field of many events.

    Args:
        event_indexes: the event of each version, ascending.
        ranks: how many newer versions its cell has, 0 for the newest.
        timestamps: its timestamp, in milliseconds.
        values: its value as an Arrow binary array, as `ColumnCodec` packs it; none is null.
    """

    event_indexes: IntArray
    ranks: IntArray
    timestamps: IntArray
    values: pa.Array


@dataclass(frozen=True, slots=True)
class EventFields:
    """The fields of many events, apart from where a layout stores them.

    Args:
        identities: the fields of each event's identity, and that in the timestamps of its cells.
        row_keys: the row key of each event.
        cells: the versions of fields in cells, by field.
    """

    identities: pa.RecordBatch
    row_keys: pa.Array
    cells: dict[str, FieldCells]


def collect_field_cells(
    layout: Layout, cells: pa.RecordBatch, field_names: Collection[str]
) -> EventFields:
    """Return the identities of events and the versions of fields; see `Layout`."""
    table = build_event_cells(read_cell_columns(cells))
    names = list(layout.identity_fields)
    if layout.cell_timestamp is not None:
        names.append(layout.cell_timestamp.field.name)
    columns = decode_fields(layout, table, frozenset(names))
    identities = pa.RecordBatch.from_arrays([columns[name] for name in names], names=names)
    if layout.qualifier_prefix is not None:
        table = split_events(layout.qualifier_prefix, layout.key, table)
    cell_indexes = [_find_cells(slot, table) for slot in layout.slots]
    exists = np.zeros(table.event_count, np.bool_)
    row_of = np.zeros(table.event_count, np.int64)
    for indexes in cell_indexes:
        exists[table.event_indexes[indexes]] = True
        row_of[table.event_indexes[indexes]] = table.row_indexes[indexes]
    row_keys = table.keys.take(pa.array(row_of[exists]))
    table = replace(table, event_indexes=(np.cumsum(exists) - 1)[table.event_indexes])
    found: dict[str, FieldCells] = {}
    for slot, indexes in zip(layout.slots, cell_indexes, strict=True):
        wanted = [name for name in slot.field_names if name in field_names]
        if wanted:
            found |= _read_slot(slot, table, indexes, wanted)
    return EventFields(identities, row_keys, found)


def _find_cells(slot: CellSlot, table: EventCells) -> IntArray:
    """Return the indexes of all cells of one column of the layout."""
    name = pa.scalar(slot.qualifier, table.column_names.type)
    mask = pc.and_(pc.equal(table.families, slot.family), pc.equal(table.column_names, name))
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _read_slot(
    slot: CellSlot, table: EventCells, indexes: IntArray, field_names: list[str]
) -> dict[str, FieldCells]:
    """Return the versions of some fields that one column of the layout stores."""
    events = table.event_indexes[indexes]
    timestamps = table.timestamps[indexes]
    values = (
        table.values if len(indexes) == len(table.values) else table.values.take(pa.array(indexes))
    )
    ranks = _rank_versions(events)
    if slot.is_plain:
        return {field_names[0]: FieldCells(events, ranks, timestamps, values)}
    found = {}
    for name, column in slot.read_batch(values, field_names).items():
        is_present = column.is_valid().to_numpy(zero_copy_only=False)
        (field,) = (one for one in slot.fields if one.name == name)
        packed = ColumnCodec(field).encode_batch(column.filter(pa.array(is_present)))
        found[name] = FieldCells(
            events[is_present], ranks[is_present], timestamps[is_present], packed
        )
    return found


def _rank_versions(events: IntArray) -> IntArray:
    """Return how many cells of the same event come before each cell of one column."""
    indexes = np.arange(len(events))
    begins = np.ones(len(events), np.bool_)
    begins[1:] = events[1:] != events[:-1]
    return indexes - np.maximum.accumulate(np.where(begins, indexes, 0))
