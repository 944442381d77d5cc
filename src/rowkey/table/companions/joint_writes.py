"""Write each row change to a table and to its companions, under the same timestamps.

The row clock of the main table orders the changes of a row in all tables, and each change has one
timestamp everywhere: so the newest change of a row is the same in every table, whatever order the
servers receive them in. Of a put, companions are written first; of a delete, the main table. A
crash between the two leaves a row too many in a companion, never one too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.design import Design
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.row_classes import to_mapping
from rowkey.table.row_writer import RowWriter, select_deletes, stamp_mutation

if TYPE_CHECKING:
    from rowkey.table.row_writer import ChangeBuilder, RowChange


class WriteState(Protocol):
    """The state of a table, or of a table and its companions, as a writer of many rows needs it."""

    @property
    def writer(self) -> RowWriter:
        """The writer of the main table."""

    @property
    def active_design(self) -> Design:
        """The design that new rows of the main table are written under."""

    @property
    def has_coded_fields(self) -> bool:
        """Whether a key has ids of `code`, which many rows get together."""

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of the tables that a loaded row is written to, in this order."""

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Copy rows that were loaded into the tables of `load_order` to further ones."""

    def assign_ids(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Give ids of `code` to the new values of many rows at once."""

    def build_change(self, build: ChangeBuilder, row: Any) -> Any:
        """Return the change of a row that a method of `RowWriter` builds."""

    def split_change(self, change: Any) -> list[tuple[GenerationState, RowChange]]:
        """Return the change of each table in a change that this state has built."""

    def rebuild_change(self, changes: Sequence[tuple[GenerationState, RowChange]]) -> Any:
        """Return a change built under an earlier state as it is under this one."""

    def apply_changes(self, changes: Sequence[Any], *, sync: bool | None = None) -> Sequence[Any]:
        """Write changes; return what was written for each."""

    def split_mutations(self, mutations: Any) -> list[tuple[GenerationState, list[RowCells]]]:
        """Return the mutations of each table in what `apply_changes` has returned for a change."""

    def repeat_missed(
        self,
        written: Sequence[tuple[GenerationState, list[RowCells]]],
        values: Mapping[str, Any] | None = None,
        *,
        sync: bool | None = None,
    ) -> Any:
        """Write what a change written under an earlier state missed; return all of it."""


class WritableTable(Protocol):
    """A table, as a writer of many rows needs it."""

    def get_write_state(self) -> WriteState:
        """Return the state under which rows are written, the same object while it is unchanged."""


class JointChange(NamedTuple):
    """A change of one row in a table and in its companions, without a timestamp yet.

    Args:
        changes: the change of each table, that of the main table first.
        mutations: all mutations of all tables; empty if the main table has nothing to change.
        stamp_count: how many timestamps the change takes for itself; see `RowChange`.
        is_delete: whether it deletes the row: then the main table is written first.
    """

    changes: tuple[RowChange, ...]
    mutations: list[RowCells]
    stamp_count: int
    is_delete: bool


class JointWriteState:
    """The states of a table and its companions, with the methods of a state that write rows.

    Args:
        states: the state of each table, that of the main table first.
    """

    def __init__(self, states: tuple[GenerationState, ...]) -> None:
        self.states = states
        self.main_state, *self.companion_states = states
        self.writer = self.main_state.writer
        self.active_design = self.main_state.active_design
        self.has_coded_fields = any(state.has_coded_fields for state in states)

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of the tables that a loaded row is written to, the main table last."""
        return (*self.companion_states, self.main_state)

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Do nothing: rows are loaded into all tables."""

    def assign_ids(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Give ids of `code` to the new values of many rows at once, in each table."""
        for state in self.states:
            state.assign_ids(rows)

    def build_change(self, build: ChangeBuilder, row: Any) -> JointChange:
        """Return the change of a row in all tables, as a method of `RowWriter` builds it."""
        values = to_mapping(row)
        changes = tuple(build(state.writer, values) for state in self.states)
        return _join_changes(changes, is_delete=build is RowWriter.build_delete)

    def split_change(self, change: JointChange) -> list[tuple[GenerationState, RowChange]]:
        """Return the change of each table in a change that this state has built."""
        return list(zip(self.states, change.changes, strict=True))

    def rebuild_change(self, changes: Sequence[tuple[GenerationState, RowChange]]) -> JointChange:
        """Return a change built under an earlier state as it is under this one.

        Raises:
            RowError: a key does not have the values from which the new key follows.
        """
        rebuilt = tuple(state.rebuild_change(changes) for state in self.states)
        is_delete = all(map(_has_only_deletes, rebuilt))
        return _join_changes(rebuilt, is_delete=is_delete)

    def apply_changes(
        self, changes: Sequence[JointChange], *, sync: bool | None = None
    ) -> list[list[list[RowCells]]]:
        """Give changes their timestamps and write them to all tables.

        Returns:
            Of each change, the mutations of each table, as they were written.

        Raises:
            RowError: a table refuses a change; nothing is written.
            Unavailable: a table cannot be written. The changes are not acknowledged; companions may
                have some of them.
        """
        clock, last_timestamp = self.writer.clock, 0
        with clock.lock_rows([change.changes[0].row_name for change in changes]):
            stamped: list[list[list[RowCells]]] = []
            for change in changes:
                timestamp = self.writer.assign_timestamp(change.changes[0])
                last_timestamp = max(last_timestamp, timestamp)
                stamped.append(
                    [[*map(stamp_mutation, c.mutations, repeat(timestamp))] for c in change.changes]
                )
            for index, state in enumerate(self.states):
                state.writer.check_mutations(tables[index] for tables in stamped)
            for state in self.companion_states:
                state.store.row_clock.advance_to(last_timestamp)
            self._send_changes(changes, stamped, sync=sync)
        clock.throttle_writer(last_timestamp)
        return stamped

    def _send_changes(
        self,
        changes: Sequence[JointChange],
        stamped: Sequence[Sequence[list[RowCells]]],
        *,
        sync: bool | None,
    ) -> None:
        """Write changes that have timestamps to the companions and to the main table, in order."""
        pairs = list(zip(changes, stamped, strict=True))
        puts = [tables for change, tables in pairs if not change.is_delete]
        deletes = [tables for change, tables in pairs if change.is_delete]
        self._write_companions(puts, sync=sync)
        self.send_to_table(0, stamped, sync=sync)
        self._write_companions(deletes, sync=sync)

    def _write_companions(
        self, stamped: Sequence[Sequence[list[RowCells]]], *, sync: bool | None
    ) -> None:
        for index in range(1, len(self.states)):
            self.send_to_table(index, stamped, sync=sync)

    def send_to_table(
        self, index: int, stamped: Sequence[Sequence[list[RowCells]]], *, sync: bool | None
    ) -> None:
        """Write the part of changes that is of one table, if there is any."""
        changes = [tables[index] for tables in stamped if tables[index]]
        if changes:
            self.states[index].writer.send_changes(changes, sync=sync)

    def split_mutations(
        self, mutations: list[list[RowCells]]
    ) -> list[tuple[GenerationState, list[RowCells]]]:
        """Return the mutations of each table in what was written for a change."""
        return list(zip(self.states, mutations, strict=True))

    def repeat_missed(
        self,
        written: Sequence[tuple[GenerationState, list[RowCells]]],
        values: Mapping[str, Any] | None = None,
        *,
        sync: bool | None = None,
    ) -> list[list[RowCells]]:
        """Write to each table what a change written under an earlier state missed in it.

        Args:
            written: the mutations of each table that was written.
            values: the fields of the row's key; None to decode them from the keys.
            sync: whether it is on disk when the call returns; None is as opened.

        Returns:
            All mutations of each table.

        Raises:
            RowError: a key does not have these fields.
        """
        return [state.repeat_missed(written, values, sync=sync) for state in self.states]


def _has_only_deletes(change: RowChange) -> bool:
    """Return whether a change puts no cell."""
    return all(len(select_deletes(one.cells)) == len(one.cells) for one in change.mutations)


def _join_changes(changes: tuple[RowChange, ...], *, is_delete: bool) -> JointChange:
    """Return the changes of one row in all tables as one."""
    mutations = [one for change in changes for one in change.mutations]
    if not changes[0].mutations:  # its key has no id of a `code` value: there is no such row
        mutations = []
    stamp_count = max(change.stamp_count for change in changes)
    first = changes[0]._replace(stamp_count=stamp_count)
    return JointChange((first, *changes[1:]), mutations, stamp_count, is_delete)
