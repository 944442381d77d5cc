"""Encoding of events as cells, and the deletes that remove them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rowkey.cells import COLUMN_DELETES, LATEST, Cell, CellType, RowCells
from rowkey.errors import RowError
from rowkey.keys import Field, Key
from rowkey.messages import suggest_name
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.placement_interface import CellAction, CellSlot
from rowkey.rows.qualifier_prefix import QualifierPrefix

_new_tuple = tuple.__new__  # half the time of calling Cell
_KEEP, _PUT, _DELETE = CellAction.KEEP, CellType.PUT, CellType.DELETE_COLUMN


class EventWriter:
    """Encodes the events of one layout, whose attributes it takes, with functions compiled once."""

    def __init__(
        self,
        key: Key,
        fields: Mapping[str, Field],
        slots: Sequence[CellSlot],
        qualifier_prefix: QualifierPrefix | None,
        cell_timestamp: CellTimestamp | None,
        identity_fields: Collection[str],
    ) -> None:
        self.key = key
        self.fields = fields
        self.field_names = frozenset(fields)
        self.slots = slots
        self.qualifier_prefix = qualifier_prefix
        self.cell_timestamp = cell_timestamp
        self.key_sharing_slots = _find_key_sharing_slots(slots, identity_fields)
        self.families = tuple(dict.fromkeys(slot.family for slot in slots))
        self.compiled_slots = [
            (slot.family, slot.qualifier, slot.compile_writer()) for slot in slots
        ]
        self.exposed_columns = tuple(_find_exposed_columns(slots))

    def encode_event(self, row: Mapping[str, Any], timestamp: int, salt: int | None) -> RowCells:
        """Return the row key and cells of one event; see `Layout.encode_event`."""
        if not row.keys() <= self.field_names:
            raise self._build_unknown_field_error(row)
        if self.key_sharing_slots:
            self.check_packed_cells(row.keys())
        try:
            key = self.key.encode(row, salt=salt)
            prefix = b"" if self.qualifier_prefix is None else self.qualifier_prefix.encode(row)
            if self.cell_timestamp is not None:
                timestamp = self.cell_timestamp.compute_timestamp(row)
            cells = []
            for family, qualifier, write in self.compiled_slots:
                value = write(row)
                if value is None:
                    deleted = (family, prefix + qualifier, timestamp, b"", _DELETE, None)
                    cells.append(_new_tuple(Cell, deleted))
                elif value is not _KEEP:
                    put = (family, prefix + qualifier, timestamp, value, _PUT, None)
                    cells.append(_new_tuple(Cell, put))
        except RowError as error:
            raise RowError.join([error, *self._find_value_errors(row)]) from None
        if not cells:
            raise self._build_empty_row_error()
        return _new_tuple(RowCells, (key, cells))

    def _find_value_errors(self, row: Mapping[str, Any]) -> Iterator[RowError]:
        """Yield the error of each value that its field does not allow."""
        for name, value in row.items():
            if value is not None:
                try:
                    self.fields[name].to_internal(value)
                except RowError as error:
                    yield error

    def check_packed_cells(self, names: Collection[str]) -> None:
        """Raise if a write would remove fields of a packed cell that also contains a key field.

        Every write contains the key's fields and thus replaces such a cell.

        Raises:
            RowError: the write has no field of such a cell except those of the key.
        """
        for slot, non_key_names in self.key_sharing_slots:
            if non_key_names.isdisjoint(names):
                key_names = ", ".join(
                    name for name in slot.field_names if name not in non_key_names
                )
                lost_names = ", ".join(name for name in slot.field_names if name in non_key_names)
                problem = (
                    f"the row has no {lost_names}, which this cell packs with {key_names}: "
                    f"every row writes the whole cell, so the stored {lost_names} would be deleted"
                )
                remedy = f"Give {lost_names} too; None deletes a value."
                raise RowError(f"column {slot.title}", problem, remedy=remedy)

    def _build_unknown_field_error(self, row: Mapping[str, Any]) -> RowError:
        names = [str(name) for name in row if name not in self.field_names]
        known_names = ", ".join(list(self.fields)[:12])
        remedy = suggest_name(names[0], self.fields)
        problem = "the design has no such field"
        if len(names) > 1:
            problem = f"the design does not have these fields: {', '.join(names[:12])}"
        return RowError(f"field {names[0]}", problem, f"one of {known_names}", remedy)

    def _build_empty_row_error(self) -> RowError:
        stored = [name for slot in self.slots for name in slot.field_names]
        problem = "the row has no value that is stored in a cell, so nothing would be written"
        return RowError("row", problem, remedy=f"Give at least one of {', '.join(stored[:12])}.")

    def encode_delete(self, row: Mapping[str, Any], timestamp: int, salt: int | None) -> RowCells:
        """Return the deletes of all cells of one event; see `Layout.encode_delete`."""
        if not row.keys() <= self.field_names:
            raise self._build_unknown_field_error(row)
        key = self.key.encode(row, salt=salt)
        is_one_version = (
            self.cell_timestamp is not None and row.get(self.cell_timestamp.field.name) is not None
        )
        if self.cell_timestamp is not None and is_one_version:
            timestamp = self.cell_timestamp.compute_timestamp(row)
        if self.qualifier_prefix is None:
            kind = CellType.DELETE_FAMILY_VERSION if is_one_version else CellType.DELETE_FAMILY
            return RowCells(key, self.build_row_deletes(timestamp, kind))
        kind = CellType.DELETE if is_one_version else CellType.DELETE_COLUMN
        return RowCells(key, self._build_slot_deletes(row, timestamp, kind))

    def encode_column_deletes(
        self, row: Mapping[str, Any], timestamp: int, salt: int | None
    ) -> RowCells:
        """Return deletes of each cell of one event; see `Layout.encode_column_deletes`."""
        cells = self._build_slot_deletes(row, timestamp, CellType.DELETE_COLUMN)
        return RowCells(self.key.encode(row, salt=salt), cells)

    def _build_slot_deletes(
        self, row: Mapping[str, Any], timestamp: int, cell_type: CellType
    ) -> list[Cell]:
        """Return a delete of each cell that an event may have."""
        prefix = b"" if self.qualifier_prefix is None else self.qualifier_prefix.encode(row)
        return [
            Cell(slot.family, prefix + slot.qualifier, timestamp, cell_type=cell_type)
            for slot in self.slots
        ]

    def build_row_deletes(self, timestamp: int, cell_type: CellType) -> list[Cell]:
        """Return the deletes of a row that holds one event: of families, and some of columns.

        Args:
            timestamp: of every delete, in milliseconds.
            cell_type: the delete of each family.
        """
        deletes = [Cell(one, b"", timestamp, cell_type=cell_type) for one in self.families]
        column_type = COLUMN_DELETES[cell_type]
        for family, qualifier in self.exposed_columns:
            deletes.append(Cell(family, qualifier, timestamp, cell_type=column_type))
        return deletes

    def encode_clearing_deletes(
        self, row: Mapping[str, Any], timestamp: int = LATEST
    ) -> list[Cell]:
        """Return deletes of the cells of an event whose fields a row does not give.

        Together with the cells of `encode_event` they replace the event.

        Raises:
            RowError: as `encode_event`.
        """
        if not row.keys() <= self.field_names:
            raise self._build_unknown_field_error(row)
        prefix = b"" if self.qualifier_prefix is None else self.qualifier_prefix.encode(row)
        if self.cell_timestamp is not None:
            timestamp = self.cell_timestamp.compute_timestamp(row)
        return [
            Cell(family, prefix + qualifier, timestamp, cell_type=CellType.DELETE_COLUMN)
            for family, qualifier, write in self.compiled_slots
            if write(row) is CellAction.KEEP
        ]


def _find_exposed_columns(slots: Sequence[CellSlot]) -> Iterator[tuple[str, bytes]]:
    """Yield the columns that HBase may show again although their family is deleted.

    HBase 2.6.4 passes over older versions of a cell with an empty qualifier, and with them over a
    delete of the family, which has the same place in the order of cells.
    """
    families = {slot.family for slot in slots if not slot.qualifier}
    for slot in slots:
        if slot.qualifier and slot.family in families:
            yield slot.family, slot.qualifier


def _find_key_sharing_slots(
    slots: Sequence[CellSlot], identity_fields: Collection[str]
) -> list[tuple[CellSlot, frozenset[str]]]:
    """Return the cells that key or qualifier fields share with other fields, and those others."""
    shared = ((slot, frozenset(slot.field_names).difference(identity_fields)) for slot in slots)
    return [(slot, others) for slot, others in shared if 0 < len(others) < len(slot.field_names)]
