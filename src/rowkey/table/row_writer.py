"""Encode and write the changes of rows: puts, replaces and deletes.

A change is made in two steps. First the row is encoded, which needs no lock. Then, with no other
change of the row in between, it gets its timestamp and is written: `RowClock` says why.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.cells import LATEST, Cell, CellType, RowCells, check_mutation
from rowkey.design import Design
from rowkey.engines import RowClock, Store
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Key
from rowkey.messages import suggest_name
from rowkey.table.generations.column_copies import copy_before_delete
from rowkey.table.row_classes import to_mapping
from rowkey.workload import check_time_unit, list_plausible_ranges

if TYPE_CHECKING:
    ChangeBuilder = Callable[["RowWriter", Any], "RowChange"]
    """A method of `RowWriter` that builds the change of a row."""

PRECEDING_TIMESTAMP = -1
"""The timestamp of cells that get the timestamp just before that of their change."""

_PUT = CellType.PUT
_new_tuple = tuple.__new__  # half the time of calling Cell
_get_row_name = attrgetter("row_name")


class RowChange(NamedTuple):
    """A change of one row that is encoded and has no timestamp yet.

    Args:
        row_name: the bytes that name the row for the row clock, the same for all its row keys.
        mutations: the mutation of each row key of the row, that of the active row key last.
            Cells that wait for the timestamp of the change have `LATEST`; those that wait for the
            timestamp before it have `PRECEDING_TIMESTAMP`.
        stamp_count: how many timestamps the change takes for itself; 0 for a put that deletes
            nothing, which may share one with other puts.
        salt: the number of the copy that is written, if the key has a random salt and the change
            takes no timestamps for itself; else None.
    """

    row_name: bytes
    mutations: list[RowCells]
    stamp_count: int = 0
    salt: int | None = None


class RowNaming(NamedTuple):
    """How the changes of a row are named and ordered, whatever row keys the row has.

    Args:
        key: the key that names a row; None if its own row key does.
        clock: gives the changes of each row their timestamps.
    """

    key: Key | None
    clock: RowClock


class RowWriter:
    """Encodes rows as changes, and writes the changes to the engine in order.

    A row may be stored under several row keys: one for each value of a random salt, and one for
    each generation of the table's bucket counts. It is written under one of them, that of the
    active generation; it is deleted under all.

    Args:
        designs: the table's design with each bucket count that rows may be stored under; the
            first one encodes new rows.
        store: the engine's table.
        row_naming: names and orders the changes of rows, whatever the counts are now.
    """

    def __init__(self, designs: Sequence[Design], store: Store, row_naming: RowNaming) -> None:
        design = designs[0]
        self.layout = design.layout
        self.key = design.key
        self.fields = design.fields
        self.families = design.families
        self.identity_fields = design.layout.identity_fields
        self.store = store
        naming_key, self.clock = row_naming
        self.naming_key = self.key if naming_key is None and self.key.is_salted else naming_key
        """The key that names a row; None if its own row key does."""
        self.key_variants = tuple(
            (one.layout, salt)
            for one in designs
            for salt in (range(one.key.salt_count) if one.key.is_salted else (None,))
        )
        """The layouts and salts that give every row key of a row, the active one first."""
        self.plausible_ranges = list_plausible_ranges(self.fields.values())
        self._encode_event = design.layout.event_writer.encode_event

    def encode_row_keys(self, values: Mapping[str, Any]) -> list[bytes]:
        """Return the row keys under which a row may be stored, each once, the active one first.

        With a random salt the first is that of salt 0.
        """
        if len(self.key_variants) == 1 and not self.key.is_salted:
            return [self.key.encode(values)]
        row_keys = (layout.key.encode(values, salt=salt) for layout, salt in self.key_variants)
        return list(dict.fromkeys(row_keys))

    def encode_deletes(
        self, values: Mapping[str, Any], timestamp: int | None = None
    ) -> list[RowCells]:
        """Return the deletes of a row under each of its row keys, the active one first.

        Args:
            timestamp: see `build_delete`.
        """
        deletes = [
            layout.encode_delete(values, salt=salt)
            if timestamp is None
            else layout.encode_column_deletes(values, timestamp, salt=salt)
            for layout, salt in self.key_variants
        ]
        return deletes if len(deletes) == 1 else list({one.row: one for one in deletes}.values())

    def build_put(self, row: Any) -> RowChange:
        """Return the change that writes the given fields of a row; None deletes a field."""
        values = row if type(row) is dict else to_mapping(row)
        self.check_times(values)
        if self.key.is_salted:
            return self._build_salted_put(values)
        mutation = self._encode_event(values, LATEST, None)
        row_name = mutation.row if self.naming_key is None else self.name_row(values, mutation.row)
        if None not in values.values():  # only None deletes a cell
            return RowChange(row_name, [mutation])
        deletes = select_deletes(mutation.cells)
        if not deletes:
            return RowChange(row_name, [mutation])
        mutations = [*self._build_other_deletes(values, mutation.row, deletes), mutation]
        return RowChange(row_name, mutations, stamp_count=1)

    def check_times(self, values: Mapping[str, Any]) -> None:
        """Raise if a row has a number that is a time of our days in another unit.

        Raises:
            RowError: it has.
        """
        for field, low, high in self.plausible_ranges:
            value = values.get(field.name)
            if type(value) is not int or not low <= value < high:
                check_time_unit(field, value)

    def _build_salted_put(self, values: Mapping[str, Any]) -> RowChange:
        """Return the put of a row under one random salt, with its deletes under all salts."""
        salt = secrets.randbelow(self.key.salt_count)
        mutation = self._encode_event(values, LATEST, salt)
        row_name = self.name_row(values, mutation.row)
        deletes = select_deletes(mutation.cells)
        if deletes:
            mutations = [*self._build_other_deletes(values, mutation.row, deletes), mutation]
            return RowChange(row_name, mutations, stamp_count=1)
        last = self.clock.find_last_salt(row_name)
        # Puts of one moment go to one copy; a change of the salt may have left fewer copies since.
        if last is not None and last != salt and last < self.key.salt_count:
            salt, mutation = last, self._encode_event(values, LATEST, last)
        return RowChange(row_name, [mutation], salt=salt)

    def _build_other_deletes(
        self, values: Mapping[str, Any], row: bytes, deletes: Sequence[Cell]
    ) -> list[RowCells]:
        """Return the same deletes under every other row key of a row."""
        if len(self.key_variants) == 1:
            return []
        return [RowCells(key, list(deletes)) for key in self.encode_row_keys(values) if key != row]

    def build_replace(self, row: Any) -> RowChange:
        """Return the change that writes the given fields of a row and deletes all others.

        Under the other row keys the given fields need no delete: their cells are older, and
        hidden. Copies under a random salt may have the same timestamp, so that all are deleted.
        """
        values = to_mapping(row)
        self.check_times(values)
        salt = secrets.randbelow(self.key.salt_count) if self.key.is_salted else None
        encoded_row = self._encode_event(values, LATEST, salt)
        clears = self.layout.event_writer.encode_clearing_deletes(values)
        mutation = RowCells(encoded_row.row, [*_mark_preceding(clears), *encoded_row.cells])
        deletes = [*clears, *select_deletes(encoded_row.cells)]
        if self.key.is_salted:
            deletes += self.layout.encode_delete(values, salt=0).cells
        other_deletes = (
            self._build_other_deletes(values, encoded_row.row, deletes) if deletes else []
        )
        preceding = [RowCells(one.row, _mark_preceding(one.cells)) for one in other_deletes]
        return RowChange(
            self.name_row(values, encoded_row.row), [*preceding, mutation], stamp_count=2
        )

    def build_delete(self, row: Any, timestamp: int | None = None) -> RowChange:
        """Return the change that deletes a row under each of its row keys.

        Args:
            timestamp: deletes the declared cells that are not newer than this, in milliseconds, and
                leaves undeclared ones; None deletes the row as `Table.delete` does.
        """
        values = to_mapping(row)
        if self.key.has_coded_fields and not self.key.has_known_ids(values):
            self.require_known_fields(values)
            return RowChange(b"", [])
        mutation, *others = self.encode_deletes(values, timestamp)
        return RowChange(self.name_row(values, mutation.row), [*others, mutation], stamp_count=1)

    def apply_changes(
        self, changes: Sequence[RowChange], *, sync: bool | None = None
    ) -> list[list[RowCells]]:
        """Give changes their timestamps and write them, with no other change of their rows between.

        On a cluster they are written under the row keys that are not active first.

        Returns:
            The mutations of each change, as they were written.

        Raises:
            RowError: the engine refuses one; nothing is written.
        """
        last_timestamp = 0
        stamped_changes: list[list[RowCells]] = []
        with self.clock.lock_rows([*map(_get_row_name, changes)]):
            for change in changes:
                timestamp = self.assign_timestamp(change)
                last_timestamp = max(last_timestamp, timestamp)
                stamped_changes.append([*map(stamp_mutation, change.mutations, repeat(timestamp))])
            self.send_changes(stamped_changes, sync=sync)
        self.clock.throttle_writer(last_timestamp)
        return stamped_changes

    def send_changes(
        self, stamped_changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        """Write changes that have timestamps, while their rows are locked.

        Args:
            stamped_changes: the mutations of each change, that of the active row key last.
            sync: whether they are on disk when the call returns; None is as opened.

        Raises:
            RowError: the engine refuses one; nothing is written.
        """
        unsent = stamped_changes
        if self.store.is_shared and max(map(len, stamped_changes), default=0) > 1:
            self.check_mutations(stamped_changes)
            self.write_other_places(stamped_changes, sync=sync)
            unsent = [change[-1:] for change in stamped_changes]
        self.send_mutations(list(chain.from_iterable(unsent)), sync=sync)

    def assign_timestamp(self, change: RowChange) -> int:
        """Return a new timestamp for a change, the last one if the change needs several."""
        row_name, _, stamp_count, salt = change
        if salt is not None:
            return self.clock.stamp_copy(row_name, salt)
        return self.clock.stamp_row(row_name, stamp_count) + max(stamp_count - 1, 0)

    def check_mutations(self, changes: Iterable[Iterable[RowCells]]) -> None:
        """Raise unless the engine can make all changes, before it makes a part of one.

        Raises:
            RowError: a change cannot be made; the first is named.
        """
        try:
            for mutation in chain.from_iterable(changes):
                check_mutation(mutation, self.families)
        except InvalidArgument as error:
            raise to_row_error(error) from None

    def write_other_places(
        self, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        """Write changes under all row keys but the active one, after copying newer values to it.

        So readers see the row change when its active row key changes, and nothing older once it is
        deleted there. A key with a random salt has no active row key: nothing is copied.
        """
        if not self.key.is_salted:
            copy_before_delete(self.store, changes, sync=sync)
        self.send_mutations([one for change in changes for one in change[:-1]], sync=sync)

    def send_mutations(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Write mutations that have timestamps to the engine.

        Raises:
            RowError: the engine refuses one; nothing is written.
        """
        try:
            self.store.mutate(mutations, sync=sync)
        except InvalidArgument as error:
            raise to_row_error(error) from None

    def require_known_fields(self, values: Mapping[str, Any]) -> None:
        """Raise if the design lacks one of the fields.

        Raises:
            RowError: a field is unknown; the first is named.
        """
        for name in values:
            if name not in self.fields:
                remedy = suggest_name(str(name), self.fields)
                what, known = "the design has no such field", ", ".join(list(self.fields)[:12])
                raise RowError(f"field {name}", what, f"one of {known}", remedy)

    def name_row(self, values: Mapping[str, Any], row: bytes) -> bytes:
        """Return the bytes that name a row for the row clock: its row key, if it has only one."""
        return row if self.naming_key is None else self.naming_key.encode(values, salt=0)


def builds_delete(build: ChangeBuilder) -> bool:
    """Return whether a method of `RowWriter`, or a partial call of it, builds deletes of rows."""
    return getattr(build, "func", build) is RowWriter.build_delete


def select_deletes(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a mutation that are deletes."""
    return [cell for cell in cells if cell.cell_type is not _PUT]


def _mark_preceding(cells: Sequence[Cell]) -> list[Cell]:
    """Mark cells that get the timestamp before that of their change."""
    return [
        c._replace(timestamp=PRECEDING_TIMESTAMP) if c.timestamp == LATEST else c for c in cells
    ]


def stamp_mutation(mutation: RowCells, timestamp: int) -> RowCells:
    """Return a mutation with the timestamp of its change in the cells that lack one."""
    stamps = {LATEST: timestamp, PRECEDING_TIMESTAMP: timestamp - 1}
    cells = [
        _new_tuple(Cell, (family, qualifier, stamps.get(stamp, stamp), value, cell_type, ttl_ms))
        for family, qualifier, stamp, value, cell_type, ttl_ms in mutation.cells
    ]
    return _new_tuple(RowCells, (mutation.row, cells))


def to_row_error(error: InvalidArgument) -> RowError:
    """Convert an engine's `InvalidArgument` to an error of the row."""
    mistake = error.mistake
    return RowError(mistake.path, mistake.problem, mistake.expected, mistake.remedy)
