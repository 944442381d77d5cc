"""Chunks of stored pairs as Arrow record batches of the requested number of rows."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rowkey.engines.cell_blocks import build_block_schema, build_blocks
from rowkey.engines.pairs.cell_columns import parse_columns
from rowkey.engines.pairs.row_decoder import parse_rows, select_visible_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from rowkey.cells import FamilyView
    from rowkey.engines.pairs.cell_columns import CellColumns
    from rowkey.engines.pairs.pair_reader import KeysAndValues

    BlockWithStarts = tuple[pa.RecordBatch, list[int]]
    """Cells, and where each row begins."""


FIRST_BLOCK_ROWS = 1_024
"""Rows of a range's first block: the first row of many ranges need not wait for large ones."""


def build_chunk_blocks(
    chunks: Iterable[KeysAndValues], family: str, view: FamilyView, *, reverse: bool
) -> Iterator[BlockWithStarts]:
    """Yield the visible cells of each chunk as a record batch, and where its rows start."""
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
            (block,) = _concat_blocks(build_blocks(rows, (family,), len(rows)))
            yield block, starts


def _concat_blocks(blocks: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return record batches joined; one chunk gives several if its values are large."""
    import pyarrow as pa

    return [pa.concat_batches(list(blocks))]


def _build_block(family: str, columns: CellColumns) -> BlockWithStarts:
    """Return a record batch of one family, with the start of each row."""
    import numpy as np
    import pyarrow as pa

    count = len(columns.type_bytes)
    if not count:
        return pa.RecordBatch.from_pylist([], schema=build_block_schema()), []
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [family])
    arrays = [columns.rows, names, columns.qualifiers, pa.array(columns.timestamps), columns.values]
    block = pa.RecordBatch.from_arrays(arrays, schema=build_block_schema())
    return block, columns.find_row_starts().tolist()


def regroup_blocks(
    pieces: Iterable[BlockWithStarts], rows: int, limit: int | None
) -> Iterator[tuple[Any, Any]]:
    """Yield record batches of `rows` rows, the first and last of fewer, and where their rows start.

    Args:
        pieces: cells of whole rows.
        rows: rows of a block.
        limit: most rows in all.
    """
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    begins: list[int] = []
    left, size = limit, min(rows, FIRST_BLOCK_ROWS)
    for piece in pieces:
        block, starts = piece if left is None else _take_first_rows(piece, left)
        left = None if left is None else left - len(starts)
        done = 0
        while done < len(starts):
            taken_starts = starts[done : done + size - len(begins)]
            behind = done + len(taken_starts)
            stop = starts[behind] if behind < len(starts) else block.num_rows
            before = sum(one.num_rows for one in waiting) - taken_starts[0]
            begins += [before + start for start in taken_starts]
            waiting.append(block.slice(taken_starts[0], stop - taken_starts[0]))
            done = behind
            if len(begins) == size:
                yield _join_blocks(waiting), pa.array(begins)
                waiting, begins = [], []
                size = min(2 * size, rows)
        if left == 0:
            break
    if begins:
        yield _join_blocks(waiting), pa.array(begins)


def _take_first_rows(piece: BlockWithStarts, max_rows: int) -> BlockWithStarts:
    """Return the first rows of a record batch."""
    block, starts = piece
    return (
        piece if len(starts) <= max_rows else (block.slice(0, starts[max_rows]), starts[:max_rows])
    )


def _join_blocks(blocks: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return record batches joined into one."""
    import pyarrow as pa

    return blocks[0] if len(blocks) == 1 else pa.concat_batches(blocks)
