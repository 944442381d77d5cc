"""The placement `column`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.rows.column_codec import ColumnCodec, build_missing_value_error
from rowkey.rows.placement_interface import CellAction, CellEstimate, CellSlot, Placement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.rows.placement_interface import CellValue, SlotReader, SlotWriter, ValueSize
    from rowkey.schema import FieldDeclaration


class ColumnPlacement(Placement):
    """A cell for one field, with the field's name as its qualifier unless `qualifier` is given.

    It holds the value's own bytes: text in UTF-8, numbers big-endian as wide as their type.
    """

    name = "column"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
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
    """The cell of one field."""

    def __init__(self, field: Field, family: str, qualifier: bytes) -> None:
        super().__init__(family, qualifier, (field,), optional=field.nullable)
        self.field = field
        self.codec = ColumnCodec(field)

    def compile_writer(self) -> SlotWriter:
        field, name, encode = self.field, self.field.name, self.codec.encode
        keep = CellAction.KEEP

        def write(row: Row) -> CellValue:
            value = row.get(name, keep)
            if value is None:
                if not field.nullable:
                    raise build_missing_value_error(field)
                return None
            return value if value is keep else encode(value)

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
        from rowkey.rows.batches.arrays import find_column

        array = find_column(batch, self.field.name)
        return None if array is None else self.codec.encode_batch(array)

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        if self.field.name not in field_names:
            return {}
        return {self.field.name: self.codec.decode_batch(values)}


def _find_qualifier(field: Field) -> bytes:
    """Return the constant part of the qualifier of a field's cell."""
    name = field.name if field.declaration.qualifier is None else field.declaration.qualifier
    return name.encode()
