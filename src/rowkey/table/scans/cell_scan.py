"""Scan the cells of all rows of a table as blocks, with the copies of each row merged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.engines import CellSelection, ScanRange, build_blocks
from rowkey.plan import BoundRead
from rowkey.table.scans.blocks import BLOCK_ROWS
from rowkey.table.scans.scan import Scan
from rowkey.table.scans.scan_items import align_to_events, close_cursors
from rowkey.table.scans.scan_ranges import PAGE_CELLS, list_ranges_outside, read_items

if TYPE_CHECKING:
    from rowkey.table.generations.generation_tracker import GenerationState


def read_cell_blocks(
    state: GenerationState, versions: int = 1, *, merges_copies: bool = True
) -> Iterator[pa.RecordBatch]:
    """Yield the cells of all rows of a table, in the order of the table; no event is divided.

    If a row may be stored under several row keys, its copies are merged, with the newest version
    of each cell: that is slower by a factor of five.

    Args:
        state: the designs and the store of the table.
        versions: how many versions of each cell are wanted; 1 if rows have copies.
        merges_copies: whether copies are merged; cells that belong to no event are left out then.
    """
    with ExitStack() as stack:
        if state.has_row_copies and merges_copies:
            yield from _read_merged_blocks(state, stack)
            return
        store, layout = state.writer.store, state.combined_design.layout
        has_one_family = len(store.families_and_attributes[0]) == 1
        is_paged = layout.has_shared_rows and has_one_family
        selection = CellSelection(versions=versions, batch=PAGE_CELLS if is_paged else None)
        cursors = store.scan([ScanRange()], selection)
        stack.callback(close_cursors, cursors)
        blocks = cursors[0].read_blocks(BLOCK_ROWS)
        if is_paged:
            assert layout.qualifier_prefix is not None
            blocks = align_to_events(blocks, layout.qualifier_prefix)
        yield from (block for block in blocks if block.num_rows)


def _read_merged_blocks(state: GenerationState, stack: ExitStack) -> Iterator[pa.RecordBatch]:
    """Yield the newest cells of all rows, each under the key of its first copy.

    Rows outside of all keys of the design come last.
    """
    store = state.writer.store
    scan = Scan(state, store, BoundRead({}))
    rows = (RowCells(item.row, item.cells) for item in read_items(scan, stack))
    # Undeclared cells may lie in families that the design does not have.
    families = [family.name for family in store.families_and_attributes[0]]
    yield from build_blocks(rows, families, BLOCK_ROWS)
    outside = store.scan(list_ranges_outside(scan))
    stack.callback(close_cursors, outside)
    blocks = chain.from_iterable(cursor.read_blocks(BLOCK_ROWS) for cursor in outside)
    yield from (block for block in blocks if block.num_rows)
