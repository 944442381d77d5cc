"""Copy a table to another engine: a prototype on the embedded engine becomes a table of HBase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rowkey.catalog import MovePhase
from rowkey.engines import get_time_ms
from rowkey.errors import Conflict, InvalidDesign
from rowkey.move.copier import CopyStatus, RowCopier
from rowkey.move.copy_progress import load_progress, save_progress
from rowkey.move.copying import LATE_MARGIN_MS
from rowkey.move.design_comparison import compare_designs
from rowkey.move.finding import FindingLevel
from rowkey.move.move_record import CAUGHT_UP_NOTE, MoveRecord
from rowkey.move.verification import VerificationResult, verify_move
from rowkey.table import Table, rename_design


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What a copy to another engine did.

    Args:
        verification: what the comparison of both tables found.
        left_out_rows: rows that the copy left out; see `CopyProgress`.
    """

    verification: VerificationResult
    left_out_rows: int

    @property
    def has_passed(self) -> bool:
        """Whether all rows are equal."""
        return self.verification.has_passed


def transfer_table(
    source: Table, target: Table, *, progress: Callable[[str, int, int], None] | None = None
) -> TransferResult:
    """Copy all rows of a table to a table of another engine, and compare both.

    Both designs have the same fields; their keys, families and placements may differ. Cells keep
    their timestamps. Clients write only one table: the source until the copy is done. An
    interrupted call goes on where it stopped; a further call copies what has changed in the source
    since the last one began, and compares both tables again.

    Args:
        source: the open table to copy.
        target: the open table that gets the rows; nobody else writes it meanwhile.
        progress: called with `copy` or `verify`, how much is done, and of how much.

    Raises:
        InvalidDesign: with everything in the two designs that a copy cannot bridge.
        Conflict: the rows of the source are being moved.
        Unavailable: an engine or a catalog does not answer; call it again to go on.

    Cost: as `RowCopier` and `verify_move`.

    >>> import rowkey
    >>> design = rowkey.Design("notes", "[id]", fields={"id": "u64", "note": "text"})
    >>> other = rowkey.Design("notes", "[bucket(id, 4)][id]", fields=design.declaration.fields)
    >>> with (
    ...     rowkey.open(design, "memory:prototype") as old,
    ...     rowkey.open(other, "memory:production") as new,
    ... ):
    ...     old.put({"id": 1, "note": "a"})
    ...     transfer_table(old, new).has_passed, new.get(id=1)
    (True, {'id': 1, 'note': 'a'})
    """
    report = progress or (lambda *_: None)
    name = source.design.table
    renamed = rename_design(target.design, f"{name}_2")
    compared = compare_designs(source.design, renamed, has_splits=True)
    blocking = [one.mistake for one in compared if one.level is FindingLevel.BLOCKING]
    if blocking:
        raise InvalidDesign(blocking)
    record, target_id = MoveRecord(source.catalog, name), target.lease.last_entry.table_id
    move = record.read()
    if move is not None and move.phase is not MovePhase.FINISHED:
        what = f"its rows are being moved to {move.target}"
        remedy = "End that move first: rowkey move status shows how far it is."
        raise Conflict(f"table {name}", what, remedy=remedy)
    note = record.read_note(CAUGHT_UP_NOTE)
    is_known = note.get("target_id") == target_id
    stored = load_progress(source.catalog, name)
    if not is_known or "started_ms" not in note:  # another copy, or the first of this one
        save_progress(source.catalog, name, None)
        note = {"target_id": target_id, "since_ms": None, "started_ms": get_time_ms()}
    elif stored is None or stored.is_complete:
        save_progress(source.catalog, name, None)
        since_ms = note["started_ms"] - LATE_MARGIN_MS
        note = {"target_id": target_id, "since_ms": since_ms, "started_ms": get_time_ms()}
    record.write_note(CAUGHT_UP_NOTE, note)

    def report_copy(status: CopyStatus) -> None:
        report("copy", status.row_count, status.estimated_rows or 0)

    copier = RowCopier(
        source.get_state(),
        target.get_state(),
        source.catalog,
        since_ms=note["since_ms"],
        report=report_copy,
    )
    copied = copier.run()
    found = verify_move(
        source.get_state(),
        target.get_state(),
        progress=lambda done, total: report("verify", done, total),
    )
    return TransferResult(found, copied.left_out_rows)
