"""How Arrow cells become Arrow columns: cells are told apart by column, and gathered by event.

Rows come whole and one after the other, so that a row begins where its key differs from the one
before; nothing is sorted unless many events share a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkey.cells import Cell
from rowkey.errors import Refused, RowError
from rowkey.rows.batches.arrays import Ints, Mask, column_of, plain, scattered
from rowkey.rows.batches.shared import opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.rows.contract import Slot
    from rowkey.rows.layout import Layout

COLUMNS = ("row", "family", "qualifier", "timestamp", "value")


@dataclass(frozen=True)
class EventCells:
    """Cells, and the physical row and the event of each.

    Args:
        keys: the row keys, one for each physical row.
        row_of: for each cell its row.
        event_of: for each cell its event; events of a row follow each other.
        events: how many there are.
        families: the family of each cell.
        names: the qualifier of each, without what opens it.
        times: the timestamp of each.
        values: the value of each.
        opened: columns of what opens the qualifiers, for each cell.
    """

    keys: pa.Array
    row_of: Ints
    event_of: Ints
    events: int
    families: pa.Array
    names: pa.Array
    times: Ints
    values: pa.Array
    opened: Mapping[str, pa.Array]

    def filtered(self, kept: Mask) -> EventCells:
        """The same rows with some of their cells."""
        mask = pa.array(kept)
        return replace(
            self,
            row_of=self.row_of[kept],
            event_of=self.event_of[kept],
            families=self.families.filter(mask),
            names=self.names.filter(mask),
            times=self.times[kept],
            values=self.values.filter(mask),
            opened={name: column.filter(mask) for name, column in self.opened.items()},
        )


@dataclass(frozen=True, slots=True)
class Filled:
    """The cells of one slot, the newest of each event.

    Args:
        at: which cells.
        events: the event of each, ascending and distinct.
    """

    at: Ints
    events: Ints


def columns_of(
    layout: Layout, cells: pa.RecordBatch, fields: Sequence[str] | None
) -> pa.RecordBatch:
    """The events of many rows' cells; see `Layout.batch`."""
    wanted = list(layout.fields) if fields is None else list(fields)
    for name in wanted:
        if name not in layout.fields:
            known = ", ".join(list(layout.fields)[:12])
            raise RowError(name, "the design has no such field", known)
    given = [_given(cells, name) for name in COLUMNS]
    try:
        found = _found(layout, _table(given), frozenset(wanted))
    except (Refused, RowError, pa.ArrowInvalid, OverflowError):
        _raise_first(layout, given)
        raise
    return pa.RecordBatch.from_arrays([found[name] for name in wanted], names=wanted)


def _given(cells: pa.RecordBatch, name: str) -> pa.Array:
    column = column_of(cells, name)
    if column is None:
        raise RowError(name, "the cells have no such column", ", ".join(COLUMNS))
    return plain(column)


def _table(given: Sequence[pa.Array]) -> EventCells:
    """The cells as a table in which every row is one event."""
    row, family, qualifier, timestamp, value = given
    count = len(row)
    begins = np.ones(count, np.bool_)
    if count > 1:
        differs = pc.not_equal(row.slice(1), row.slice(0, count - 1))
        begins[1:] = differs.to_numpy(zero_copy_only=False)
    keys = row.filter(pa.array(begins))
    row_of = np.cumsum(begins) - 1
    times = timestamp.cast(pa.int64()).to_numpy()
    return EventCells(keys, row_of, row_of, len(keys), family, qualifier, times, value, {})


def _found(layout: Layout, table: EventCells, wanted: frozenset[str]) -> dict[str, pa.Array]:
    """The wanted fields of all events, as columns."""
    decoded = layout.key.decode_batch(table.keys)
    if layout.opening is not None:
        table = opened(layout.opening, layout.key, table)
    filled = _filled(layout.slots, table)
    exists = np.zeros(table.events, np.bool_)
    row_of = np.zeros(table.events, np.int64)
    first = np.zeros(table.events, np.int64)
    latest = np.full(table.events, -1, np.int64)
    for one in filled:
        exists[one.events] = True
        row_of[one.events] = table.row_of[one.at]
        first[one.events] = one.at
        latest[one.events] = np.maximum(latest[one.events], table.times[one.at])
    count = int(exists.sum())
    number = np.cumsum(exists) - 1
    found = _columns(layout, table, filled, number, wanted)
    if layout.stamp is not None and (name := layout.stamp.field.name) in wanted:
        found[name] = layout.stamp.read_batch(latest[exists])
    for name in wanted & table.opened.keys():
        found[name] = table.opened[name].take(pa.array(first[exists]))
    is_row = layout.opening is None and count == len(table.keys)
    keep = None if is_row else pa.array(row_of[exists])
    for name in wanted & set(decoded.schema.names):
        column = decoded.column(name)
        found[name] = column if keep is None else column.take(keep)
    for name in wanted - found.keys():
        found[name] = pa.nulls(count, layout.fields[name].type.arrow())
    return found


def _filled(slots: Sequence[Slot], table: EventCells) -> list[Filled]:
    """The cells of each slot, in the order of the slots."""
    of_family: dict[str, pa.Array] = {}
    found = []
    for slot in slots:
        if slot.family not in of_family:
            of_family[slot.family] = pc.equal(table.families, slot.family)
        named = pc.equal(table.names, pa.scalar(slot.qualifier, table.names.type))
        mask = pc.and_(of_family[slot.family], named).to_numpy(zero_copy_only=False)
        at = np.flatnonzero(mask)
        events = table.event_of[at]
        newest = np.ones(len(at), np.bool_)
        newest[1:] = events[1:] != events[:-1]
        found.append(Filled(at, events) if newest.all() else Filled(at[newest], events[newest]))
    return found


def _columns(
    layout: Layout,
    table: EventCells,
    filled: Sequence[Filled],
    number: Ints,
    wanted: frozenset[str],
) -> dict[str, pa.Array]:
    """The wanted fields that stand in cells."""
    count = int(number[-1]) + 1 if len(number) else 0
    found: dict[str, pa.Array] = {}
    for slot, one in zip(layout.slots, filled, strict=True):
        if wanted.isdisjoint(slot.names):
            continue
        values = table.values.take(pa.array(one.at))
        for name, column in slot.read_batch(values, wanted).items():
            found[name] = scattered(column, number[one.events], count)
    return found


def _raise_first(layout: Layout, given: Sequence[pa.Array]) -> None:
    """Read row by row, so that the first mistake is told as it would be of one row.

    Raises:
        RowError: a row cannot be read.
    """
    rows, *columns = (column.to_pylist() for column in given)
    start = 0
    for stop in range(1, len(rows) + 1):
        if stop == len(rows) or rows[stop] != rows[start]:
            cells = [Cell(*one) for one in zip(*(c[start:stop] for c in columns), strict=True)]
            layout.events(rows[start], cells)
            start = stop
