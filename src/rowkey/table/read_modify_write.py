"""Changes that depend on a row's current values: increments, appends, conditional puts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rowkey.cells import LATEST, Cell, RowCells
from rowkey.engines import CellCondition, CellSelection, SendCheck
from rowkey.errors import Conflict, DesignRefused, InvalidArgument, RowError, Unavailable
from rowkey.messages import format_value
from rowkey.rows import Layout
from rowkey.table.generations.column_copies import copy_newest_columns
from rowkey.table.row_classes import to_mapping
from rowkey.table.row_writer import RowWriter, stamp_mutation, to_row_error

COUNTER_TYPES = frozenset({"i64"})
"""Types whose bytes HBase can increment: 8 bytes, big-endian, signed."""
APPENDABLE_TYPES = frozenset({"text", "bytes"})
"""Types whose column may be appended to."""


class ReadModifyWrite:
    """Changes a row depending on its current values, with no other change of it in between.

    Args:
        writer: encodes rows, and sends changes of them.
        check_send: checks that the change is sent in time.
    """

    def __init__(self, writer: RowWriter, check_send: SendCheck) -> None:
        self.writer, self.store = writer, writer.store
        self.check_send = check_send
        self.changed_columns: tuple[bytes, list[tuple[str, bytes]]] | None = None
        """The row key and the columns of cells whose timestamps the engine has chosen."""
        self.mutations: list[RowCells] = []
        """The mutations that were written with timestamps."""

    def increment(self, row: Any, amounts: Mapping[str, int]) -> dict[str, int]:
        """Add amounts to counters of a row; return their new values."""
        self._require_unsalted("an increment")
        self._require_no_stamp_field("an increment")
        row_key, columns = self._find_columns(row, amounts, COUNTER_TYPES, "incremented")
        for name, amount in amounts.items():
            if type(amount) is not int:
                what = f"{format_value(amount)} cannot be added to a counter"
                raise RowError(f"field {name}", what, "a whole number")
            if not -(2**63) <= amount < 2**63:
                what = f"{format_value(amount)} does not fit in 8 bytes"
                raise RowError(f"field {name}", what, "a number from -2^63 to 2^63-1")
        increments = [(f, q, amounts[name]) for name, (f, q) in columns.items()]
        values = to_mapping(row)
        self._store_key_fields(values)
        with self._lock_row(values, row_key) as last:
            self._copy_columns(values, row_key, columns.values())
            cells = self.store.increment(
                row_key, increments, after_ms=last, check_send=self.check_send
            )
            self.changed_columns = row_key, list(columns.values())
            self._require_visible(values, row_key, cells, last)
        counts = [int.from_bytes(cell.value, "big", signed=True) for cell in cells]
        return dict(zip(columns, counts, strict=True))

    def append(self, row: Any, pieces: Mapping[str, Any]) -> None:
        """Append pieces to text or bytes fields of a row."""
        self._require_unsalted("an append")
        self._require_no_stamp_field("an append")
        row_key, columns = self._find_columns(row, pieces, APPENDABLE_TYPES, "appended to")
        values = to_mapping(row)
        column_pieces = [
            (*column, self._encode_value(values, name, pieces[name], column))
            for name, column in columns.items()
        ]
        self._store_key_fields(values)
        with self._lock_row(values, row_key) as last:
            self._copy_columns(values, row_key, columns.values())
            cells = self.store.append(
                row_key, column_pieces, after_ms=last, check_send=self.check_send
            )
            self.changed_columns = row_key, list(columns.values())
            self._require_visible(values, row_key, cells, last)

    @contextmanager
    def _lock_row(self, values: Mapping[str, Any], row_key: bytes) -> Iterator[int]:
        """Lock a row for a `with` block with a change that the engine gives its timestamp.

        Returns:
            The last timestamp that may hide a change of the row.

        Raises:
            Unavailable: the clock of this machine is behind the last change of the row.
        """
        name = self.writer.name_row(values, row_key)
        with self.writer.clock.lock_rows([name]):
            last = self.writer.clock.find_last_timestamp(name)
            if self.store.is_shared and not self.writer.clock.wait_until(last + 1):
                what = (
                    f"this machine's clock is behind the row's last change, at {last} ms, which "
                    "would hide the new value"
                )
                raise Unavailable("clock", what, remedy="Set the clock, then try again.")
            try:
                yield last
            except InvalidArgument as refusal:
                raise to_row_error(refusal) from None

    def _require_visible(
        self, values: Mapping[str, Any], row_key: bytes, cells: Sequence[Cell], last: int
    ) -> None:
        """Record the engine's timestamps; raise if an earlier change of the row hides the cells.

        Raises:
            Unavailable: the clock of a server is behind this client's.
        """
        first = min(cell.timestamp for cell in cells)
        self.writer.clock.record_timestamp(
            self.writer.name_row(values, row_key), max(cell.timestamp for cell in cells)
        )
        if first <= last:
            what = (
                f"the server gave this change the timestamp {first}, so an earlier change, of "
                f"{last}, hides it"
            )
            remedy = "Synchronize the clocks of servers and clients, then try again."
            raise Unavailable(f"row key {row_key.hex()}", what, remedy=remedy)

    def _copy_columns(
        self, values: Mapping[str, Any], row_key: bytes, columns: Iterable[tuple[str, bytes]]
    ) -> None:
        """Copy columns from the other row keys of a row to the row key that is written."""
        other_keys = [key for key in self.writer.encode_row_keys(values) if key != row_key]
        if other_keys:
            family_columns: dict[str, tuple[bytes, ...]] = {}
            for family, qualifier in columns:
                family_columns[family] = (*family_columns.get(family, ()), qualifier)
            copy_newest_columns(self.store, [row_key, *other_keys], family_columns)

    def check_and_put(self, row: Any, expected: Mapping[str, Any]) -> bool:
        """Put a row if one of its columns has the expected value; return whether it was put."""
        self._require_unsalted("a check-and-put")
        if len(expected) != 1:
            what = f"{len(expected)} columns are given"
            raise RowError("argument expected", what, "one column, because HBase checks one column")
        values = to_mapping(row)
        ((name, value),) = expected.items()
        row_key, columns = self._find_columns(values, expected, None, "checked")
        wanted = None if value is None else self._encode_value(values, name, value, columns[name])
        check = CellCondition(*columns[name], "=", wanted)
        row_name = self.writer.name_row(values, row_key)
        with self.writer.clock.lock_rows([row_name]):
            self._copy_columns(values, row_key, columns.values())
            change = self.writer.build_put(values)
            if len(change.mutations) > 1 and not self._is_condition_met(row_key, check):
                return False  # before cells under other row keys are deleted
            at = self.writer.clock.stamp_row(row_name, 1)
            if self.store.is_shared:
                at = self._stamp_after_others(row_name, values, change.mutations[-1], at)
            mutations = [stamp_mutation(mutation, at) for mutation in change.mutations]
            if len(mutations) > 1:
                self.writer.check_mutations([mutations])
                self.writer.write_other_places([mutations])
            is_put = self.store.check_and_mutate(
                row_key, check, mutations[-1].cells, check_send=self.check_send
            )
            if is_put:
                self.mutations += mutations
            return is_put

    def _is_condition_met(self, row_key: bytes, condition: CellCondition) -> bool:
        selection = CellSelection(columns={condition.family: (condition.qualifier,)})
        (row,) = self.store.get([row_key], selection)
        value = row.cells[0].value if row.cells else None
        return value == condition.value or (condition.value is None and not value)

    def _stamp_after_others(
        self, name: bytes, values: Mapping[str, Any], mutation: RowCells, at: int
    ) -> int:
        """Return a timestamp after all cells of a row; clocks of other clients may be ahead.

        Raises:
            Conflict: a cell has a timestamp that no clock gives.
        """
        families = {cell.family: () for cell in mutation.cells if cell.timestamp == LATEST}
        if not families:
            return at
        ask = CellSelection(columns=families, time_range=(at, LATEST), raw=True)
        found = self.store.get(self.writer.encode_row_keys(values), ask)
        stamps = [cell.timestamp for one in found for cell in one.cells]
        if not stamps:
            return at
        self.writer.clock.record_timestamp(name, max(stamps))
        stamp = self.writer.clock.stamp_row(name, 1)
        if stamp <= max(stamps):
            what = (
                f"a cell of the row has the timestamp {max(stamps)}, which no clock gives and "
                "which would hide the new values"
            )
            remedy = "Delete the cell with this timestamp, then try again."
            raise Conflict(f"row key {mutation.row.hex()}", what, remedy=remedy)
        return stamp

    def _store_key_fields(self, values: Mapping[str, Any]) -> None:
        """Write the fields of which the key has only a part, so that a new row can be read."""
        kept = _find_stored_key_fields(self.writer.layout)
        if kept:
            named = dict.fromkeys((*self.writer.identity_fields, *kept))
            put = self.writer.build_put({name: values.get(name) for name in named})
            (mutations,) = self.writer.apply_changes([put])
            self.mutations += mutations

    def _encode_value(
        self, values: Mapping[str, Any], name: str, value: Any, column: tuple[str, bytes]
    ) -> bytes:
        """Return the bytes of a field's value in its column."""
        stamp = self.writer.layout.cell_timestamp
        field_names = (
            self.writer.identity_fields
            if stamp is None
            else (*self.writer.identity_fields, stamp.field.name)
        )
        known_values = {one: values[one] for one in field_names if one in values}
        mutation = self.writer.layout.encode_event({**known_values, name: value})
        found = (c.value for c in mutation.cells if (c.family, c.qualifier) == column)
        return next(found, b"")

    def _find_columns(
        self,
        row: Any,
        named_values: Mapping[str, Any],
        types: frozenset[str] | None,
        operation: str,
    ) -> tuple[bytes, dict[str, tuple[str, bytes]]]:
        """Return the row key, and the family and qualifier of some fields.

        Raises:
            RowError: a field has no cell of its own, or another type.
        """
        values = to_mapping(row)
        self.writer.require_known_fields(named_values)
        for name in named_values:
            field = self.writer.fields[name]
            if types is not None and field.type.name not in types:
                what = f"a field of type {field.type.name} cannot be {operation}"
                raise RowError(
                    f"field {name}", what, f"a field of type {' or '.join(sorted(types))}"
                )
        columns = {name: self.writer.layout.find_column(name, values) for name in named_values}
        return self.writer.layout.encode_delete(values).row, columns

    def _require_unsalted(self, operation: str) -> None:
        """Raise `DesignRefused` if the key has a random salt."""
        if self.writer.key.is_salted:
            why = (
                f"{operation} must find the stored row, but a random salt gives each write "
                "another key"
            )
            raise DesignRefused("key", why, remedy="Use bucket(field, n) instead of salt(n).")

    def _require_no_stamp_field(self, operation: str) -> None:
        """Raise `DesignRefused` if a field is the cell timestamp, which HBase sets itself."""
        if (stamp := self.writer.layout.cell_timestamp) is not None:
            name = stamp.field.name
            why = (
                f"the field is stored as the cell timestamp, but {operation} takes the timestamp "
                f"from HBase's clock, which would overwrite the field"
            )
            remedy = "Read the row, and put it with check_and_put."
            raise DesignRefused(f"field {name}", why, remedy=remedy)


def _find_stored_key_fields(layout: Layout) -> tuple[str, ...]:
    """Return the fields of the key that are also stored whole in a cell of their own."""
    alone = {slot.field_names for slot in layout.slots}
    return tuple(name for name in layout.lossy_key_fields if (name,) in alone)
