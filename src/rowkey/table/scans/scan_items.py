"""Items of one range: its rows or events, and the rest of a range after a resume token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.cells import Cell, RowCells
from rowkey.engines import Cursor
from rowkey.errors import InvalidArgument
from rowkey.plan import KeyRange
from rowkey.rows import Layout, QualifierPrefix
from rowkey.table.scans.merge import CopyMatcher, ScanItem, build_item
from rowkey.table.scans.scan_token import ScanToken

if TYPE_CHECKING:
    EventInRow = tuple[bytes, bytes, list[Cell]]
    """A row key, the prefix of an event's qualifiers, and the event's cells."""


def close_cursors(cursors: Iterable[Cursor]) -> None:
    """Close all cursors, even if closing one of them fails."""
    remaining_cursors = iter(cursors)
    for cursor in remaining_cursors:
        try:
            cursor.close()
        except BaseException:
            close_cursors(remaining_cursors)
            raise


def build_row_items(
    key_range: KeyRange, rows: Iterable[RowCells], matcher: CopyMatcher
) -> Iterator[ScanItem]:
    """Return the rows of a range as items, where each row has one event."""
    size = len(key_range.prefix)
    prefix, copy = matcher.split_prefix(key_range.prefix)
    return (build_item((row[size:], b"", prefix, copy, row, cells)) for row, cells in rows)


def build_event_items(
    key_range: KeyRange, events: Iterable[EventInRow], matcher: CopyMatcher
) -> Iterator[ScanItem]:
    """Return the events of a range as items, where several events may share a row."""
    size = len(key_range.prefix)
    prefix, copy = matcher.split_prefix(key_range.prefix)
    return (build_item((row[size:], at, prefix, copy, row, cells)) for row, at, cells in events)


def read_paged_events(
    rows: Iterable[RowCells], layout: Layout, *, undeclared: bool
) -> Iterator[EventInRow]:
    """Yield the events of shared rows whose cells are neighbours, one event in memory.

    Args:
        layout: the layout of the design.
        undeclared: whether undeclared cells come too: with their event, or each that names none by
            itself, with its whole qualifier in place of a prefix.

    Raises:
        RowError: a key has a time slice that cannot be decoded, and undeclared cells are wanted.
    """
    cells = _read_all_cells(rows, layout) if undeclared else _read_event_cells(rows, layout)
    for (row, at), event_cells in groupby(cells, key=itemgetter(0, 1)):
        yield row, at, [cell for _, _, cell in event_cells]


def read_buffered_events(
    rows: Iterable[RowCells], layout: Layout, *, is_descending: bool
) -> Iterator[EventInRow]:
    """Yield the events of shared rows in the order of the read, one row in memory."""
    for row, same in groupby(_read_event_cells(rows, layout), key=itemgetter(0)):
        events: dict[bytes, list[Cell]] = {}
        for _, at, cell in same:
            events.setdefault(at, []).append(cell)
        for at in sorted(events, reverse=is_descending):
            yield row, at, events[at]


def read_all_events(
    rows: Iterable[RowCells], layout: Layout, *, is_descending: bool
) -> Iterator[EventInRow]:
    """Yield all cells of shared rows by event, those of no event before the first; a row in memory.

    Raises:
        RowError: a key has a time slice that cannot be decoded.
    """
    for row, cells in rows:
        prefixes = layout.event_reader.find_event_prefixes(row, [cell.qualifier for cell in cells])
        events: dict[bytes, list[Cell]] = {}
        for prefix, cell in zip(prefixes, cells, strict=True):
            events.setdefault(prefix or b"", []).append(cell)
        for at in sorted(events, reverse=is_descending):
            yield row, at, events[at]


def _read_all_cells(
    rows: Iterable[RowCells], layout: Layout
) -> Iterator[tuple[bytes, bytes, Cell]]:
    """Yield the cells of rows with their row key and the prefix of their event.

    That of a cell of no event is its qualifier, so that the order is that of the cells.
    """
    for row, cells in rows:
        prefixes = layout.event_reader.find_event_prefixes(row, [cell.qualifier for cell in cells])
        for prefix, cell in zip(prefixes, cells, strict=True):
            yield row, cell.qualifier if prefix is None else prefix, cell


def _read_event_cells(
    rows: Iterable[RowCells], layout: Layout
) -> Iterator[tuple[bytes, bytes, Cell]]:
    """Yield the cells of rows with their row key and the prefix of their qualifier.

    Undeclared cells are left out if their family or their qualifier shows it.
    """
    assert layout.qualifier_prefix is not None
    find_end, families = layout.qualifier_prefix.find_end, layout.families
    for row, cells in rows:
        for cell in cells:
            qualifier = cell.qualifier
            if cell.family not in families:
                continue
            try:
                end = find_end(qualifier)
            except InvalidArgument:
                continue
            yield row, qualifier[:end], cell


def align_to_events(
    blocks: Iterator[pa.RecordBatch], qualifier_prefix: QualifierPrefix
) -> Iterator[pa.RecordBatch]:
    """Yield the cells of blocks in blocks that end with complete events."""
    partial_event: list[pa.RecordBatch] = []
    for block in blocks:
        cells = pa.concat_batches([*partial_event, block])
        end = _find_last_event(cells, qualifier_prefix)
        partial_event = [cells.slice(end)]
        if end:
            yield cells.slice(0, end)
    yield from partial_event


def _find_last_event(block: pa.RecordBatch, qualifier_prefix: QualifierPrefix) -> int:
    """Return the index of the first cell of the last event of a block."""
    rows, qualifiers = block.column("row"), block.column("qualifier")
    index = int(block.num_rows) - 1
    row, last = rows[index], qualifiers[index].as_py()
    try:
        start = last[: qualifier_prefix.find_end(last)]
    except InvalidArgument:
        return index  # an undeclared cell
    while index and rows[index - 1] == row and qualifiers[index - 1].as_py().startswith(start):
        index -= 1
    return index


def trim_range(
    key_range: KeyRange,
    common_prefix: bytes,
    token: ScanToken,
    *,
    is_descending: bool,
    rereads_row: bool,
) -> KeyRange | None:
    """Return the rest of a range after a resume token, or None if nothing is left.

    Args:
        common_prefix: the bytes of its prefix that copies of one row have in common.
        token: the token of the last row that was returned.
        is_descending: whether the range is read in reverse.
        rereads_row: whether the row of the token is read again, because it may have more events or
            copies.
    """
    at = key_range.prefix + token.suffix
    if is_descending:
        stop = at + b"\0" if rereads_row or common_prefix < token.common_prefix else at
        if stop <= key_range.start:
            return None
        return (
            key_range
            if key_range.stop and key_range.stop <= stop
            else key_range._replace(stop=stop)
        )
    start = at if rereads_row or common_prefix > token.common_prefix else at + b"\0"
    if key_range.stop and key_range.stop <= start:
        return None
    return key_range if start <= key_range.start else key_range._replace(start=start)


def split_at_token(
    ranges: list[KeyRange], token: ScanToken
) -> tuple[list[KeyRange], list[KeyRange]]:
    """Split ranges that begin with the row of a token into that row and the rest."""
    rows, other_ranges = [], []
    for one in ranges:
        at = one.prefix + token.suffix
        if one.start != at:
            other_ranges.append(one)
            continue
        next_row = at + b"\0"
        rows.append(one._replace(stop=next_row))
        if not one.stop or next_row < one.stop:
            other_ranges.append(one._replace(start=next_row))
    return rows, other_ranges


def skip_past_token(
    items: Iterator[ScanItem], token: ScanToken, *, is_descending: bool
) -> Iterator[ScanItem]:
    """Return the items after a resume token, ignoring which copy of its row was returned."""
    last = token[1:4]
    if is_descending:
        return (item for item in items if item[:3] < last)
    return (item for item in items if item[:3] > last)
