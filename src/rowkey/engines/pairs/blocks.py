"""Chunks of stored pairs as blocks of Arrow columns, cut to the number of rows that is asked."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rowkey.engines.columns import block_schema, build_blocks
from rowkey.engines.pairs.columns import take_columns_apart
from rowkey.engines.pairs.reading import rows_one_by_one, seen_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from rowkey.cells import View
    from rowkey.engines.pairs.columns import Columns
    from rowkey.engines.pairs.ranges import Pairs

    Piece = tuple[pa.RecordBatch, list[int]]
    """Cells, and where each row begins."""


FEWEST = 1_024
"""Rows of a range's first block: the first row of many ranges need not wait for large ones."""


def chunk_blocks(
    chunks: Iterable[Pairs], family: str, view: View, *, reverse: bool
) -> Iterator[Piece]:
    """The cells that a read sees of each chunk, with the places at which a row begins."""
    for keys, values in chunks:
        seen = seen_columns(take_columns_apart(keys, values), view)
        if seen is not None:
            piece = _block_of(family, seen.reversed_rows() if reverse else seen)
            if piece[1]:
                yield piece
            continue
        rows = rows_one_by_one(family, keys, values, view)
        if reverse:
            rows.reverse()
        if rows:
            starts = [0, *accumulate(len(row.cells) for row in rows[:-1])]
            (block,) = _whole(build_blocks(rows, (family,), len(rows)))
            yield block, starts


def _whole(blocks: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Blocks as one, where large values made several of them."""
    import pyarrow as pa

    return [pa.concat_batches(list(blocks))]


def _block_of(family: str, columns: Columns) -> Piece:
    import numpy as np
    import pyarrow as pa

    count = len(columns.kinds)
    if not count:
        return pa.RecordBatch.from_pylist([], schema=block_schema()), []
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [family])
    arrays = [columns.rows, names, columns.qualifiers, pa.array(columns.timestamps), columns.values]
    block = pa.RecordBatch.from_arrays(arrays, schema=block_schema())
    return block, columns.row_starts().tolist()


def regrouped(pieces: Iterable[Piece], rows: int, limit: int | None) -> Iterator[tuple[Any, Any]]:
    """Blocks of so many rows each, the first and the last of fewer, and where their rows begin.

    Args:
        pieces: cells of whole rows.
        rows: rows of a block.
        limit: most rows in all.
    """
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    begins: list[int] = []
    left, size = limit, min(rows, FEWEST)
    for piece in pieces:
        block, starts = piece if left is None else _first(piece, left)
        left = None if left is None else left - len(starts)
        done = 0
        while done < len(starts):
            taken = starts[done : done + size - len(begins)]
            behind = done + len(taken)
            stop = starts[behind] if behind < len(starts) else block.num_rows
            before = sum(one.num_rows for one in waiting) - taken[0]
            begins += [before + start for start in taken]
            waiting.append(block.slice(taken[0], stop - taken[0]))
            done = behind
            if len(begins) == size:
                yield _joined(waiting), pa.array(begins)
                waiting, begins = [], []
                size = min(2 * size, rows)
        if left == 0:
            break
    if begins:
        yield _joined(waiting), pa.array(begins)


def _first(piece: Piece, most: int) -> Piece:
    """The first rows of a piece."""
    block, starts = piece
    return piece if len(starts) <= most else (block.slice(0, starts[most]), starts[:most])


def _joined(blocks: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    return blocks[0] if len(blocks) == 1 else pa.concat_batches(blocks)
