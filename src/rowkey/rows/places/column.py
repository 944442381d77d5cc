"""The place `column`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.rows.contract import CellShape, Left, Place, Slot
from rowkey.rows.owned import Owned, missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.rows.contract import SlotReader, SlotWriter, Width, Written
    from rowkey.schema import FieldWords


class Column(Place):
    """A cell of its own, under the field's name unless `qualifier` says another.

    It holds the value's own bytes: text in UTF-8, numbers big-endian as wide as their type.
    """

    name = "column"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.at is None and words.pack is None

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        for field in fields:
            yield CellShape(
                field.words.family or family,
                _qualifier(field),
                (field.name,),
                widths[field.name].mean,
                field.nullable,
                widths[field.name].share,
            )

    @classmethod
    def slots(cls, fields: Sequence[Field], family: str) -> Iterator[Slot]:
        for field in fields:
            yield _Cell(field, field.words.family or family, _qualifier(field))


class _Cell(Slot):
    """The cell of one field."""

    def __init__(self, field: Field, family: str, qualifier: bytes) -> None:
        super().__init__(family, qualifier, (field,), optional=field.nullable)
        self.field = field
        self.owned = Owned(field)

    def writer(self) -> SlotWriter:
        field, name, write = self.field, self.field.name, self.owned.write

        def written(row: Row) -> Written:
            value = row.get(name, Left.ALONE)
            if value is None:
                if not field.nullable:
                    raise missing(field)
                return None
            return value if value is Left.ALONE else write(value)

        return written

    def reader(self) -> SlotReader:
        name, read = self.field.name, self.owned.read

        def add(value: bytes, event: dict[str, Any]) -> None:
            event[name] = read(value)

        return add

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        from rowkey.rows.batches.arrays import column_of

        array = column_of(batch, self.field.name)
        return None if array is None else self.owned.write_batch(array)

    def read_batch(self, values: pa.Array, wanted: Collection[str]) -> dict[str, pa.Array]:
        if self.field.name not in wanted:
            return {}
        return {self.field.name: self.owned.read_batch(values)}


def _qualifier(field: Field) -> bytes:
    """The constant part of the qualifier of a field's cell."""
    name = field.name if field.words.qualifier is None else field.words.qualifier
    return name.encode()
