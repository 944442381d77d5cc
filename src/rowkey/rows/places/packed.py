"""The place `packed`."""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError
from rowkey.rows.contract import CellShape, Left, Place, Slot
from rowkey.rows.owned import column_from, held_list
from rowkey.rows.packs import format_of, reader_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.rows.contract import SlotReader, SlotWriter, Width, Written
    from rowkey.schema import FieldWords


class Packed(Place):
    """One cell shared by several fields: the key and its overhead are paid once.

    It is written whole. How often such a cell is written is told as if its fields were absent
    independently.
    """

    name = "packed"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.pack is not None

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        for where, label, together in _groups(fields, family):
            names = tuple(field.name for field in together)
            held = [widths[name] for name in names]
            share = 1 - prod(1 - width.share for width in held)
            qualifier, used = format_of(label)
            labels = [used.label_bytes(n, field) for n, field in enumerate(together)]
            size = sum(
                (width.mean + more) * width.share for width, more in zip(held, labels, strict=True)
            )
            optional = all(field.nullable for field in together)
            head = used.head_bytes(sum(width.share for width in held) / share if share else 0.0)
            mean = head + size / share if share else float(head)
            yield CellShape(where, qualifier, names, mean, optional, share)

    @classmethod
    def slots(cls, fields: Sequence[Field], family: str) -> Iterator[Slot]:
        for where, label, together in _groups(fields, family):
            yield _Pack(where, label, together)


class _Pack(Slot):
    """The cell of several fields."""

    def __init__(self, family: str, label: str, fields: Sequence[Field]) -> None:
        qualifier, make = format_of(label)
        optional = all(field.nullable for field in fields)
        super().__init__(family, qualifier, tuple(fields), optional=optional)
        self.format = make(fields)
        self.required = frozenset(field.name for field in fields if not field.nullable)

    @property
    def kind(self) -> str:
        return type(self.format).__name__

    def writer(self) -> SlotWriter:
        names = frozenset(self.names)
        numbered = [(number, field.name, field) for number, field in enumerate(self.fields)]
        pack, required = self.format.pack, self.required

        def written(row: Row) -> Written:
            given = row.keys()
            if names.isdisjoint(given):
                return Left.ALONE
            held = {}
            for number, name, field in numbered:
                value = row.get(name)
                if value is not None:
                    held[number] = field.hold(value)
                elif name in required:
                    raise self._lacking(row)
            return pack(held) if held else None

        return written

    def _lacking(self, row: Row) -> RowError:
        """The refusal of a row that has some of the cell's fields, but not all it needs."""
        lost = [name for name in self.names if name in self.required and row.get(name) is None]
        given = [name for name in self.names if row.get(name) is not None]
        what = f"{', '.join(given) or 'a null'} is given without {', '.join(lost)}"
        remedy = "The packed cell is written whole: give them too."
        return RowError(self.title, what, remedy=remedy)

    def reader(self) -> SlotReader:
        unpack = self.format.unpack
        readers = [(number, f.name, reader_of(f)) for number, f in enumerate(self.fields)]

        def add(value: bytes, event: dict[str, Any]) -> None:
            found = unpack(value)
            for number, name, read in readers:
                given = found.get(number)
                event[name] = None if given is None else read(given)

        return add

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        import pyarrow as pa

        from rowkey.rows.batches.arrays import column_of

        lists: dict[str, list[Any]] = {}
        for field in self.fields:
            array = column_of(batch, field.name)
            if array is not None:
                lists[field.name] = held_list(field, array)
        if not lists:
            return None
        pack = self.format.pack
        numbers = {field.name: number for number, field in enumerate(self.fields)}
        for name in filter(self.required.__contains__, self.names):
            if name not in lists or None in lists[name]:
                at = lists[name].index(None) if name in lists else 0
                raise self._lacking({one: held[at] for one, held in lists.items() if held})
        order = [numbers[name] for name in lists]
        packed = []
        for values in zip(*lists.values(), strict=True):
            held = {n: v for n, v in zip(order, values, strict=True) if v is not None}
            packed.append(pack(held) if held else None)
        return pa.array(packed, pa.binary())

    def read_batch(self, values: pa.Array, wanted: Collection[str]) -> dict[str, pa.Array]:
        unpack = self.format.unpack
        found = [unpack(value) for value in values.to_pylist()]
        columns = {}
        for number, field in enumerate(self.fields):
            if field.name in wanted:
                read = reader_of(field)
                given = [one.get(number) for one in found]
                listed = [None if value is None else read(value) for value in given]
                columns[field.name] = column_from(field.type, listed)
        return columns


def _groups(fields: Sequence[Field], family: str) -> Iterator[tuple[str, str, list[Field]]]:
    """Family, words and fields of each packed cell; its fields in the order they are declared."""

    def cell(field: Field) -> tuple[str, str]:
        return field.words.family or family, field.words.pack or ""

    for (where, label), shared in groupby(sorted(fields, key=cell), key=cell):
        yield where, label, list(shared)
