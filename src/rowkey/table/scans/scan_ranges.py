"""Read the ranges of a scan from the engine, and merge their items."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rowkey.engines import MAX_VERSIONS, CellSelection, Cursor, ScanRange
from rowkey.plan import KeyRange, count_first_rows
from rowkey.table.scans.merge import ScanItem, defer_run, gather_copies, merge_runs
from rowkey.table.scans.scan_items import (
    build_event_items,
    build_row_items,
    close_cursors,
    read_all_events,
    read_buffered_events,
    read_paged_events,
    skip_past_token,
    split_at_token,
    trim_range,
)
from rowkey.table.scans.undecodable_rows import skip_undecodable_keys

if TYPE_CHECKING:
    from rowkey.table.scans.scan_state import ScanState

PAGE_CELLS = 64
"""Cells of a row that are read together if many events share it."""


def read_items(scan: ScanState, stack: ExitStack) -> Iterator[ScanItem]:
    """Return the merged items of the remaining ranges of a scan: rows, or events of shared rows."""
    ranges = list_remaining_ranges(scan)
    rows: list[KeyRange] = []
    if scan.start_token is not None and scan.is_paged:
        rows, ranges = split_at_token(ranges, scan.start_token)
    selection = _build_resume_selection(scan) if rows else None
    cursors = [*open_cursors(scan, stack, rows, selection), *open_cursors(scan, stack, ranges)]
    runs = [_defer_range(scan, r, c) for r, c in zip([*rows, *ranges], cursors, strict=True)]
    copies = scan.copy_matcher
    items = merge_runs(
        runs, reverse=scan.is_reverse, join_copies=copies.is_in_prefix, rank=scan.rank_item
    )
    if copies.is_scattered:
        items = gather_copies(items, copies, scan.rank_item)
    if scan.start_token is None or not scan.rereads_row:
        return items
    return skip_past_token(items, scan.start_token, is_descending=scan.is_reverse)


def list_ranges_outside(scan: ScanState) -> list[ScanRange]:
    """Return what lies between the ranges of a scan of all rows: keys that no row can have.

    Only other programs put rows there, such as under a first byte that is no bucket.
    """
    gaps, start = [], b"\0"  # the first row key that there can be
    for one in sorted(scan.plan.ranges):
        if start < one.start:
            gaps.append(ScanRange(start, one.start))
        if not one.stop:
            return gaps
        start = max(start, one.stop)
    return [*gaps, ScanRange(start)]


def count_rows_outside(scan: ScanState) -> None:
    """Count the rows outside of the ranges of a scan of all rows, as rows that are left out."""
    limit = None if scan.limit is None else min(scan.limit, MAX_VERSIONS)
    selection = CellSelection(batch=PAGE_CELLS, limit=limit, expected_rows=limit)
    with ExitStack() as stack:
        cursors = scan.reader.scan(list_ranges_outside(scan), selection)
        stack.callback(close_cursors, cursors)
        for cursor in cursors:
            deque(skip_undecodable_keys(cursor, scan.design.key, scan.undecodable_rows.add), 0)


def list_remaining_ranges(scan: ScanState) -> list[KeyRange]:
    """Return the ranges of a scan that are left to read after its start token."""
    if scan.start_token is None:
        return list(scan.plan.ranges)
    trim = partial(
        trim_range,
        token=scan.start_token,
        is_descending=scan.is_reverse,
        rereads_row=scan.rereads_row,
    )
    left = (trim(one, scan.copy_matcher.split_prefix(one.prefix)[0]) for one in scan.plan.ranges)
    return [one for one in left if one is not None]


def open_cursors(
    scan: ScanState,
    stack: ExitStack,
    ranges: list[KeyRange],
    selection: CellSelection | None = None,
) -> list[Cursor]:
    """Open a cursor for each range of a scan; they close with the stack."""
    if not ranges:
        return []
    spans = [ScanRange(one.start, one.stop) for one in ranges]
    selection = selection or _build_selection(scan)
    selection = replace(selection, expected_rows=_estimate_rows_to_read(scan, len(ranges)))
    cursors = scan.reader.scan(spans, selection)
    stack.callback(close_cursors, cursors)
    return cursors


def _build_selection(scan: ScanState) -> CellSelection:
    """Return the selection of cells that the engine reads of each range of a scan."""
    # The limit is no limit of the engine: a row may have undeclared cells only.
    return CellSelection(
        qualifier_range=scan.design.layout.find_qualifier_range(scan.bound_read.bounds),
        reverse=scan.is_reverse,
        batch=PAGE_CELLS if scan.is_paged else None,
    )


def _estimate_rows_to_read(scan: ScanState, range_count: int) -> int | None:
    """Return the rows, or pages of a paged scan, that are probably read of a range; None: all."""
    if scan.limit is None or scan.needs_sort:
        return None
    layout, copies = scan.design.layout, scan.copy_matcher
    is_joined = layout.has_shared_rows or copies.is_in_prefix or copies.is_scattered
    # The row after the last one shows that no copy or event of that one follows.
    rows = count_first_rows(min(scan.limit, MAX_VERSIONS - 1) + is_joined, range_count)
    if scan.is_paged:
        return -(-rows * len(layout.slots) // PAGE_CELLS)
    return min(rows, 2) if layout.has_shared_rows else rows


def _build_resume_selection(scan: ScanState) -> CellSelection:
    """Return the selection of cells of the token's row: none before the token."""
    selection = _build_selection(scan)
    first, last = selection.qualifier_range
    assert scan.start_token is not None
    start = max(first, scan.start_token.qualifier_prefix)
    return replace(selection, qualifier_range=(start, last))


def _defer_range(scan: ScanState, key_range: KeyRange, cursor: Cursor) -> Iterator[ScanItem]:
    """Return the items of one range, which is read only when the merge needs its first item."""
    key = cursor.peek_first_row()
    first = None if key is None else key[len(key_range.prefix) :]
    return defer_run(first, _read_range, scan, key_range, cursor, reverse=scan.is_reverse)


def _read_range(scan: ScanState, key_range: KeyRange, cursor: Cursor) -> Iterator[ScanItem]:
    """Return the items that a cursor reads of one range: rows, or events of shared rows."""
    layout, rows = scan.design.layout, iter(cursor)
    if scan.needs_decodable_keys:
        rows = skip_undecodable_keys(cursor, scan.design.key, scan.leave_row_out)
    if layout.qualifier_prefix is None:
        return build_row_items(key_range, rows, scan.copy_matcher)
    if scan.is_paged:
        events = read_paged_events(rows, layout, undeclared=scan.counts_undeclared)
    elif scan.counts_undeclared:
        events = read_all_events(rows, layout, is_descending=scan.is_reverse)
    else:
        events = read_buffered_events(rows, layout, is_descending=scan.is_reverse)
    return build_event_items(key_range, events, scan.copy_matcher)
