"""Splitting of rows with several events, told apart by the prefix of their qualifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Key, SlicedByteColumn
from rowkey.rows.batches.arrays import BoolArray, IntArray, build_binary_array, to_byte_column
from rowkey.rows.batches.event_cells import EventCells
from rowkey.rows.qualifier_prefix import COLUMN_NAME_FIELD, KeyTimeSlice, QualifierPrefix


def split_events(qualifier_prefix: QualifierPrefix, key: Key, table: EventCells) -> EventCells:
    """Return cells of rows that several events share, with the index of each cell's event.

    Cells that belong to no event are left out.

    Args:
        qualifier_prefix: the codec of the fields at the start of each qualifier.
        table: cells whose `column_names` are whole qualifiers.

    Raises:
        RowError: a row key cannot be decoded by the design.
    """
    starts = _find_slice_starts(qualifier_prefix, key, table.keys)
    table, found = _filter_readable(qualifier_prefix, table)
    columns = {name: found.column(name) for name in found.schema.names}
    within = np.ones(len(table.row_indexes), np.bool_)
    for one, of_rows in zip(qualifier_prefix.slices, starts, strict=True):
        rests = columns.pop(one.remainder_name).to_numpy(zero_copy_only=False).astype(np.int64)
        times, inside = _compute_times(one, of_rows, table.row_indexes, rests)
        within &= inside
        if one.is_lossless:
            columns[one.field.name] = times
    names = columns.pop(COLUMN_NAME_FIELD)
    openings = _slice_prefixes(table.column_names, names)
    table = replace(
        table, column_names=names, prefix_columns={**columns, COLUMN_NAME_FIELD: openings}
    )
    if not within.all():
        table = table.filter_cells(within)
    return _number_events(table)


def _number_events(table: EventCells) -> EventCells:
    """Return the cells with the index of each cell's event, ascending by row and prefix."""
    prefix_columns = dict(table.prefix_columns)
    prefixes = prefix_columns.pop(COLUMN_NAME_FIELD).dictionary_encode()
    order = pc.array_sort_indices(prefixes.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    codes = prefixes.indices.to_numpy().astype(np.intp)
    place = table.row_indexes * max(len(order), 1) + rank[codes]
    distinct, event_of = np.unique(place, return_inverse=True)
    return replace(
        table, event_indexes=event_of, event_count=len(distinct), prefix_columns=prefix_columns
    )


def _slice_prefixes(qualifiers: pa.Array, names: pa.Array) -> pa.Array:
    """Return the prefix of each qualifier: all bytes before the column's name."""
    spans = to_byte_column(qualifiers)
    return build_binary_array(
        SlicedByteColumn(
            spans.data, spans.starts, spans.inner_lengths - to_byte_column(names).inner_lengths
        )
    )


def _filter_readable(
    qualifier_prefix: QualifierPrefix, table: EventCells
) -> tuple[EventCells, pa.RecordBatch]:
    """Return the cells whose qualifiers can be decoded, and the fields in these qualifiers."""
    try:
        return table, qualifier_prefix.decode_batch(table.column_names)
    except RowError:
        names = table.column_names.dictionary_encode()
        readable = [_is_readable(qualifier_prefix, one) for one in names.dictionary.to_pylist()]
        is_kept = np.array(readable, np.bool_)[names.indices.to_numpy()]
        table = table.filter_cells(is_kept)
        return table, qualifier_prefix.decode_batch(table.column_names)


def _is_readable(qualifier_prefix: QualifierPrefix, qualifier: bytes) -> bool:
    """Return whether the design can decode a qualifier."""
    try:
        qualifier_prefix.key.decode(qualifier)
    except RowError:
        return False
    return True


def _find_slice_starts(
    qualifier_prefix: QualifierPrefix, key: Key, keys: pa.Array
) -> list[list[int | None]]:
    """Return the start of each time slice in each row key: a list of rows for each slice.

    Raises:
        RowError: a row key has other bytes than the design encodes.
    """
    if not qualifier_prefix.slices:
        return []
    try:
        rows = [qualifier_prefix.find_slice_starts(key, data) for data in keys.to_pylist()]
    except InvalidArgument as refusal:
        raise RowError("key", refusal.mistake.problem, refusal.mistake.expected) from None
    return [list(column) for column in zip(*rows, strict=True)] or [
        [] for _ in qualifier_prefix.slices
    ]


def _compute_times(
    one: KeyTimeSlice, starts: list[int | None], row_of: IntArray, rests: IntArray
) -> tuple[pa.Array, BoolArray]:
    """Return the times of many events, and which remainders lie within their slice."""
    low, high = one.source_part.low, one.source_part.high
    null = np.array([start is None for start in starts], np.bool_)[row_of]
    begins = np.array([start or 0 for start in starts], np.int64)[row_of]
    inside = (rests >= 0) & (rests < one.remainder.length_units) & ~(null & (rests != 0))
    # A difference cannot overflow where a sum could.
    inside &= (rests <= high - begins) & (begins >= low - rests)
    numbers: Any = np.where(inside & ~null, begins + np.where(inside, rests, 0), low)
    times = one.field.type.build_number_column(numbers)
    return pc.if_else(pa.array(null), pa.scalar(None, times.type), times), inside
