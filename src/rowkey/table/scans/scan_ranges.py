"""The ranges of a scan: what is asked of the engine, and their items, merged."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rowkey.engines import CellSelection, ScanRange
from rowkey.table.scans.merge import defer_run, gather_copies, merge_runs
from rowkey.table.scans.scan_items import (
    build_event_items,
    build_row_items,
    close_cursors,
    read_buffered_events,
    read_paged_events,
    skip_past_token,
    split_at_token,
    trim_range,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rowkey.engines import Cursor
    from rowkey.plan import KeyRange
    from rowkey.table.scans.merge import ScanItem
    from rowkey.table.scans.scan import Scan

PAGE_CELLS = 64
"""Cells of a row that come together where many events share it."""


def read_items(scan: Scan, stack: ExitStack) -> Iterator[ScanItem]:
    """Return the rows of the remaining ranges, merged; each event of a shared row by itself."""
    ranges = list_remaining_ranges(scan)
    rows: list[KeyRange] = []
    if scan.start_token is not None and scan.is_paged:
        rows, ranges = split_at_token(ranges, scan.start_token)
    ask = _build_resume_selection(scan) if rows else None
    cursors = [*open_cursors(scan, stack, rows, ask), *open_cursors(scan, stack, ranges)]
    runs = [_defer_range(scan, r, c) for r, c in zip([*rows, *ranges], cursors, strict=True)]
    copies = scan.copy_matcher
    found = merge_runs(
        runs, reverse=scan.is_reverse, join_copies=copies.is_in_prefix, rank=scan.rank_item
    )
    if copies.is_scattered:
        found = gather_copies(found, copies, scan.rank_item)
    if scan.start_token is None or not scan.rereads_row:
        return found
    return skip_past_token(found, scan.start_token, is_descending=scan.is_reverse)


def list_remaining_ranges(scan: Scan) -> list[KeyRange]:
    """Return the ranges that are left to read, in the direction of the read."""
    if scan.start_token is None:
        return list(scan.plan.ranges)
    rest = partial(
        trim_range,
        token=scan.start_token,
        is_descending=scan.is_reverse,
        rereads_row=scan.rereads_row,
    )
    left = (rest(one, scan.copy_matcher.split_prefix(one.prefix)[0]) for one in scan.plan.ranges)
    return [one for one in left if one is not None]


def open_cursors(
    scan: Scan, stack: ExitStack, ranges: list[KeyRange], selection: CellSelection | None = None
) -> list[Cursor]:
    """Open a cursor for each range, closed with `stack`."""
    if not ranges:
        return []
    spans = [ScanRange(one.start, one.stop) for one in ranges]
    cursors = scan.reader.scan(spans, selection or _build_selection(scan))
    stack.callback(close_cursors, cursors)
    return cursors


def _build_selection(scan: Scan) -> CellSelection:
    """Return what the engine is asked of each range."""
    # The limit is counted here: a row may hold nothing but cells of another program.
    return CellSelection(
        qualifier_range=scan.design.layout.find_qualifier_range(scan.bound_read.bounds),
        reverse=scan.is_reverse,
        batch=PAGE_CELLS if scan.is_paged else None,
    )


def _build_resume_selection(scan: Scan) -> CellSelection:
    """Return what the engine is asked of the token's row: no cell before the token."""
    ask = _build_selection(scan)
    first, last = ask.qualifier_range
    assert scan.start_token is not None
    return replace(ask, qualifier_range=(max(first, scan.start_token.qualifier_prefix), last))


def _defer_range(scan: Scan, key_range: KeyRange, cursor: Cursor) -> Iterator[ScanItem]:
    """Return the items of one range, no row of which is read before its turn comes."""
    key = cursor.peek_first_row()
    first = None if key is None else key[len(key_range.prefix) :]
    return defer_run(first, _read_range, scan, key_range, cursor, reverse=scan.is_reverse)


def _read_range(scan: Scan, key_range: KeyRange, cursor: Cursor) -> Iterator[ScanItem]:
    """Return the items of one range."""
    opening = scan.design.layout.qualifier_prefix
    if opening is None:
        return build_row_items(key_range, cursor, scan.copy_matcher)
    if scan.is_paged:
        return build_event_items(key_range, read_paged_events(cursor, opening), scan.copy_matcher)
    found = read_buffered_events(cursor, opening, is_descending=scan.is_reverse)
    return build_event_items(key_range, found, scan.copy_matcher)
