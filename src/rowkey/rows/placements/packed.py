"""The placement `packed`."""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError
from rowkey.rows.column_codec import build_arrow_column, to_internal_list
from rowkey.rows.pack_formats import compile_packed_reader, parse_pack_label
from rowkey.rows.placement_interface import CellAction, CellEstimate, CellSlot, Placement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.rows.placement_interface import CellValue, SlotReader, SlotWriter, ValueSize
    from rowkey.schema import FieldDeclaration


class PackedPlacement(Placement):
    """One cell for several fields: its key and overhead are stored once.

    It is written whole. How often such a cell is written is told as if its fields were absent
    independently.
    """

    name = "packed"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        return declaration.pack is not None

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        for where, label, together in _group_by_cell(fields, family):
            names = tuple(field.name for field in together)
            held = [value_sizes[name] for name in names]
            share = 1 - prod(1 - width.present_share for width in held)
            qualifier, used = parse_pack_label(label)
            labels = [used.estimate_label_bytes(n, field) for n, field in enumerate(together)]
            size = sum(
                (width.mean_bytes + more) * width.present_share
                for width, more in zip(held, labels, strict=True)
            )
            optional = all(field.nullable for field in together)
            head = used.estimate_header_bytes(
                sum(width.present_share for width in held) / share if share else 0.0
            )
            mean = head + size / share if share else float(head)
            yield CellEstimate(where, qualifier, names, mean, optional, share)

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        for where, label, together in _group_by_cell(fields, family):
            yield _PackedSlot(where, label, together)


class _PackedSlot(CellSlot):
    """The cell of several fields."""

    def __init__(self, family: str, label: str, fields: Sequence[Field]) -> None:
        qualifier, make = parse_pack_label(label)
        optional = all(field.nullable for field in fields)
        super().__init__(family, qualifier, tuple(fields), optional=optional)
        self.pack_format = make(fields)
        self.required_names = frozenset(field.name for field in fields if not field.nullable)

    @property
    def encoding_name(self) -> str:
        return type(self.pack_format).__name__

    def compile_writer(self) -> SlotWriter:
        names = frozenset(self.field_names)
        numbered = [(number, field.name, field) for number, field in enumerate(self.fields)]
        pack, required = self.pack_format.pack, self.required_names

        def pack_value(row: Row) -> CellValue:
            given = row.keys()
            if names.isdisjoint(given):
                return CellAction.KEEP
            held = {}
            for number, name, field in numbered:
                value = row.get(name)
                if value is not None:
                    held[number] = field.to_internal(value)
                elif name in required:
                    raise self._build_missing_fields_error(row)
            return pack(held) if held else None

        return pack_value

    def _build_missing_fields_error(self, row: Row) -> RowError:
        """Return the error of a row that has only some of the fields the cell needs."""
        lost = [
            name
            for name in self.field_names
            if name in self.required_names and row.get(name) is None
        ]
        given = [name for name in self.field_names if row.get(name) is not None]
        what = f"{', '.join(given) or 'a null'} is given without {', '.join(lost)}"
        remedy = "The packed cell is written whole: give them too."
        return RowError(self.title, what, remedy=remedy)

    def compile_reader(self) -> SlotReader:
        unpack = self.pack_format.unpack
        readers = [
            (number, f.name, compile_packed_reader(f)) for number, f in enumerate(self.fields)
        ]

        def add(value: bytes, event: dict[str, Any]) -> None:
            found = unpack(value)
            for number, name, read in readers:
                given = found.get(number)
                event[name] = None if given is None else read(given)

        return add

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        import pyarrow as pa

        from rowkey.rows.batches.arrays import find_column

        lists: dict[str, list[Any]] = {}
        for field in self.fields:
            array = find_column(batch, field.name)
            if array is not None:
                lists[field.name] = to_internal_list(field, array)
        if not lists:
            return None
        pack = self.pack_format.pack
        numbers = {field.name: number for number, field in enumerate(self.fields)}
        for name in filter(self.required_names.__contains__, self.field_names):
            if name not in lists or None in lists[name]:
                at = lists[name].index(None) if name in lists else 0
                raise self._build_missing_fields_error(
                    {one: held[at] for one, held in lists.items() if held}
                )
        order = [numbers[name] for name in lists]
        packed = []
        for values in zip(*lists.values(), strict=True):
            held = {n: v for n, v in zip(order, values, strict=True) if v is not None}
            packed.append(pack(held) if held else None)
        return pa.array(packed, pa.binary())

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        unpack = self.pack_format.unpack
        found = [unpack(value) for value in values.to_pylist()]
        columns = {}
        for number, field in enumerate(self.fields):
            if field.name in field_names:
                read = compile_packed_reader(field)
                given = [one.get(number) for one in found]
                listed = [None if value is None else read(value) for value in given]
                columns[field.name] = build_arrow_column(field.type, listed)
        return columns


def _group_by_cell(fields: Sequence[Field], family: str) -> Iterator[tuple[str, str, list[Field]]]:
    """Return family, label and fields of each packed cell, with fields in declared order."""

    def cell(field: Field) -> tuple[str, str]:
        return field.declaration.family or family, field.declaration.pack or ""

    for (where, label), shared in groupby(sorted(fields, key=cell), key=cell):
        yield where, label, list(shared)
