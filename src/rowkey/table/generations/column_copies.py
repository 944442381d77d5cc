"""Copy columns to the place that is written, before they are counted up, compared or deleted.

Puts need none of this: what is newer hides what is older, wherever it stands. A count is made of
the cell that it finds. And a delete that takes one place after the other shows readers no row of
which a part is gone, if the place it takes last holds the whole row before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING

from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import CellCondition, CellSelection
from rowkey.errors import Conflict
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.engines import Store

    FamilyColumns = Mapping[str, tuple[bytes, ...]]

MAX_COPY_ATTEMPTS = 1_000
"""Times that a column is copied again because another client changed it meanwhile. Of several
clients one always wins, so that this number is reached only if the engine is broken."""
MAX_HIDDEN_PUTS = 3
"""Times that a column is put and not seen after which something hides it. Once or twice, another
client may have deleted it meanwhile: places are not read at one time."""
COPY_BATCH_ROWS = 500
"""Rows that are read together before they are deleted."""


def copy_newest_columns(store: Store, row_keys: Sequence[bytes], columns: FamilyColumns) -> None:
    """Put the newest cell of each column into the first of several places of a row.

    A cell is put only if the place still holds what was read there, and keeps its timestamp. So of
    several clients that copy the same cell at once one does, none undoes a later increment of
    another, and a delete hides the cell in its new place as in the old. The old cell stays, hidden
    by whatever is newer.

    Args:
        store: the engine's table.
        row_keys: the row keys of the row, the one that is written first, then others, the newest
            generation's first.
        columns: qualifiers by family, none listed for the whole family.

    Raises:
        Conflict: the columns change faster than they can be read, or a delete that is stored there
            hides the copied cell.

    Cost: one get; if a column stands elsewhere, another one, and a check-and-mutate for each.
    """
    ask, times_put = CellSelection(columns=columns), Counter[Cell]()
    for _ in range(MAX_COPY_ATTEMPTS):
        here, *others = store.get(row_keys, ask)
        newer = _find_newer_cells(here, others)
        if not newer:
            return
        held = {cell[:2]: cell.value for cell in here.cells}
        for cell in newer:
            if times_put[cell] >= MAX_HIDDEN_PUTS:
                what = "a delete hides the value that another number of buckets has left elsewhere"
                raise Conflict(
                    _format_column_name(here.row, cell), what, remedy="Compact the table."
                )
            check = CellCondition(cell.family, cell.qualifier, "=", held.get(cell[:2]))
            times_put[cell] += store.check_and_mutate(here.row, check, [cell])
    raise Conflict(
        _format_column_name(here.row, newer[0]),
        f"it was changed {MAX_COPY_ATTEMPTS:,} times meanwhile",
    )


def copy_before_delete(
    store: Store, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
) -> None:
    """Copy the columns that changes delete in other places into the place that is written.

    Cells keep their timestamps, so that the change deletes them there as well.

    Args:
        store: the engine's table.
        changes: the stamped mutations of each row, that of the place which is written last.
        sync: whether the copies are on disk when the call returns.

    Cost: a get of the rows for every `COPY_BATCH_ROWS` that lose the same columns, and one mutation
        for each row that has newer values elsewhere.
    """
    rows: dict[tuple[tuple[str, tuple[bytes, ...]], ...], list[Sequence[RowCells]]]
    rows = defaultdict(list)
    for change in changes:
        if len(change) > 1:
            rows[tuple(_list_columns(change[:-1]).items())].append(change)
    for columns, together in rows.items():
        ask = CellSelection(columns=dict(columns))
        for start in range(0, len(together), COPY_BATCH_ROWS):
            some = together[start : start + COPY_BATCH_ROWS]
            keys = [one.row for change in some for one in (change[-1], *change[:-1])]
            found = iter(store.get(keys, ask))
            copies = []
            for change in some:
                here, *others = islice(found, len(change))
                last = max(cell.timestamp for one in change[:-1] for cell in one.cells)
                newer = [cell for cell in _find_newer_cells(here, others) if cell.timestamp <= last]
                if newer:
                    copies.append(RowCells(here.row, newer))
            store.mutate(copies, sync=sync)


def _find_newer_cells(target: RowCells, sources: Sequence[RowCells]) -> list[Cell]:
    """Return the newest cell of each column that other places have newer than this one."""
    newest = {cell[:2]: cell for cell in target.cells}
    newer: dict[tuple[str, bytes], Cell] = {}
    for cell in chain.from_iterable(one.cells for one in sources):
        current = newest.get(cell[:2])
        if current is None or cell.timestamp > current.timestamp:  # of one time the first counts
            newest[cell[:2]] = newer[cell[:2]] = cell
    return list(newer.values())


def _list_columns(mutations: Iterable[RowCells]) -> dict[str, tuple[bytes, ...]]:
    """Return the columns that mutations change: qualifiers by family, none for a whole one."""
    columns: dict[str, dict[bytes, None]] = defaultdict(dict)
    families = set()
    for cell in chain.from_iterable(one.cells for one in mutations):
        columns[cell.family][cell.qualifier] = None
        if cell.cell_type in (CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION):
            families.add(cell.family)
    return {name: () if name in families else tuple(listed) for name, listed in columns.items()}


def _format_column_name(row: bytes, cell: Cell) -> str:
    """Return the name of a column of a row, for a message."""
    return f"row {row.hex()}, {cell.family}:{to_string_binary(cell.qualifier)}"
