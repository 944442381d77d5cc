"""Rows and events of one range as pieces that merge, and what is left of a range behind a token."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.table.scans.merge import Piece, piece_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from rowkey.cells import Cell
    from rowkey.engines import Cursor
    from rowkey.plan import KeyRange
    from rowkey.rows import Opening
    from rowkey.table.scans.merge import Copies
    from rowkey.table.scans.tokens import Token

    Found = tuple[bytes, bytes, list[Cell]]
    """A row, what opens the qualifiers of an event in it, and the event's cells."""


def close_all(cursors: Iterable[Cursor]) -> None:
    """Close cursors, all of them even where one fails."""
    left = iter(cursors)
    for cursor in left:
        try:
            cursor.close()
        except BaseException:
            close_all(left)
            raise


def rows_apart(one: KeyRange, cursor: Cursor, copies: Copies) -> Iterator[Piece]:
    """The rows of a range, each of which holds one event."""
    size = len(one.prefix)
    prefix, copy = copies.told(one.prefix)
    return (piece_of((row[size:], b"", prefix, copy, row, cells)) for row, cells in cursor)


def events_apart(one: KeyRange, found: Iterable[Found], copies: Copies) -> Iterator[Piece]:
    """The events of a range, several of which may share a row, as `paged` or `held` gave them."""
    size = len(one.prefix)
    prefix, copy = copies.told(one.prefix)
    return (piece_of((row[size:], at, prefix, copy, row, cells)) for row, at, cells in found)


def paged(cursor: Cursor, opening: Opening) -> Iterator[Found]:
    """Events whose cells stand side by side, read as they are asked for, however wide a row is."""
    for (row, at), same in groupby(_opened(cursor, opening), key=itemgetter(0, 1)):
        yield row, at, [cell for _, _, cell in same]


def held(cursor: Cursor, opening: Opening, *, is_falling: bool) -> Iterator[Found]:
    """Events in the order of the read, each row held as a whole."""
    for row, same in groupby(_opened(cursor, opening), key=itemgetter(0)):
        events: dict[bytes, list[Cell]] = {}
        for _, at, cell in same:
            events.setdefault(at, []).append(cell)
        for at in sorted(events, reverse=is_falling):
            yield row, at, events[at]


def _opened(cursor: Cursor, opening: Opening) -> Iterator[tuple[bytes, bytes, Cell]]:
    """The cells of events, with their row and what opens their qualifiers."""
    measure = opening.measure
    for row, cells in cursor:
        for cell in cells:
            qualifier = cell.qualifier
            try:
                end = measure(qualifier)
            except Refused:
                continue  # somebody else's cell
            yield row, qualifier[:end], cell


def whole_events(blocks: Iterator[pa.RecordBatch], opening: Opening) -> Iterator[pa.RecordBatch]:
    """The same cells in blocks that end with an event, where they may end within one."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for block in blocks:
        whole = pa.concat_batches([*held, block])
        cut = _last_event(whole, opening)
        held = [whole.slice(cut)]
        if cut:
            yield whole.slice(0, cut)
    yield from held


def _last_event(block: pa.RecordBatch, opening: Opening) -> int:
    """The place at which the last event of some cells begins."""
    rows, qualifiers = block.column("row"), block.column("qualifier")
    place = int(block.num_rows) - 1
    row, last = rows[place], qualifiers[place].as_py()
    try:
        start = last[: opening.measure(last)]
    except Refused:
        return place  # somebody else's cell
    while place and rows[place - 1] == row and qualifiers[place - 1].as_py().startswith(start):
        place -= 1
    return place


def left_of(
    one: KeyRange, common: bytes, token: Token, *, is_falling: bool, again: bool
) -> KeyRange | None:
    """What is left of a range behind a token.

    Args:
        one: the range.
        common: what of its prefix tells rows apart.
        token: where the read stood.
        is_falling: whether the range is read in reverse.
        again: whether the row of the token is read again, for what else it may hold.
    """
    at = one.prefix + token.behind
    if is_falling:
        stop = at + b"\0" if again or common < token.prefix else at
        if stop <= one.start:
            return None
        return one if one.stop and one.stop <= stop else one._replace(stop=stop)
    start = at if again or common > token.prefix else at + b"\0"
    if one.stop and one.stop <= start:
        return None
    return one if start <= one.start else one._replace(start=start)


def parted(ranges: list[KeyRange], token: Token) -> tuple[list[KeyRange], list[KeyRange]]:
    """The row of a token in ranges that begin with it, and all that lies behind."""
    rows, rest = [], []
    for one in ranges:
        at = one.prefix + token.behind
        if one.start != at:
            rest.append(one)
            continue
        next_row = at + b"\0"
        rows.append(one._replace(stop=next_row))
        if not one.stop or next_row < one.stop:
            rest.append(one._replace(start=next_row))
    return rows, rest


def behind(pieces: Iterator[Piece], token: Token, *, is_falling: bool) -> Iterator[Piece]:
    """The pieces behind a token; which copy of a row stood first does not matter."""
    last = token[1:]
    if is_falling:
        return (piece for piece in pieces if piece[:3] < last)
    return (piece for piece in pieces if piece[:3] > last)
