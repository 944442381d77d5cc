"""Cells that any client must carry: bytes at their extremes, versions, values up to the limit."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from rowkey.cells import (
    CELL_BYTES_MOST,
    LATEST,
    ROW_BYTES_MOST,
    Cell,
    RowCells,
    cell_bytes,
    in_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

FAMILIES = ("d", "wide_Family-2.x")
ALPHABETS = (b"\0", b"\xff", b"\0\x01\xfe\xff", b"abc", bytes(range(256)))
OFTEN = (1, 1, 3, 3, 6)
TIMES = (0, 1, 255, 1_700_000_000_000, 1 << 62, LATEST - 1)
SHOWN = 5


def draw_rows(prefix: bytes, cells: int, seed: int) -> list[RowCells]:
    """Rows in the order of their keys, their cells in HBase's order.

    Args:
        prefix: what every key begins with.
        cells: how many cells in all.
        seed: of the draw; the same one gives the same rows.

    Cost: 5 µs a cell.
    """
    chance = Random(seed)
    drawn: dict[bytes, dict[tuple[str, bytes, int], Cell]] = {}
    left = cells
    while left:
        row = drawn.setdefault(prefix + _some_bytes(chance, 1, 40), {})
        for _ in range(min(left, chance.choice((1, 1, 2, 5, 12)))):
            column = (chance.choice(FAMILIES), _qualifier(chance), _time(chance))
            left -= column not in row
            row[column] = Cell(*column, _value(chance))
    return [ordered(row, list(found.values())) for row, found in sorted(drawn.items())]


def ordered(row: bytes, cells: Sequence[Cell]) -> RowCells:
    """A row whose cells stand as HBase gives them."""
    return RowCells(row, sorted(cells, key=in_order))


def _some_bytes(chance: Random, least: int, most: int) -> bytes:
    alphabet = chance.choices(ALPHABETS, OFTEN)[0]
    return bytes(chance.choices(alphabet, k=chance.randint(least, most)))


def _qualifier(chance: Random) -> bytes:
    if chance.random() < 0.001:
        return _some_bytes(chance, 200, 40_000)
    return _some_bytes(chance, 0, chance.choice((0, 1, 2, 30)))


def _time(chance: Random) -> int:
    return chance.choice((*TIMES, chance.randrange(1_700_000_000_000), chance.randrange(LATEST)))


def _value(chance: Random) -> bytes:
    most = chance.choices((0, 1, 8, 200, 10_000), (10, 10, 30, 49, 1))[0]
    return _some_bytes(chance, 0, most)


def draw_largest(prefix: bytes) -> list[RowCells]:
    """Rows behind a prefix whose one cell is the largest a server takes with its default settings.

    Source: RSRpcServices.checkCellSizeLimit compares the length of the cell as a cell block has
    it, 4 bytes of length included, with hbase.server.keyvalue.maxsize.
    """
    found = []
    for key, family, qualifier in ((b"a", "d", b""), (b"\xff" * 40, FAMILIES[1], b"\0\xff")):
        row = prefix + key
        bare = 4 + cell_bytes(len(row), len(family), len(qualifier), 0)
        pattern = bytes(range(256)) * (CELL_BYTES_MOST // 256)
        found.append(RowCells(row, [Cell(family, qualifier, 7, pattern[: CELL_BYTES_MOST - bare])]))
    return found


def draw_longest(prefix: bytes, bytes_: int = ROW_BYTES_MOST) -> list[RowCells]:
    """Rows with keys of that length, the prefix included, in order."""
    left = bytes_ - len(prefix)
    keys = (b"\0" * left, b"\0\xff" * (left // 2) + b"k" * (left % 2), b"\xff" * left)
    return [RowCells(prefix + key, [Cell("d", b"q", 7, b"v")]) for key in keys]


def differences(wanted: Sequence[RowCells], found: Sequence[RowCells]) -> list[str]:
    """What differs, the first few rows of it, shortly; empty where all cells are equal.

    >>> differences([RowCells(b"a", [])], [RowCells(b"a", [])])
    []
    >>> differences([RowCells(b"a", [])], [])
    ['1 rows wanted, 0 found', "b'a': [] wanted, none found"]
    """
    told = []
    if len(wanted) != len(found):
        told.append(f"{len(wanted)} rows wanted, {len(found)} found")
    theirs = {row.row: row for row in found}
    for row in wanted:
        other = theirs.get(row.row)
        if other is None or list(row.cells) != list(other.cells):
            shown = "none" if other is None else _shown(other)
            told.append(f"{row.row[:60]!r}: {_shown(row)} wanted, {shown} found")
    if not told and [row.row for row in wanted] != [row.row for row in found]:
        told.append("the rows stand in another order")
    return told[: SHOWN + 1]


def _shown(row: RowCells) -> str:
    """The cells without their long values."""
    return repr([(c.family, c.qualifier[:20], c.timestamp, c.value[:20]) for c in row.cells])[:500]
