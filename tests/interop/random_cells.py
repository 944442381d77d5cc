"""Cells that any client must support: extreme bytes, versions, values up to the limit."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rowkey.cells import (
    LATEST,
    MAX_CELL_BYTES,
    MAX_ROW_BYTES,
    Cell,
    RowCells,
    build_sort_key,
    compute_cell_bytes,
)

FAMILIES = ("d", "wide_Family-2.x")
ALPHABETS = (b"\0", b"\xff", b"\0\x01\xfe\xff", b"abc", bytes(range(256)))
ALPHABET_WEIGHTS = (1, 1, 3, 3, 6)
TIMES = (0, 1, 255, 1_700_000_000_000, 1 << 62, LATEST - 1)
MAX_DIFFERENCES = 5


def draw_rows(prefix: bytes, cells: int, seed: int) -> list[RowCells]:
    """Return random rows in key order with their cells in HBase's order.

    Args:
        prefix: the prefix of every key.
        cells: the number of cells.
        seed: the seed; the same seed gives the same rows.

    Cost: 5 µs a cell.
    """
    chance = Random(seed)
    drawn: dict[bytes, dict[tuple[str, bytes, int], Cell]] = {}
    left = cells
    while left:
        row = drawn.setdefault(prefix + _draw_bytes(chance, 1, 40), {})
        for _ in range(min(left, chance.choice((1, 1, 2, 5, 12)))):
            column = (chance.choice(FAMILIES), _draw_qualifier(chance), _draw_time(chance))
            left -= column not in row
            row[column] = Cell(*column, _draw_value(chance))
    return [sort_cells(row, list(found.values())) for row, found in sorted(drawn.items())]


def sort_cells(row: bytes, cells: Sequence[Cell]) -> RowCells:
    """Return a row with its cells in HBase's order."""
    return RowCells(row, sorted(cells, key=build_sort_key))


def _draw_bytes(chance: Random, least: int, most: int) -> bytes:
    alphabet = chance.choices(ALPHABETS, ALPHABET_WEIGHTS)[0]
    return bytes(chance.choices(alphabet, k=chance.randint(least, most)))


def _draw_qualifier(chance: Random) -> bytes:
    if chance.random() < 0.001:
        return _draw_bytes(chance, 200, 40_000)
    return _draw_bytes(chance, 0, chance.choice((0, 1, 2, 30)))


def _draw_time(chance: Random) -> int:
    return chance.choice((*TIMES, chance.randrange(1_700_000_000_000), chance.randrange(LATEST)))


def _draw_value(chance: Random) -> bytes:
    most = chance.choices((0, 1, 8, 200, 10_000), (10, 10, 30, 49, 1))[0]
    return _draw_bytes(chance, 0, most)


def draw_largest(prefix: bytes) -> list[RowCells]:
    """Return rows with one cell of the largest size that a server accepts by default.

    Source: RSRpcServices.checkCellSizeLimit compares the length of the cell as a cell block has
    it, 4 bytes of length included, with hbase.server.keyvalue.maxsize.
    """
    found = []
    for key, family, qualifier in ((b"a", "d", b""), (b"\xff" * 40, FAMILIES[1], b"\0\xff")):
        row = prefix + key
        bare = 4 + compute_cell_bytes(len(row), len(family), len(qualifier), 0)
        pattern = bytes(range(256)) * (MAX_CELL_BYTES // 256)
        found.append(RowCells(row, [Cell(family, qualifier, 7, pattern[: MAX_CELL_BYTES - bare])]))
    return found


def draw_longest(prefix: bytes, bytes_: int = MAX_ROW_BYTES) -> list[RowCells]:
    """Return rows with keys of a length including the prefix, in key order."""
    left = bytes_ - len(prefix)
    keys = (b"\0" * left, b"\0\xff" * (left // 2) + b"k" * (left % 2), b"\xff" * left)
    return [RowCells(prefix + key, [Cell("d", b"q", 7, b"v")]) for key in keys]


def list_differences(wanted: Sequence[RowCells], found: Sequence[RowCells]) -> list[str]:
    """Return the first few differences between rows, or an empty list.

    >>> list_differences([RowCells(b"a", [])], [RowCells(b"a", [])])
    []
    >>> list_differences([RowCells(b"a", [])], [])
    ['1 rows wanted, 0 found', "b'a': [] wanted, none found"]
    """
    told = []
    if len(wanted) != len(found):
        told.append(f"{len(wanted)} rows wanted, {len(found)} found")
    theirs = {row.row: row for row in found}
    for row in wanted:
        other = theirs.get(row.row)
        if other is None or list(row.cells) != list(other.cells):
            shown = "none" if other is None else _format_cells(other)
            told.append(f"{row.row[:60]!r}: {_format_cells(row)} wanted, {shown} found")
    if not told and [row.row for row in wanted] != [row.row for row in found]:
        told.append("the rows stand in another order")
    return told[: MAX_DIFFERENCES + 1]


def _format_cells(row: RowCells) -> str:
    """Return the cells as text without long values."""
    return repr([(c.family, c.qualifier[:20], c.timestamp, c.value[:20]) for c in row.cells])[:500]
