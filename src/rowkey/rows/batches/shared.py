"""Arrow cells of rows that many events share, told apart by what opens their qualifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkey.errors import Refused, RowError
from rowkey.keys import Spans
from rowkey.rows.batches.arrays import Ints, Mask, binary_array, spans_of
from rowkey.rows.opening import NAME

if TYPE_CHECKING:
    from rowkey.keys import Key
    from rowkey.rows.batches.pivot import EventCells
    from rowkey.rows.opening import Opening, Slice


def opened(opening: Opening, key: Key, table: EventCells) -> EventCells:
    """The table with its events told apart, without the cells that are of none.

    Args:
        opening: what opens the qualifiers.
        key: the row key.
        table: cells whose `names` are whole qualifiers.

    Raises:
        RowError: a row key is none of the design.
    """
    starts = _starts(opening, key, table.keys)
    table, found = _readable(opening, table)
    columns = {name: found.column(name) for name in found.schema.names}
    within = np.ones(len(table.row_of), np.bool_)
    for one, of_rows in zip(opening.slices, starts, strict=True):
        rests = columns.pop(one.name).to_numpy(zero_copy_only=False).astype(np.int64)
        times, inside = _times(one, of_rows, table.row_of, rests)
        within &= inside
        if one.is_whole:
            columns[one.field.name] = times
    names = columns.pop(NAME)
    openings = _openings(table.names, names)
    table = replace(table, names=names, opened={**columns, NAME: openings})
    if not within.all():
        table = table.filtered(within)
    return _numbered(table)


def _numbered(table: EventCells) -> EventCells:
    """The table with a number for each event, ascending by row and opening."""
    rest = dict(table.opened)
    coded = rest.pop(NAME).dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    codes = coded.indices.to_numpy().astype(np.intp)
    place = table.row_of * max(len(order), 1) + rank[codes]
    distinct, event_of = np.unique(place, return_inverse=True)
    return replace(table, event_of=event_of, events=len(distinct), opened=rest)


def _openings(qualifiers: pa.Array, names: pa.Array) -> pa.Array:
    """What opens each qualifier: all but the column's name at its end."""
    spans = spans_of(qualifiers)
    return binary_array(Spans(spans.data, spans.starts, spans.inner - spans_of(names).inner))


def _readable(opening: Opening, table: EventCells) -> tuple[EventCells, pa.RecordBatch]:
    """The cells whose qualifiers are those of some event, and what these hold."""
    try:
        return table, opening.read_batch(table.names)
    except RowError:
        coded = table.names.dictionary_encode()
        readable = [_is_readable(opening, one) for one in coded.dictionary.to_pylist()]
        kept = np.array(readable, np.bool_)[coded.indices.to_numpy()]
        table = table.filtered(kept)
        return table, opening.read_batch(table.names)


def _is_readable(opening: Opening, qualifier: bytes) -> bool:
    try:
        opening.key.decode(qualifier)
    except RowError:
        return False
    return True


def _starts(opening: Opening, key: Key, keys: pa.Array) -> list[list[int | None]]:
    """The starts of each slice, a list of one for each row."""
    if not opening.slices:
        return []
    try:
        rows = [opening.starts(key, data) for data in keys.to_pylist()]
    except Refused as refusal:
        raise RowError("key", refusal.mistake.what, refusal.mistake.allowed) from None
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in opening.slices]


def _times(
    one: Slice, starts: list[int | None], row_of: Ints, rests: Ints
) -> tuple[pa.Array, Mask]:
    """The times of many events, and which rests lie within their slice."""
    low, high = one.source.low, one.source.high
    null = np.array([start is None for start in starts], np.bool_)[row_of]
    begins = np.array([start or 0 for start in starts], np.int64)[row_of]
    inside = (rests >= 0) & (rests < one.rest.units) & ~(null & (rests != 0))
    # A difference cannot overflow where a sum could.
    inside &= (rests <= high - begins) & (begins >= low - rests)
    numbers: Any = np.where(inside & ~null, begins + np.where(inside, rests, 0), low)
    times = one.field.type.from_numbers(numbers)
    return pc.if_else(pa.array(null), pa.scalar(None, times.type), times), inside
