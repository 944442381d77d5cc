"""All versions of single fields of many events, as plain values wherever a layout stores them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from operator import eq

from rowkey.array_libraries import np, pa, pc
from rowkey.rows.batches.arrays import BoolArray, IntArray
from rowkey.rows.batches.event_cells import EventCells, build_event_cells, read_cell_columns
from rowkey.rows.batches.pivot import decode_fields
from rowkey.rows.batches.shared_rows import split_events
from rowkey.rows.column_codec import ColumnCodec
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
        is_declared: whether each event has declared cells.
        cells: the versions of fields in cells, by field.
        undeclared: the versions of undeclared cells; before each value stand the family and the
            qualifier without the prefix of its event.
    """

    identities: pa.RecordBatch
    row_keys: pa.Array
    is_declared: BoolArray
    cells: dict[str, FieldCells]
    undeclared: FieldCells


def collect_field_cells(
    layout: Layout,
    cells: pa.RecordBatch,
    field_names: Collection[str],
    count_versions: Callable[[str, bytes], int],
    *,
    needs_declared_cell: bool,
) -> EventFields:
    """Return the events of many rows, with all versions of some fields as plain values.

    What is returned does not depend on where the layout stores the fields.

    Args:
        cells: as for `decode_event_columns`, with as many versions of each cell as are wanted.
        count_versions: returns how many of the newest versions are wanted of the undeclared cells
            of a family and a name. An event may have such cells only.
        needs_declared_cell: whether events without any declared cell are left out.

    Raises:
        RowError: as `Layout.decode_events`, for some row.

    Cost: as `decode_event_columns`; a column's values are not decoded.
    """
    table = unsplit = build_event_cells(read_cell_columns(cells))
    if layout.qualifier_prefix is not None:
        table = split_events(layout.qualifier_prefix, layout.key, table)
    cell_indexes = [_find_cells(slot, table) for slot in layout.slots]
    is_undeclared = np.ones(len(table.event_indexes), np.bool_)
    is_declared = np.zeros(table.event_count, np.bool_)
    for indexes in cell_indexes:
        is_undeclared[indexes] = False
        is_declared[table.event_indexes[indexes]] = True
    if needs_declared_cell:
        is_undeclared &= is_declared[table.event_indexes]
    others = _select_undeclared(table, np.flatnonzero(is_undeclared), count_versions)
    exists, row_of = is_declared.copy(), np.zeros(table.event_count, np.int64)
    for indexes in (*cell_indexes, others):
        exists[table.event_indexes[indexes]] = True
        row_of[table.event_indexes[indexes]] = table.row_indexes[indexes]
    names = list(layout.identity_fields)
    if layout.cell_timestamp is not None:
        names.append(layout.cell_timestamp.field.name)
    columns = decode_fields(layout, unsplit, frozenset(names), others)
    identities = pa.RecordBatch.from_arrays([columns[name] for name in names], names=names)
    row_keys = table.keys.take(pa.array(row_of[exists]))
    table = replace(table, event_indexes=(np.cumsum(exists) - 1)[table.event_indexes])
    found: dict[str, FieldCells] = {}
    for slot, indexes in zip(layout.slots, cell_indexes, strict=True):
        wanted = [name for name in slot.field_names if name in field_names]
        if wanted:
            found |= _read_slot(slot, table, indexes, wanted)
    undeclared = _read_undeclared(table, others)
    return EventFields(identities, row_keys, is_declared[exists], found, undeclared)


def _select_undeclared(
    table: EventCells, indexes: IntArray, count_versions: Callable[[str, bytes], int]
) -> IntArray:
    """Return the indexes of the wanted versions among those of undeclared cells."""
    if not len(indexes):
        return indexes
    columns = _list_columns(table, indexes)
    events = table.event_indexes[indexes]
    is_same = np.fromiter(starmap(eq, pairwise(columns)), np.bool_) & (events[1:] == events[:-1])
    ranks = _count_since(np.append(True, ~is_same))
    versions = np.fromiter(starmap(count_versions, columns), np.int64)
    return indexes[ranks < versions]


def _read_undeclared(table: EventCells, indexes: IntArray) -> FieldCells:
    """Return undeclared cells, their columns in front of their values."""
    values = table.values.take(pa.array(indexes)).to_pylist()
    named = [
        b"%b:%d:%b%b" % (family.encode(), len(name), name, value)
        for (family, name), value in zip(_list_columns(table, indexes), values, strict=True)
    ]
    events, timestamps = table.event_indexes[indexes], table.timestamps[indexes]
    return FieldCells(
        events, np.zeros(len(events), np.int64), timestamps, pa.array(named, pa.large_binary())
    )


def _list_columns(table: EventCells, indexes: IntArray) -> list[tuple[str, bytes]]:
    """Return the family, and the qualifier without the prefix of its event, of some cells."""
    at = pa.array(indexes)
    families, names = (one.take(at).to_pylist() for one in (table.families, table.column_names))
    return list(zip(families, names, strict=True))


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
    begins = np.ones(len(events), np.bool_)
    begins[1:] = events[1:] != events[:-1]
    return _count_since(begins)


def _count_since(begins: BoolArray) -> IntArray:
    """Return for each place how far behind the last beginning it is."""
    indexes = np.arange(len(begins))
    return indexes - np.maximum.accumulate(np.where(begins, indexes, 0))
