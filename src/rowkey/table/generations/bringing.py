"""How columns come to the place that is written, before they are counted up, compared or deleted.

Puts need none of this: what is newer hides what is older, wherever it stands. A count is made of
the cell that it finds. And a delete that takes one place after the other shows readers no row of
which a part is gone, if the place it takes last holds the whole row before.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING

from rowkey.cells import Kind
from rowkey.engines import Ask, Check
from rowkey.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell, RowCells
    from rowkey.engines import Store

    Column = tuple[str, bytes]
    Columns = Mapping[str, tuple[bytes, ...]]

TRIES = 1_000
"""Times that a column is brought again because somebody else changed it meanwhile. One of those who
do so at once always wins, so a number that is never reached means that the engine is broken."""


def bring(store: Store, places: Sequence[Sequence[bytes]], columns: Columns) -> None:
    """Have the newest cell of each column of some rows in the first place of each row.

    A cell is put only if the place still holds what was read there, and keeps its timestamp. So of
    several who bring the same cell at once one does, none undoes what another has counted since,
    and a delete hides the cell in its new place as in the old. The old cell stays: it is as old as
    it was, and hidden by whatever is newer.

    Args:
        store: the engine's table.
        places: the row keys of each row, the one that is written first, then others, the newest
            generation's first.
        columns: qualifiers by family, none listed for the whole family.

    Raises:
        Conflict: the columns change faster than they can be read.

    Cost: one get of all rows, and one check-and-mutate for each column that stands elsewhere.
    """
    ask, pending = Ask(columns=columns), list(places)
    for _ in range(TRIES):
        found = iter(store.get(list(chain.from_iterable(pending)), ask))
        copies = [list(islice(found, len(keys))) for keys in pending]
        pending = [
            keys
            for keys, (here, *others) in zip(pending, copies, strict=True)
            if not all(_bring_cells(store, here, others))
        ]
        if not pending:
            return
    raise Conflict(f"row {pending[0][0].hex()}", f"it was changed {TRIES:,} times meanwhile")


def bring_deleted(store: Store, changes: Sequence[Sequence[RowCells]]) -> None:
    """Have in the place that is written the columns that changes take away in other places.

    Args:
        store: the engine's table.
        changes: the mutations of each row, that of the place which is written last.

    Raises:
        Conflict: the columns change faster than they can be read.

    Cost: one get for all rows that lose the same columns, then as `bring`.
    """
    places: dict[tuple[tuple[str, tuple[bytes, ...]], ...], list[list[bytes]]] = defaultdict(list)
    for change in changes:
        if len(change) > 1:
            columns = tuple(_columns_of(change[:-1]).items())
            places[columns].append([change[-1].row, *(one.row for one in change[:-1])])
    for columns, rows in places.items():
        bring(store, rows, dict(columns))


def _columns_of(mutations: Iterable[RowCells]) -> dict[str, tuple[bytes, ...]]:
    """Return the columns that mutations change, as `bring` takes them."""
    columns: dict[str, dict[bytes, None]] = defaultdict(dict)
    families = set()
    for cell in chain.from_iterable(one.cells for one in mutations):
        columns[cell.family][cell.qualifier] = None
        if cell.kind in (Kind.DELETE_FAMILY, Kind.DELETE_FAMILY_VERSION):
            families.add(cell.family)
    return {name: () if name in families else tuple(listed) for name, listed in columns.items()}


def _bring_cells(store: Store, here: RowCells, others: Sequence[RowCells]) -> Iterator[bool]:
    """Put newer cells of other places here; yield of each whether it is here now."""
    held = {cell[:2]: cell for cell in here.cells}
    newest: dict[Column, Cell] = {}
    for cell in chain.from_iterable(one.cells for one in others):
        found = newest.get(cell[:2])
        if found is None or cell.timestamp > found.timestamp:  # of one time the first counts
            newest[cell[:2]] = cell
    for column, cell in newest.items():
        current = held.get(column)
        if current is None or current.timestamp < cell.timestamp:
            check = Check(*column, "=", None if current is None else current.value)
            yield store.check_and_mutate(here.row, check, [cell])
