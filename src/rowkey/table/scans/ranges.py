"""What a scan asks of the engine, and the pieces that come of its ranges, merged."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rowkey.engines import Ask, Span
from rowkey.table.scans.merge import gathered, late, merged
from rowkey.table.scans.pieces import (
    behind,
    close_all,
    events_apart,
    held,
    left_of,
    paged,
    parted,
    rows_apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rowkey.engines import Cursor
    from rowkey.plan import KeyRange
    from rowkey.table.scans.merge import Piece
    from rowkey.table.scans.scan import Scan

PAGE = 64
"""Cells of a row that come together where many events share it."""


def pieces_of(scan: Scan, opened: ExitStack) -> Iterator[Piece]:
    """The rows of all ranges that are left, merged; each event of a shared row by itself."""
    ranges = ranges_left(scan)
    rows: list[KeyRange] = []
    if scan.start is not None and scan.is_paged:
        rows, ranges = parted(ranges, scan.start)
    ask = _ask_behind(scan) if rows else None
    cursors = [*cursors_of(scan, opened, rows, ask), *cursors_of(scan, opened, ranges)]
    runs = [_late(scan, r, c) for r, c in zip([*rows, *ranges], cursors, strict=True)]
    copies = scan.copies
    found = merged(runs, reverse=scan.reverse, copies=copies.pinned, rank=scan.rank)
    if copies.scattered:
        found = gathered(found, copies, scan.rank)
    if scan.start is None or not scan.repeats:
        return found
    return behind(found, scan.start, is_falling=scan.reverse)


def ranges_left(scan: Scan) -> list[KeyRange]:
    """The ranges that are left to read, in the direction of the read."""
    if scan.start is None:
        return list(scan.plan.ranges)
    rest = partial(left_of, token=scan.start, is_falling=scan.reverse, again=scan.repeats)
    left = (rest(one, scan.copies.told(one.prefix)[0]) for one in scan.plan.ranges)
    return [one for one in left if one is not None]


def cursors_of(
    scan: Scan, opened: ExitStack, ranges: list[KeyRange], ask: Ask | None = None
) -> list[Cursor]:
    """A cursor for each range, closed with `opened`."""
    if not ranges:
        return []
    spans = [Span(one.start, one.stop) for one in ranges]
    cursors = scan.reader.scan(spans, ask or _ask(scan))
    opened.callback(close_all, cursors)
    return cursors


def _ask(scan: Scan) -> Ask:
    """What the engine is asked of each range."""
    # The limit is counted here: a row may hold nothing but somebody else's cells.
    return Ask(
        qualifiers=scan.design.layout.qualifiers(scan.asked.bounds),
        reverse=scan.reverse,
        batch=PAGE if scan.is_paged else None,
    )


def _ask_behind(scan: Scan) -> Ask:
    """What the engine is asked of the row of the token: it need not give what lies before."""
    ask = _ask(scan)
    first, last = ask.qualifiers
    assert scan.start is not None
    return replace(ask, qualifiers=(max(first, scan.start.opening), last))


def _late(scan: Scan, one: KeyRange, cursor: Cursor) -> Iterator[Piece]:
    """The pieces of one range, no row of which is read before its turn comes."""
    key = cursor.ahead()
    first = None if key is None else key[len(one.prefix) :]
    return late(first, _run, scan, one, cursor, reverse=scan.reverse)


def _run(scan: Scan, one: KeyRange, cursor: Cursor) -> Iterator[Piece]:
    """The pieces of one range."""
    opening = scan.design.layout.opening
    if opening is None:
        return rows_apart(one, cursor, scan.copies)
    if scan.is_paged:
        return events_apart(one, paged(cursor, opening), scan.copies)
    found = held(cursor, opening, is_falling=scan.reverse)
    return events_apart(one, found, scan.copies)
