"""Rows of cells, made of what is stored of them.

Few cells are taken apart one by one; many at once go through Arrow, which costs a tenth. The cells
themselves are made when a row is asked for: objects that wait are work for Python's collector.
"""

from __future__ import annotations

from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import LATEST, Cell, Kind, RowCells
from rowkey.engines.pairs.columns import take_columns_apart
from rowkey.engines.pairs.layout import (
    END,
    KINDS,
    MARKED,
    TAIL,
    escape,
    read_tail,
    unescape,
    unwrap,
)
from rowkey.engines.pairs.ranges import SINGLE_ROWS, read_single_rows, row_pairs, row_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rowkey.cells import View
    from rowkey.engines.pairs.columns import Columns
    from rowkey.engines.pairs.ranges import PairReader, Pairs
    from rowkey.engines.pairs.source import Source

FEW = 192
"""Cells below which one by one is faster: 0.2 ms, most of it Arrow's fixed cost. Measured."""

_cell = partial(tuple.__new__, Cell)
_row_cells = partial(tuple.__new__, RowCells)


class Rows(NamedTuple):
    """Some rows, their cells not yet made.

    Args:
        names: their keys.
        cells: the cells of each, to be taken in step with the names.
    """

    names: list[bytes]
    cells: Iterator[list[Cell]]

    def pieces(self, names: Iterator[bytes]) -> Iterator[RowCells]:
        """The rows, each made when an iterator over their names is moved on."""
        return map(_row_cells, zip(names, self.cells, strict=False))


def row_cells(source: Source, family: str, row: bytes, view: View) -> list[Cell]:
    """What a read of one row sees in a family.

    Cost: about 3 µs for RocksDB to find the row, and 0.7 µs a cell.
    """
    prefix = escape(row) + END
    return view.sees(cells_of(family, row_pairs(source, prefix, view), len(prefix)))


def cells_of(family: str, pairs: Iterable[tuple[bytes, bytes]], row_end: int) -> list[Cell]:
    """Pairs of one row and family as cells; the row's key with its end is so many bytes long."""
    cells: list[Cell] = []
    # Names at hand and no call that can be spared: this is a third of the time of a small read.
    add, new, cell, kinds, latest = cells.append, tuple.__new__, Cell, KINDS, LATEST
    tail, end, marked = -TAIL, -TAIL - 1, MARKED
    for key, stored in pairs:
        qualifier = key[row_end:end]
        if 1 in qualifier:
            qualifier = unescape(qualifier)
        left, kind = read_tail(key, tail)
        value, ttl_ms = (stored, None) if stored[:1] != marked else unwrap(stored)
        add(new(cell, (family, qualifier, latest - left, value, kinds[kind], ttl_ms)))
    return cells


def first_rows(opened: PairReader, family: str, view: View) -> Iterator[RowCells]:
    """A few rows of a range one by one, so that the first is there as soon as it is read.

    Args:
        opened: the range in one family.
        family: the family.
        view: what is seen of it; rows without a visible cell are left out.
    """
    for pairs in read_single_rows(opened, SINGLE_ROWS):
        row = pairs[0][0].partition(END)[0]
        cells = view.sees(cells_of(family, pairs, len(row) + 1))
        if cells:
            yield _row_cells((unescape(row), cells))


def read_rows(chunks: Iterable[Pairs], family: str, view: View, *, reverse: bool) -> Iterator[Rows]:
    """The rows of a range with the cells of one family that a read sees, some at a time.

    Args:
        chunks: what is stored of it, each ascending.
        family: the family.
        view: what is seen of it.
        reverse: whether the last row of each chunk comes first.

    Returns:
        Rows in the order asked, those without a visible cell left out.
    """
    for keys, values in chunks:
        seen = None
        if len(keys) >= FEW:
            seen = seen_columns(take_columns_apart(keys, values), view)
        if seen is None:
            rows = rows_one_by_one(family, keys, values, view)
            if reverse:
                rows.reverse()
            yield Rows([row.row for row in rows], iter([list(row.cells) for row in rows]))
        else:
            yield as_rows(family, seen.reversed_rows() if reverse else seen)


def rows_one_by_one(
    family: str, keys: list[bytes], values: list[bytes], view: View
) -> list[RowCells]:
    """The rows of a chunk with the cells that a read sees, those without one left out."""
    rows = []
    for row, begin, stop in row_places(keys):
        pairs = zip(keys[begin:stop], values[begin:stop], strict=True)
        cells = view.sees(cells_of(family, pairs, len(row) + 1))
        if cells:
            rows.append(RowCells(unescape(row), cells))
    return rows


def seen_columns(columns: Columns, view: View) -> Columns | None:
    """The cells that a read sees, or None where that must be told row by row.

    At once go puts without times to live of their own, of whole families or a stretch of columns.
    """
    if view.raw or view.min_versions or view.qualifiers is not None or not columns.only_puts:
        return None
    times = columns.timestamps
    living = (times >= view.floor) & (times < view.high)
    if not view.all_columns:
        living &= columns.between(view.first, view.last)
    within = columns if living.all() else columns.where(living)
    return within.where(within.kept(view.versions)) if len(within.kinds) else within


def as_rows(family: str, columns: Columns) -> Rows:
    """Columns of puts as rows.

    Cost: about 0.1 µs a cell, and 0.2 µs when it is asked for.
    """
    if not len(columns.kinds):
        return Rows([], iter(()))
    starts = columns.row_starts()
    names = columns.row_names(starts)
    qualifiers, timestamps = columns.qualifiers.to_pylist(), columns.timestamps.tolist()
    values = columns.values.to_pylist() if columns.listed is None else columns.listed
    fields = zip(repeat(family), qualifiers, timestamps, values, repeat(Kind.PUT), repeat(None))
    cells: Iterator[Cell] = map(_cell, fields)
    each, rest = divmod(len(values), len(names))
    if not rest and (starts[1:] - starts[:-1] == each).all():
        return Rows(names, map(list, zip(*[cells] * each, strict=True)))
    counts = [*(starts[1:] - starts[:-1]).tolist(), len(values) - int(starts[-1])]
    return Rows(names, map(list, map(islice, repeat(cells), counts)))
