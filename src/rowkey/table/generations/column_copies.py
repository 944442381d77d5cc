"""Copy columns to a row's active row key before an increment, a comparison or a delete.

A row has several row keys if the number of buckets has changed. Puts need no copy: a newer cell
hides an older one under any row key. But an increment counts from the cell under its own row key.
And a delete under one row key after the other shows readers no partial row, if the row key that it
deletes last has the whole row before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from rowkey.cells import COLUMN_DELETES, Cell, RowCells
from rowkey.engines import CellCondition, CellSelection, Store
from rowkey.errors import Conflict
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    FamilyColumns = Mapping[str, tuple[bytes, ...]]

MAX_COPY_ATTEMPTS = 1_000
"""Times that a column is copied again because another client changed it meanwhile. Of several
clients one always wins, so that this number is reached only if the engine is broken."""
MAX_HIDDEN_PUTS = 3
"""Times that a column is put and not seen, after which a delete must hide it. Once or twice,
another client may have deleted it meanwhile: the row keys are not read at one time."""
COPY_BATCH_ROWS = 500
"""Rows that are read together before they are deleted."""


def copy_newest_columns(store: Store, row_keys: Sequence[bytes], columns: FamilyColumns) -> None:
    """Put the newest cell of each column under the first of several row keys of a row.

    A cell is put only if the row key still has the value that was read, and keeps its timestamp. So
    of several clients that copy the same cell at once one does, none undoes a later increment of
    another, and a delete hides the cell under both row keys. The old cell stays, hidden by any
    newer one.

    Args:
        store: the engine's table.
        row_keys: the row keys of the row, the one that is written first, then others, the newest
            generation's first.
        columns: qualifiers by family, none listed for the whole family.

    Raises:
        Conflict: the columns change faster than they can be read, or a delete under the first row
            key hides the copied cell.

    Cost: one get; if columns are copied, a second get, and one check-and-mutate for each column.
    """
    selection, times_put = CellSelection(columns=columns), Counter[Cell]()
    for _ in range(MAX_COPY_ATTEMPTS):
        target_row, *other_rows = store.get(row_keys, selection)
        newer = _find_newer_cells(target_row, other_rows)
        if not newer:
            return
        stored_values = {cell[:2]: cell.value for cell in target_row.cells}
        for cell in newer:
            if times_put[cell] >= MAX_HIDDEN_PUTS:
                what = "a delete marker hides the value that is copied from another bucket"
                remedy = "Run a major compaction, which removes the marker, then try again."
                raise Conflict(_format_column_name(target_row.row, cell), what, remedy=remedy)
            check = CellCondition(cell.family, cell.qualifier, "=", stored_values.get(cell[:2]))
            times_put[cell] += store.check_and_mutate(target_row.row, check, [cell])
    what = f"other clients changed the column in each of {MAX_COPY_ATTEMPTS:,} attempts to copy it"
    remedy = "Try again when fewer clients write this row."
    raise Conflict(_format_column_name(target_row.row, newer[0]), what, remedy=remedy)


def copy_before_delete(
    store: Store, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
) -> None:
    """Copy columns that are deleted under other row keys of a row to its active row key.

    Cells keep their timestamps, so that the change deletes the copies as well.

    Args:
        store: the engine's table.
        changes: the stamped mutations of each row; the last is the one of the active row key.
        sync: whether the copies are on disk when the call returns.

    Cost: a get of the rows for every `COPY_BATCH_ROWS` that lose the same columns, and one mutation
        for each row that has newer values under other row keys.
    """
    rows: dict[tuple[tuple[str, tuple[bytes, ...]], ...], list[Sequence[RowCells]]]
    rows = defaultdict(list)
    for change in changes:
        if len(change) > 1:
            rows[tuple(_list_columns(change[:-1]).items())].append(change)
    for columns, together in rows.items():
        selection = CellSelection(columns=dict(columns))
        for start in range(0, len(together), COPY_BATCH_ROWS):
            some = together[start : start + COPY_BATCH_ROWS]
            keys = [one.row for change in some for one in (change[-1], *change[:-1])]
            stored_rows = iter(store.get(keys, selection))
            copies = []
            for change in some:
                target_row, *other_rows = islice(stored_rows, len(change))
                last = max(cell.timestamp for one in change[:-1] for cell in one.cells)
                newer = [
                    cell
                    for cell in _find_newer_cells(target_row, other_rows)
                    if cell.timestamp <= last
                ]
                if newer:
                    copies.append(RowCells(target_row.row, newer))
            store.mutate(copies, sync=sync)


def _find_newer_cells(target: RowCells, sources: Sequence[RowCells]) -> list[Cell]:
    """Return the cells of other row keys that are newer than those of a target row key."""
    newest = {cell[:2]: cell for cell in target.cells}
    newer: dict[tuple[str, bytes], Cell] = {}
    for cell in chain.from_iterable(one.cells for one in sources):
        current = newest.get(cell[:2])
        if current is None or cell.timestamp > current.timestamp:  # of one time the first counts
            newest[cell[:2]] = newer[cell[:2]] = cell
    return list(newer.values())


def _list_columns(mutations: Iterable[RowCells]) -> dict[str, tuple[bytes, ...]]:
    """Return the columns that mutations change: qualifiers by family, none for all of it."""
    columns: dict[str, dict[bytes, None]] = defaultdict(dict)
    families = set()
    for cell in chain.from_iterable(one.cells for one in mutations):
        columns[cell.family][cell.qualifier] = None
        if cell.cell_type in COLUMN_DELETES:
            families.add(cell.family)
    return {name: () if name in families else tuple(listed) for name, listed in columns.items()}


def _format_column_name(row: bytes, cell: Cell) -> str:
    return f"row key {row.hex()}, {cell.family}:{to_string_binary(cell.qualifier)}"
