"""Decodes stored pairs to rows of cells.

A few cells are parsed one by one; many go through Arrow, which costs a tenth. The cells of a row
are built when the row is read: objects that wait are work for Python's garbage collector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import LATEST, Cell, CellType, FamilyView, RowCells
from rowkey.engines.pairs.cell_columns import CellColumns, parse_columns
from rowkey.engines.pairs.layout import (
    CELL_TYPES,
    MARK_PREFIX,
    PIECE_END,
    TAIL_BYTES,
    escape,
    unescape,
    unpack_tail,
    unwrap_value,
)
from rowkey.engines.pairs.pair_reader import (
    SINGLE_READ_ROWS,
    iterate_row_bounds,
    read_row_pairs,
    read_single_rows,
)
from rowkey.engines.pairs.pair_source import AnyPairSource

if TYPE_CHECKING:
    from rowkey.engines.pairs.pair_reader import KeysAndValues, PairReader

MIN_COLUMNAR_CELLS = 192
"""Cells below which decoding one by one is faster: Arrow has a fixed cost of 0.2 ms. Measured."""

_new_cell = partial(tuple.__new__, Cell)
_new_row_cells = partial(tuple.__new__, RowCells)


class LazyRows(NamedTuple):
    """Rows of one family, whose cells are decoded when the rows are read.

    Args:
        cells: the cells of each row, in the order of the keys.
    """

    keys: list[bytes]
    cells: Iterator[list[Cell]]

    def build_rows(self, keys: Iterator[bytes]) -> Iterator[RowCells]:
        """Yield each row with its cells as the iterator over the keys advances."""
        return map(_new_row_cells, zip(keys, self.cells, strict=False))


def read_row_cells(source: AnyPairSource, family: str, row: bytes, view: FamilyView) -> list[Cell]:
    """Return the visible cells of one row in one family.

    Cost: about 3 µs for RocksDB to find the row, and 0.7 µs a cell.
    """
    prefix = escape(row) + PIECE_END
    return view.select_visible(
        parse_cells(family, read_row_pairs(source, prefix, view), len(prefix))
    )


def parse_cells(family: str, pairs: Iterable[tuple[bytes, bytes]], row_end: int) -> list[Cell]:
    """Decode the stored pairs of one row and family; the row ends at `row_end` in each key."""
    cells: list[Cell] = []
    # Local names and no avoidable calls: they would take a third of the time of a small read.
    add, new, cell, cell_types, latest = cells.append, tuple.__new__, Cell, CELL_TYPES, LATEST
    tail, end, marked = -TAIL_BYTES, -TAIL_BYTES - 1, MARK_PREFIX
    for key, stored in pairs:
        qualifier = key[row_end:end]
        if 1 in qualifier:
            qualifier = unescape(qualifier)
        inverted, type_byte = unpack_tail(key, tail)
        value, ttl_ms = (stored, None) if stored[:1] != marked else unwrap_value(stored)
        add(new(cell, (family, qualifier, latest - inverted, value, cell_types[type_byte], ttl_ms)))
    return cells


def read_first_rows(reader: PairReader, family: str, view: FamilyView) -> Iterator[RowCells]:
    """Yield the first rows of a range one by one, so that the first row comes early.

    Args:
        reader: the range in one family.
        view: selects the visible cells; rows without one are left out.
    """
    for pairs in read_single_rows(reader, SINGLE_READ_ROWS):
        row = pairs[0][0].partition(PIECE_END)[0]
        cells = view.select_visible(parse_cells(family, pairs, len(row) + 1))
        if cells:
            yield _new_row_cells((unescape(row), cells))


def read_rows(
    chunks: Iterable[KeysAndValues], family: str, view: FamilyView, *, reverse: bool
) -> Iterator[LazyRows]:
    """Yield the rows of a range with their visible cells of one family, many rows at a time.

    Args:
        chunks: stored keys and values, each chunk ascending.
        view: selects the visible cells; rows without one are left out.
        reverse: whether the last row of each chunk comes first.
    """
    for keys, values in chunks:
        visible_columns = None
        if len(keys) >= MIN_COLUMNAR_CELLS:
            visible_columns = select_visible_columns(parse_columns(keys, values), view)
        if visible_columns is None:
            rows = parse_rows(family, keys, values, view)
            if reverse:
                rows.reverse()
            yield LazyRows([row.row for row in rows], iter([list(row.cells) for row in rows]))
        else:
            yield to_lazy_rows(
                family, visible_columns.reverse_rows() if reverse else visible_columns
            )


def parse_rows(
    family: str, keys: list[bytes], values: list[bytes], view: FamilyView
) -> list[RowCells]:
    """Decode a chunk of stored pairs to the rows that have visible cells."""
    rows = []
    for row, begin, stop in iterate_row_bounds(keys):
        pairs = zip(keys[begin:stop], values[begin:stop], strict=True)
        cells = view.select_visible(parse_cells(family, pairs, len(row) + 1))
        if cells:
            rows.append(RowCells(unescape(row), cells))
    return rows


def select_visible_columns(columns: CellColumns, view: FamilyView) -> CellColumns | None:
    """Return the visible cells as columns; None if rows must be decoded one by one.

    Columns work for puts without their own time to live, of whole families or a qualifier range.
    """
    if view.qualifiers is not None or not columns.has_only_puts:
        return None
    if view.min_versions and not view.raw:
        return None
    times = columns.timestamps
    oldest = view.start_ms if view.raw else view.oldest_visible_ms
    mask = (times >= oldest) & (times < view.stop_ms)
    if not view.has_all_columns:
        mask &= columns.mask_qualifiers(view.start_qualifier, view.stop_qualifier)
    visible = columns if mask.all() else columns.filter_cells(mask)
    return (
        visible.filter_cells(visible.mask_versions(view.versions))
        if len(visible.type_bytes)
        else visible
    )


def to_lazy_rows(family: str, columns: CellColumns) -> LazyRows:
    """Convert columns of puts to rows whose cells are decoded later.

    Cost: about 0.1 µs a cell, and 0.2 µs when the cell is read.
    """
    if not len(columns.type_bytes):
        return LazyRows([], iter(()))
    starts = columns.find_row_starts()
    names = columns.get_row_keys(starts)
    qualifiers, timestamps = columns.qualifiers.to_pylist(), columns.timestamps.tolist()
    values = columns.values.to_pylist() if columns.value_list is None else columns.value_list
    fields = zip(repeat(family), qualifiers, timestamps, values, repeat(CellType.PUT), repeat(None))
    cells: Iterator[Cell] = map(_new_cell, fields)
    cells_per_row, remainder = divmod(len(values), len(names))
    if not remainder and (starts[1:] - starts[:-1] == cells_per_row).all():
        return LazyRows(names, map(list, zip(*[cells] * cells_per_row, strict=True)))
    counts = [*(starts[1:] - starts[:-1]).tolist(), len(values) - int(starts[-1])]
    return LazyRows(names, map(list, map(islice, repeat(cells), counts)))
