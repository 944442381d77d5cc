"""Reads wide rows piece by piece, so that no more of a row is in memory than is needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rowkey.cells import CellType, FamilyView
from rowkey.engines.pairs.layout import NEXT_PIECE_START, PIECE_END, TAIL_BYTES, escape
from rowkey.engines.pairs.pair_reader import FIRST_CHUNK_CELLS, MAX_CHUNK_CELLS, find_last_row
from rowkey.engines.pairs.pair_source import FrozenPairs
from rowkey.engines.requests import CellSelection, ScanRange

if TYPE_CHECKING:
    from rowkey.engines.pairs.pair_reader import KeysAndValues
    from rowkey.engines.pairs.pair_source import AnyPairSource, Pair

MAX_SKIPPED_CELLS = 32
"""Cells outside the range that are read before a search for the next one: it costs as much."""

_FAMILY_DELETES = (255 - CellType.DELETE_FAMILY, 255 - CellType.DELETE_FAMILY_VERSION)


def is_paged_read(selection: CellSelection) -> bool:
    """Return whether a read splits wide rows into parts, so that no whole row is in memory.

    Only reads with `batch` do; not those with a limit of rows, in reverse, or raw.
    """
    return (
        selection.batch is not None
        and selection.limit is None
        and not selection.reverse
        and not selection.raw
    )


def read_qualifier_range(
    source: AnyPairSource, scan_range: ScanRange, view: FamilyView
) -> Iterator[Pair]:
    """Yield the stored pairs of a row range, skipping most columns outside a qualifier range.

    Args:
        source: a family, current or frozen.
        view: has the qualifier range; family deletes are yielded as well.
    """
    frozen_pairs = source if isinstance(source, FrozenPairs) else FrozenPairs(source)
    first, last = escape(view.start_qualifier), escape(view.stop_qualifier)
    return _skip_unwanted_pairs(
        frozen_pairs, (escape(scan_range.start), escape(scan_range.stop)), (first, last)
    )


def _skip_unwanted_pairs(
    source: FrozenPairs, key_range: tuple[bytes, bytes], qualifier_range: tuple[bytes, bytes]
) -> Iterator[Pair]:
    """Yield the pairs of a qualifier range; seek past long runs of other columns."""
    (start, stop), (first, last) = key_range, qualifier_range
    while True:
        skipped_count = 0
        for pair in source.read_pairs(start, stop):
            key = pair[0]
            row_end = key.index(PIECE_END) + 1
            suffix = key[row_end:]
            if suffix.startswith(PIECE_END) or (first <= suffix and (not last or suffix < last)):
                skipped_count = 0
                yield pair
                continue
            skipped_count += 1
            if skipped_count == MAX_SKIPPED_CELLS:
                start = (
                    key[:row_end] + first
                    if suffix < first
                    else key[: row_end - 1] + NEXT_PIECE_START
                )
                break
        else:
            return


def read_pages(pairs: Iterator[Pair]) -> Iterator[KeysAndValues]:
    """Yield all pairs of a range in chunks that end after a whole column, ascending.

    Family deletes are at the start of a row, and again at the start of each chunk that continues
    the row.
    """
    keys: list[bytes] = []
    values: list[bytes] = []
    repeated_count, page_cells = 0, FIRST_CHUNK_CELLS
    while part := list(islice(pairs, page_cells)):
        more_keys, more_values = zip(*part, strict=True)
        keys += more_keys
        values += more_values
        page_cells = min(2 * page_cells, MAX_CHUNK_CELLS)
        page_end = _find_last_column(keys)
        if page_end > repeated_count:
            yield keys[:page_end], values[:page_end]
            repeated = _find_family_deletes(keys, page_end)
            keys = [keys[place] for place in repeated] + keys[page_end:]
            values = [values[place] for place in repeated] + values[page_end:]
            repeated_count = len(repeated)
    if len(keys) > repeated_count:
        yield keys, values


def _find_last_column(keys: list[bytes]) -> int:
    """Return the index at which the last column of some keys starts."""
    column = keys[-1][:-TAIL_BYTES]
    place = len(keys) - 1
    while place and keys[place - 1].startswith(column):
        place -= 1
    return place


def _find_family_deletes(keys: list[bytes], stop: int) -> list[int]:
    """Return the indexes, before `stop`, of family deletes in the row that continues there."""
    row = keys[stop][: keys[stop].index(PIECE_END) + 1]
    if not keys[stop - 1].startswith(row):
        return []
    begin = find_last_row(keys[:stop])
    return [
        place
        for place in range(begin, stop)
        if keys[place].startswith(PIECE_END, len(row)) and keys[place][-1] in _FAMILY_DELETES
    ]
