"""Converts stored key-value pairs to Arrow record batches of the requested number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.cells import FamilyView
from rowkey.engines.cell_blocks import build_block_schema, build_blocks, join_blocks
from rowkey.engines.pairs.cell_columns import CellColumns, parse_columns
from rowkey.engines.pairs.row_decoder import parse_rows, select_visible_columns

if TYPE_CHECKING:
    from rowkey.engines.pairs.pair_reader import KeysAndValues

    BlockWithStarts = tuple[pa.RecordBatch, list[int]]
    """Cells, and the index at which each row starts."""


FIRST_BLOCK_ROWS = 1_024
"""Rows of a range's first block: the first row of many ranges need not wait for large ones."""


def build_chunk_blocks(
    chunks: Iterable[KeysAndValues], family: str, view: FamilyView, *, reverse: bool
) -> Iterator[BlockWithStarts]:
    """Convert chunks of stored pairs to record batches of visible cells, with row starts."""
    for keys, values in chunks:
        visible_columns = select_visible_columns(parse_columns(keys, values), view)
        if visible_columns is not None:
            piece = _build_block(
                family, visible_columns.reverse_rows() if reverse else visible_columns
            )
            if piece[1]:
                yield piece
            continue
        rows = parse_rows(family, keys, values, view)
        if reverse:
            rows.reverse()
        if rows:
            starts = [0, *accumulate(len(row.cells) for row in rows[:-1])]
            # A chunk with large values gives several blocks.
            yield join_blocks(list(build_blocks(rows, (family,), len(rows)))), starts


def _build_block(family: str, columns: CellColumns) -> BlockWithStarts:
    """Return columns of one family as a record batch, with the index of each row's start."""
    count = len(columns.type_bytes)
    if not count:
        return pa.RecordBatch.from_pylist([], schema=build_block_schema()), []
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [family])
    arrays = [columns.rows, names, columns.qualifiers, pa.array(columns.timestamps), columns.values]
    block = pa.RecordBatch.from_arrays(arrays, schema=build_block_schema())
    return block, columns.find_row_starts().tolist()


def regroup_blocks(
    blocks: Iterable[BlockWithStarts], rows: int, limit: int | None
) -> Iterator[tuple[Any, Any]]:
    """Yield record batches of `rows` rows, the first ones smaller, with their row starts.

    Args:
        blocks: cells of whole rows.
        rows: maximum number of rows of a record batch.
        limit: maximum number of rows in all; None for no limit.
    """
    pending_blocks: list[pa.RecordBatch] = []
    row_starts: list[int] = []
    remaining_rows, size = limit, min(rows, FIRST_BLOCK_ROWS)
    for next_block in blocks:
        block, starts = (
            next_block if remaining_rows is None else _limit_rows(next_block, remaining_rows)
        )
        remaining_rows = None if remaining_rows is None else remaining_rows - len(starts)
        first = 0
        while first < len(starts):
            taken_starts = starts[first : first + size - len(row_starts)]
            end = first + len(taken_starts)
            stop = starts[end] if end < len(starts) else block.num_rows
            shift = sum(pending.num_rows for pending in pending_blocks) - taken_starts[0]
            row_starts += [shift + start for start in taken_starts]
            pending_blocks.append(block.slice(taken_starts[0], stop - taken_starts[0]))
            first = end
            if len(row_starts) == size:
                yield join_blocks(pending_blocks), pa.array(row_starts)
                pending_blocks, row_starts = [], []
                size = min(2 * size, rows)
        if remaining_rows == 0:
            break
    if row_starts:
        yield join_blocks(pending_blocks), pa.array(row_starts)


def _limit_rows(block_with_starts: BlockWithStarts, max_rows: int) -> BlockWithStarts:
    """Return the first rows of a record batch, at most `max_rows` of them."""
    block, starts = block_with_starts
    if len(starts) <= max_rows:
        return block_with_starts
    return block.slice(0, starts[max_rows]), starts[:max_rows]
