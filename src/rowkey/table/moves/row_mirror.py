"""Copy rows as they are in one table of a move to the other one, while clients change them."""

from __future__ import annotations

from collections.abc import Sequence

from rowkey.cells import RowCells
from rowkey.engines import RAW_CELLS, CellSelection
from rowkey.errors import Conflict
from rowkey.regions import to_string_binary
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.moves.row_translator import RowTranslator

MAX_MIRROR_ATTEMPTS = 1_000
"""Times that a row is copied again because other clients change it, each of which copies it too."""


def mirror_rows(
    primary: GenerationState, secondary: GenerationState, row_keys: Sequence[bytes]
) -> None:
    """Copy all cells of rows from the primary table to the other one, until both are the same.

    Cells of one timestamp may be written in another order than they are copied by several clients.
    So each row is read again after it was copied: whoever copies it last has seen its last change.

    Args:
        primary: the state of the table that is read.
        secondary: the state of the other table.

    Raises:
        Conflict: other clients change a row during every attempt.
    """
    _mirror(primary, secondary, dict.fromkeys(row_keys), RAW_CELLS)


def mirror_columns(
    primary: GenerationState,
    secondary: GenerationState,
    row_key: bytes,
    columns: Sequence[tuple[str, bytes]],
) -> None:
    """Copy the newest cells of some columns of a row; see `mirror_rows`.

    Args:
        primary: the state of the table that is read.
        secondary: the state of the other table.
        row_key: the row key in the primary table.
        columns: the family and the full qualifier of each.

    Raises:
        Conflict: other clients change the columns during every attempt.
    """
    layout = primary.active_design.layout
    prefix, qualifier = layout.qualifier_prefix, columns[0][1]
    front = b"" if prefix is None else qualifier[: prefix.find_end(qualifier)]
    selected: dict[str, tuple[bytes, ...]] = {}
    # The fields that the key keeps only in part tell which row it is.
    identifying = [
        (slot.family, front + slot.qualifier)
        for slot in layout.slots
        if slot.field_names and {*slot.field_names} <= {*layout.lossy_key_fields}
    ]
    for family, one in dict.fromkeys([*columns, *identifying]):
        selected[family] = (*selected.get(family, ()), one)
    _mirror(primary, secondary, {row_key: None}, CellSelection(columns=selected))


def _mirror(
    primary: GenerationState,
    secondary: GenerationState,
    row_keys: dict[bytes, None],
    selection: CellSelection,
) -> None:
    """Copy the selected cells of rows until they have not changed meanwhile."""
    translator = RowTranslator(primary, secondary)
    pending = primary.store.get(list(row_keys), selection)
    for _ in range(MAX_MIRROR_ATTEMPTS):
        present = [RowCells(row, cells) for row, cells in pending if cells]
        mutations = translator.translate(present)
        if mutations:
            secondary.writer.send_mutations(mutations)
        again = primary.store.get([one.row for one in pending], selection)
        pending = [
            now
            for before, now in zip(pending, again, strict=True)
            if list(now.cells) != list(before.cells)
        ]
        if not pending:
            return
    row = to_string_binary(pending[0].row)
    what = f"other clients changed the row in each of {MAX_MIRROR_ATTEMPTS:,} attempts to copy it"
    raise Conflict(f"row key {row}", what, remedy="Try again when fewer clients write this row.")
