"""How columns come to the place that is written now, before they are counted up or compared there.

Puts need none of this: what is newer hides what is older, wherever it stands. A count is made of
the cell that it finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.engines import Ask, Check
from rowkey.errors import Conflict
from rowkey.regions import to_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.cells import Cell
    from rowkey.engines import Store

    Column = tuple[str, bytes]

TRIES = 1_000
"""Times that a column is brought again because somebody else changed it meanwhile. One of those who
do so at once always wins, so a number that is never reached means that the engine is broken."""


def bring(store: Store, rows: Sequence[bytes], columns: Sequence[Column]) -> None:
    """Have the newest cell of each column in the first of several rows.

    A cell is put only if the row still holds what was read there, and keeps its timestamp. So of
    several who bring the same cell at once one does, none undoes what another has counted since,
    and a delete hides the cell in its new place as in the old. The old cell stays: it is as old as
    it was, and hidden by whatever is newer.

    Args:
        store: the engine's table.
        rows: the row keys of one row, the one that is written first, then others, the newest
            generation's first.
        columns: family and qualifier of each.

    Raises:
        Conflict: the columns change faster than they can be read.

    Cost: one get, and one check-and-mutate for each column that stands elsewhere.
    """
    named: dict[str, tuple[bytes, ...]] = {}
    for family, qualifier in columns:
        named[family] = (*named.get(family, ()), qualifier)
    ask, left = Ask(columns=named), list(columns)
    for _ in range(TRIES):
        here, *others = ({c[:2]: c for c in row.cells} for row in store.get(rows, ask))
        left = [
            column
            for column in left
            if not _brought(store, rows[0], column, here, _newest(others, column))
        ]
        if not left:
            return
    said = f"{left[0][0]}:{to_binary(left[0][1])}"
    raise Conflict(f"row {rows[0].hex()}, {said}", f"it was changed {TRIES:,} times meanwhile")


def _newest(others: Sequence[dict[Column, Cell]], column: Column) -> Cell | None:
    """The newest cell of a column; of those of one time the first."""
    found = [cells[column] for cells in others if column in cells]
    return max(found, key=lambda cell: cell.timestamp, default=None)


def _brought(
    store: Store, row: bytes, column: Column, here: dict[Column, Cell], newest: Cell | None
) -> bool:
    """Whether a row holds the newest cell of a column, now if it did not before."""
    held = here.get(column)
    if newest is None or (held is not None and held.timestamp >= newest.timestamp):
        return True
    check = Check(*column, "=", None if held is None else held.value)
    return store.check_and_mutate(row, check, [newest])
