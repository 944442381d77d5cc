"""Write each row change to both tables of a move, first to the one that is read.

Both get the change with the same timestamps, so that the newest change of a row is the same in both
tables, whatever order they receive changes in. A client that dies between the two writes leaves a
change in the primary table only, which no client was told of: before the other table is read, the
mover copies what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.table.companions.joint_writes import JointChange, JointWriteState
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.moves.row_mirror import mirror_columns, mirror_rows
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.read_modify_write import ReadModifyWrite

if TYPE_CHECKING:
    from rowkey.table.row_writer import ChangeBuilder, RowChange

MIRRORED_ROWS = 500
"""Rows that are copied together, so that they are written by one call."""


class DoubleWriteState(JointWriteState):
    """The states of two tables whose cells hold the same fields: a change is encoded for each.

    Args:
        states: the state of the source, then that of the target.
        primary: the one of both that is read.
    """

    def __init__(
        self, states: tuple[GenerationState, GenerationState], primary: GenerationState
    ) -> None:
        super().__init__(states)
        self.primary = primary
        self.secondary = next(state for state in states if state is not primary)
        self.active_design = primary.active_design

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of both tables, the primary one first."""
        return (self.primary, self.secondary)

    def _send_changes(
        self,
        changes: Sequence[JointChange],
        stamped: Sequence[Sequence[list[RowCells]]],
        *,
        sync: bool | None,
    ) -> None:
        """Write changes that have timestamps to both tables, first to the one that is read."""
        del changes
        for state in self.load_order:
            self.send_to_table(self.states.index(state), stamped, sync=sync)

    def mirror_change(self, change: ReadModifyWrite) -> None:
        """Make a change that depended on the primary table's values in the other table too."""
        if change.mutations:
            translated = self.secondary.translate_mutations(self.primary, change.mutations)
            self.secondary.writer.send_mutations(translated)
        if change.changed_columns is not None:
            mirror_columns(self.primary, self.secondary, *change.changed_columns)


class MirroredWriteState:
    """The states of two tables whose cells hold different fields: changed rows are copied.

    Where one table packs fields that the other has in columns of their own, a change of some fields
    does not tell the cells of the other table. So a change is made in the primary table, and the
    row is then copied as it is there.

    Args:
        primary: the state of the table that is read.
        secondary: the state of the other table.

    Cost: two raw gets and a put for each changed row; on a cluster each raw get is a scan.
    """

    def __init__(self, primary: GenerationState, secondary: GenerationState) -> None:
        self.primary, self.secondary = primary, secondary
        self.states = (primary, secondary)
        self.writer = primary.writer
        self.active_design = primary.active_design
        self.has_coded_fields = primary.has_coded_fields or secondary.has_coded_fields

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The state of the primary table; `mirror_loaded_rows` copies its rows."""
        return (self.primary,)

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Copy rows that were loaded into the primary table."""
        self._mirror_rows(row_keys.to_pylist())

    def _mirror_rows(self, row_keys: Sequence[bytes]) -> None:
        """Copy rows of the primary table to the other one, some hundred at a time."""
        for start in range(0, len(row_keys), MIRRORED_ROWS):
            mirror_rows(self.primary, self.secondary, row_keys[start : start + MIRRORED_ROWS])

    def assign_ids(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Give ids of `code` to the new values of many rows at once, in both tables."""
        for state in self.states:
            state.assign_ids(rows)

    def build_change(self, build: ChangeBuilder, row: Any) -> RowChange:
        """Return the change of a row in the primary table, as a method of `RowWriter` builds it."""
        return self.primary.build_change(build, row)

    def split_change(self, change: RowChange) -> list[tuple[GenerationState, RowChange]]:
        """Return the change that was built, with the state of its table."""
        return [(self.primary, change)]

    def rebuild_change(self, changes: Sequence[tuple[GenerationState, RowChange]]) -> RowChange:
        """Return a change built under an earlier state as it is under this one."""
        return self.primary.rebuild_change(changes)

    def apply_changes(
        self, changes: Sequence[RowChange], *, sync: bool | None = None
    ) -> list[list[RowCells]]:
        """Write changes to the primary table, and copy their rows to the other one."""
        written = self.primary.apply_changes(changes, sync=sync)
        self._mirror_rows([one.row for mutations in written for one in mutations])
        return written

    def split_mutations(
        self, mutations: list[RowCells]
    ) -> list[tuple[GenerationState, list[RowCells]]]:
        """Return what was written for a change in both tables, as mutations of the primary one."""
        return [(self.primary, mutations), (self.secondary, [])]

    def repeat_missed(
        self,
        written: Sequence[tuple[GenerationState, list[RowCells]]],
        values: Mapping[str, Any] | None = None,
        *,
        sync: bool | None = None,
    ) -> list[RowCells]:
        """Copy the row of a change that was written under an earlier state to both tables."""
        del values, sync
        source, mutations = written[0]
        row_keys = [one.row for one in mutations]
        for state in self.states:
            if all(not state.has_same_table(one) for one, _ in written):
                mirror_rows(source, state, row_keys)
        return mutations

    def mirror_change(self, change: ReadModifyWrite) -> None:
        """Copy the row of a change that depended on the primary table's values."""
        row_keys = [one.row for one in change.mutations]
        if change.changed_columns is not None:
            row_keys.append(change.changed_columns[0])
        self._mirror_rows(list(dict.fromkeys(row_keys)))


def build_double_writes(
    states: tuple[GenerationState, GenerationState], primary: GenerationState
) -> DoubleWriteState | MirroredWriteState:
    """Return the state of two tables of a move that are both written.

    Args:
        states: the state of the source, then that of the target.
        primary: the one of both that is read.
    """
    state = DoubleWriteState(states, primary)
    if RowTranslator(primary, state.secondary).is_direct:
        return state
    return MirroredWriteState(primary, state.secondary)
