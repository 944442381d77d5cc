"""Write each row change to all copies of a table, under the same timestamps.

The copies are the table itself, its companions, and during a move the other table of the move. One
row clock orders the changes of a row in all of them, and each change has one timestamp everywhere:
so the newest change of a row is the same in every copy, whatever order the servers receive them in.

Of a put, companions are written before the table that is read; of a delete, after it: a crash
between the two leaves a row too many in a companion, never one too few. The other table of a move
comes last: before it is read, the mover copies what it is missing.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rowkey.array_libraries import pa
from rowkey.cells import RowCells
from rowkey.design import Design, is_index
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.moves.row_mirror import mirror_columns, mirror_rows
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.read_modify_write import ReadModifyWrite
from rowkey.table.row_classes import to_mapping
from rowkey.table.row_writer import RowWriter, builds_delete, select_deletes, stamp_mutation

if TYPE_CHECKING:
    from rowkey.table.row_writer import ChangeBuilder, RowChange

MIRRORED_ROWS = 500
"""Rows that are copied together, so that they are written by one call."""


class WriteState(Protocol):
    """The state of a table, or of several copies of it, as a writer of many rows needs it."""

    @property
    def primary(self) -> GenerationState:
        """The state of the table that is read."""

    @property
    def all_states(self) -> tuple[GenerationState, ...]:
        """The states of all tables that are written, that of the table that is read first."""

    @property
    def writer(self) -> RowWriter:
        """The writer that names and orders the rows."""

    @property
    def active_design(self) -> Design:
        """The design that new rows of the table that is read are written under."""

    @property
    def has_coded_fields(self) -> bool:
        """Whether a key has ids of `code`, which many rows get together."""

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of the tables that a loaded row is written to, in this order."""

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Copy rows that were loaded to a table that is not in `load_order`.

        Args:
            row_keys: their keys in the table that is read.
        """

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


class ReadableTable(WritableTable, Protocol):
    """A table whose rows are read again before they are written."""

    def get_state(self) -> GenerationState:
        """Return the state under which rows are read."""


class JointChange(NamedTuple):
    """A change of one row in several tables, without a timestamp yet.

    Args:
        changes: the change of each table.
        mutations: all mutations of all tables; empty if there is nothing to change.
        stamp_count: how many timestamps the change takes for itself; see `RowChange`.
        is_delete: whether it deletes the row: then companions are written after the table.
    """

    changes: tuple[RowChange, ...]
    mutations: list[RowCells]
    stamp_count: int
    is_delete: bool


WrittenChange = list[tuple[GenerationState, list[RowCells]]]
"""The mutations of each table that a change was written to."""


class JointWriteState:
    """The states of all copies of a table, with the methods of a state that write rows.

    Args:
        primary: the table that is read.
        companions: its companions.
        other: the other table of a move; None if there is no move.
        names_by_other: whether the other table, which is the source of the move, names the rows.
    """

    def __init__(
        self,
        primary: GenerationState,
        companions: Sequence[GenerationState] = (),
        other: GenerationState | None = None,
        *,
        names_by_other: bool = False,
    ) -> None:
        self.primary, self.companions, self.other = primary, tuple(companions), other
        self.mirrored: GenerationState | None = None
        """The other table, if a change of some fields does not tell its cells: where one table
        packs fields that the other has in columns of their own. Then a change is made in the
        primary table, and the row is copied as it is there. That costs two raw gets and a put for
        each changed row; on a cluster each raw get is a scan."""
        if other is not None and not RowTranslator(primary, other).is_direct:
            self.mirrored = other
        others = () if other is None or self.mirrored else (other,)
        self.states = (primary, *self.companions, *others)
        """The tables that a change is encoded for."""
        self._index_fields = tuple(
            one.active_design.fields
            if one in self.companions and is_index(primary.active_design, one.active_design)
            else None
            for one in self.states
        )
        """The fields of each of these tables, if it is an index; else None."""
        self._namer = others[0] if others and names_by_other else primary
        self.writer = self._namer.writer
        self.active_design = primary.active_design
        self.has_coded_fields = any(state.has_coded_fields for state in self.all_states)

    @property
    def all_states(self) -> tuple[GenerationState, ...]:
        """The states of all tables, also of one that rows are copied to."""
        return self.states if self.mirrored is None else (*self.states, self.mirrored)

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of the tables that a loaded row is written to, in this order."""
        return (*self.companions, self.primary, *self.states[1 + len(self.companions) :])

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Copy rows that were loaded into the primary table to the other one, if it needs that."""
        if self.mirrored is not None:
            self._mirror_rows(row_keys.to_pylist())

    def _mirror_rows(self, row_keys: Sequence[bytes]) -> None:
        """Copy rows of the primary table to the other one, some hundred at a time."""
        if self.mirrored is not None:
            for start in range(0, len(row_keys), MIRRORED_ROWS):
                mirror_rows(self.primary, self.mirrored, row_keys[start : start + MIRRORED_ROWS])

    def mirror_change(self, change: ReadModifyWrite) -> None:
        """Make a change that depended on the primary table's values in the other table too."""
        assert self.other is not None, "called during a move"
        if self.mirrored is not None:
            row_keys = [one.row for one in change.mutations]
            if change.changed_columns is not None:
                row_keys.append(change.changed_columns[0])
            self._mirror_rows(list(dict.fromkeys(row_keys)))
            return
        if change.mutations:
            translated = self.other.translate_mutations(self.primary, change.mutations)
            self.other.writer.send_mutations(translated)
        if change.changed_columns is not None:
            mirror_columns(self.primary, self.other, *change.changed_columns)

    def assign_ids(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Give ids of `code` to the new values of many rows at once, in each table."""
        for state in self.all_states:
            state.assign_ids(rows)

    def build_change(self, build: ChangeBuilder, row: Any) -> JointChange:
        """Return the change of a row in all tables, as a method of `RowWriter` builds it."""
        values = to_mapping(row)
        changes = tuple(
            build(state.writer, values if fields is None else select_values(values, fields))
            for state, fields in zip(self.states, self._index_fields, strict=True)
        )
        return self._join_changes(changes, is_delete=builds_delete(build))

    def _join_changes(self, changes: tuple[RowChange, ...], *, is_delete: bool) -> JointChange:
        """Return the changes of one row in all tables as one."""
        mutations = [one for change in changes for one in change.mutations]
        if not changes[0].mutations:  # its key has no id of a `code` value: there is no such row
            mutations = []
        stamp_count = max(change.stamp_count for change in changes)
        at = self.states.index(self._namer)
        named = changes[at]._replace(stamp_count=stamp_count)
        changes = (*changes[:at], named, *changes[at + 1 :])
        return JointChange(changes, mutations, stamp_count, is_delete)

    def split_change(self, change: JointChange) -> list[tuple[GenerationState, RowChange]]:
        """Return the change of each table in a change that this state has built."""
        return list(zip(self.states, change.changes, strict=True))

    def rebuild_change(self, changes: Sequence[tuple[GenerationState, RowChange]]) -> JointChange:
        """Return a change built under an earlier state as it is under this one.

        Raises:
            RowError: a key does not have the values from which the new key follows.
        """
        rebuilt = tuple(state.rebuild_change(changes) for state in self.states)
        return self._join_changes(rebuilt, is_delete=all(map(_has_only_deletes, rebuilt)))

    def apply_changes(
        self, changes: Sequence[JointChange], *, sync: bool | None = None
    ) -> list[WrittenChange]:
        """Give changes their timestamps and write them to all tables.

        Returns:
            Of each change, the mutations of each table, as they were written.

        Raises:
            RowError: a table refuses a change; nothing is written.
            Unavailable: a table cannot be written. The changes are not acknowledged; companions may
                have some of them.
        """
        at, clock, last_timestamp = self.states.index(self._namer), self.writer.clock, 0
        with clock.lock_rows([change.changes[at].row_name for change in changes]):
            stamped: list[WrittenChange] = []
            for change in changes:
                timestamp = self.writer.assign_timestamp(change.changes[at])
                last_timestamp = max(last_timestamp, timestamp)
                stamped.append(
                    [
                        (state, [*map(stamp_mutation, one.mutations, repeat(timestamp))])
                        for state, one in zip(self.states, change.changes, strict=True)
                    ]
                )
            for index, state in enumerate(self.states):
                state.writer.check_mutations(tables[index][1] for tables in stamped)
                if state is not self._namer:
                    state.store.row_clock.advance_to(last_timestamp)
            self._send_changes(changes, stamped, sync=sync)
        clock.throttle_writer(last_timestamp)
        if self.mirrored is not None:
            self._mirror_rows([one.row for tables in stamped for one in tables[0][1]])
        return stamped

    def _send_changes(
        self,
        changes: Sequence[JointChange],
        stamped: Sequence[WrittenChange],
        *,
        sync: bool | None,
    ) -> None:
        """Write changes that have timestamps to all tables, in order."""
        pairs = list(zip(changes, stamped, strict=True))
        puts = [written for change, written in pairs if not change.is_delete]
        deletes = [written for change, written in pairs if change.is_delete]
        companions = range(1, 1 + len(self.companions))
        for index, some in (
            *((index, puts) for index in companions),
            (0, stamped),
            *((index, deletes) for index in companions),
            *((index, stamped) for index in range(companions.stop, len(self.load_order))),
        ):
            self._send_to_table(index, some, sync)

    def _send_to_table(
        self, index: int, written: Sequence[WrittenChange], sync: bool | None
    ) -> None:
        """Write the part of changes that is of one table, if there is any."""
        changes = [tables[index][1] for tables in written if tables[index][1]]
        if changes:
            self.states[index].writer.send_changes(changes, sync=sync)

    def split_mutations(self, mutations: WrittenChange) -> WrittenChange:
        """Return the mutations of each table in what was written for a change."""
        copied = [] if self.mirrored is None else [(self.mirrored, list[RowCells]())]
        return [*mutations, *copied]

    def repeat_missed(
        self,
        written: Sequence[tuple[GenerationState, list[RowCells]]],
        values: Mapping[str, Any] | None = None,
        *,
        sync: bool | None = None,
    ) -> WrittenChange:
        """Write to each table what a change written under an earlier state missed in it.

        Args:
            written: the mutations of each table that was written, of the one that was read first.
            values: the fields of the row's key; None to decode them from the keys.
            sync: whether it is on disk when the call returns; None is as opened.

        Returns:
            All mutations of each table.

        Raises:
            RowError: a key does not have these fields.
        """
        if self.mirrored is None:
            return [
                (state, state.repeat_missed(written, values, sync=sync)) for state in self.states
            ]
        (source, mutations), *_ = written
        row_keys = [one.row for one in mutations]
        for state in (self.primary, self.mirrored):
            if not any(state.has_same_table(one) for one, _ in written):
                mirror_rows(source, state, row_keys)
        repeated = [
            (state, state.repeat_missed(written, values, sync=sync)) for state in self.companions
        ]
        return [(source, mutations), *repeated]


def select_values(values: Mapping[str, Any], fields: Container[str]) -> dict[str, Any]:
    """Return those values of a row that are of some fields."""
    return {name: value for name, value in values.items() if name in fields}


def _has_only_deletes(change: RowChange) -> bool:
    """Return whether a change puts no cell."""
    return all(len(select_deletes(one.cells)) == len(one.cells) for one in change.mutations)
