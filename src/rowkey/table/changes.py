"""Changes of rows: what is written where, and which of its cells wait for a timestamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.cells import LATEST, Kind, RowCells
from rowkey.errors import Refused, RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.cells import Cell

PRECEDING = -1
"""The timestamp of cells that are to be just before the others of their change."""


class RowChange(NamedTuple):
    """A change of one row, to be stamped and written.

    Args:
        name: what stands for the row in all places where it may stand.
        mutations: what is done in each place, the one that is written last. Cells that are to be
            stamped have `LATEST`, or `PRECEDING` for a moment before.
        stamps: how many timestamps it takes for itself; a put takes none.
        salt: the copy that is written, behind a random salt; None if there is none, or if it
            takes timestamps for itself.
    """

    name: bytes
    mutations: list[RowCells]
    stamps: int = 0
    salt: int | None = None


def takes_away(mutations: Iterable[RowCells]) -> bool:
    """Whether mutations take anything away."""
    return any(cell.kind is not Kind.PUT for one in mutations for cell in one.cells)


def deletes_of(cells: Sequence[Cell]) -> list[Cell]:
    """Those cells of a mutation that take something away."""
    return [cell for cell in cells if cell.kind is not Kind.PUT]


def put_before(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells of a change that are to be just before its others."""
    return [c._replace(timestamp=PRECEDING) if c.timestamp == LATEST else c for c in cells]


def stamped(mutation: RowCells, at: int) -> RowCells:
    """Return a mutation whose cells without a timestamp of their own have this one."""
    cells = [
        c._replace(timestamp=at)
        if c.timestamp == LATEST
        else c._replace(timestamp=at - 1)
        if c.timestamp == PRECEDING
        else c
        for c in mutation.cells
    ]
    return RowCells(mutation.row, cells)


def as_row_error(refusal: Refused) -> RowError:
    """What an engine refused, as an error of the row."""
    one = refusal.mistake
    return RowError(one.path, one.what, one.allowed, one.remedy)
