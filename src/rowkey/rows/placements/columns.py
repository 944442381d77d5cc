"""Values in cells of their own, and the cell that marks a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys import Field, Row
from rowkey.rows.batches.arrays import find_column
from rowkey.rows.column_codec import ColumnCodec, build_missing_value_error
from rowkey.rows.placement_interface import (
    CellAction,
    CellEstimate,
    CellSlot,
    CellValue,
    Placement,
    SlotReader,
    SlotWriter,
    ValueSize,
)
from rowkey.rows.qualifier_notation import parse_qualifier
from rowkey.schema import FieldDeclaration


class ColumnPlacement(Placement):
    """A cell for one field, with the field's name as its qualifier unless `qualifier` is given.

    Its value has the field's own bytes: text in UTF-8, numbers big-endian as wide as their type.
    `qualifier` is text in UTF-8, in which `\\xNN`, two upper-case digits, is one byte and `\\x5C` a
    backslash, as in HBase's shell; another backslash is itself. In a design file write
    `'\\x80\\x0B'` in single quotes, or double each backslash.
    """

    name = "column"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return whether a field is stored in a column, which is the default."""
        return declaration.at is None and declaration.pack is None

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        for field in fields:
            yield CellEstimate(
                field.declaration.family or family,
                _find_qualifier(field),
                (field.name,),
                value_sizes[field.name].mean_bytes,
                field.nullable,
                value_sizes[field.name].present_share,
            )

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        for field in fields:
            yield _ColumnSlot(field, field.declaration.family or family, _find_qualifier(field))


class _ColumnSlot(CellSlot):
    """The column of one field."""

    def __init__(self, field: Field, family: str, qualifier: bytes) -> None:
        super().__init__(family, qualifier, (field,), optional=field.nullable)
        self.field = field
        self.codec = ColumnCodec(field)

    def encode_values(self, values: Row) -> bytes:
        try:
            return self.codec.pack(values[self.field.name])
        except InvalidArgument as error:
            raise self.field.to_row_error(error) from None

    @property
    def is_plain(self) -> bool:
        return True

    def compile_writer(self) -> SlotWriter:
        field, name, pack = self.field, self.field.name, self.codec.pack
        keep = CellAction.KEEP

        def write(row: Row) -> CellValue:
            value: Any = row.get(name, keep)
            if value is None:
                if not field.nullable:
                    raise build_missing_value_error(field)
                return None
            if value is keep:
                return CellAction.KEEP
            try:
                return pack(value)
            except InvalidArgument as error:
                raise field.to_row_error(error) from None

        if self.codec.integer_range is None:
            return write
        low, high, width = self.codec.integer_range

        def write_integer(row: Row) -> CellValue:
            value = row.get(name, keep)
            if type(value) is int and low <= value <= high:
                return value.to_bytes(width, "big", signed=low < 0)
            return write(row)

        return write_integer

    def compile_reader(self) -> SlotReader:
        name, read = self.field.name, self.codec.decode

        def add(value: bytes, event: dict[str, Any]) -> None:
            event[name] = read(value)

        return add

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        array = find_column(batch, self.field.name)
        return None if array is None else self.codec.encode_batch(array)

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        if self.field.name not in field_names:
            return {}
        return {self.field.name: self.codec.decode_batch(values)}


def _find_qualifier(field: Field) -> bytes:
    """Return the constant part of the qualifier of a field's cell."""
    declared = field.declaration.qualifier
    return field.name.encode() if declared is None else parse_qualifier(declared)


class MarkerPlacement(Placement):
    """An empty cell with an empty qualifier, so that a row exists if all its columns are absent.

    Source: Phoenix's empty key value does the same.
    """

    name = "marker"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return False: no field is stored in a marker."""
        return False

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Yield the empty cell that every event has."""
        yield CellEstimate(family, b"", (), 0.0, optional=False)

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        yield _MarkerSlot(family, b"", (), optional=False)


class _MarkerSlot(CellSlot):
    """The empty cell that shows that an event exists."""

    def encode_values(self, values: Row) -> bytes:
        return b""

    def compile_writer(self) -> SlotWriter:
        return _write_marker

    def compile_reader(self) -> SlotReader:
        return _read_marker

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        return pa.repeat(pa.scalar(b"", pa.binary()), batch.num_rows)

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        return {}


def _write_marker(_row: Row) -> bytes:
    return b""


def _read_marker(_value: bytes, _event: dict[str, Any]) -> None:
    """Add nothing to an event: a marker has no value."""
