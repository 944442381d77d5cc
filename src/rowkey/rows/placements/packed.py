"""The placement `packed`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import RowError
from rowkey.keys import Field, Row
from rowkey.rows.batches.arrays import find_column
from rowkey.rows.column_codec import build_arrow_column, to_internal_list
from rowkey.rows.pack_formats import compile_packed_reader, parse_pack_label
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
from rowkey.schema import FieldDeclaration


class PackedPlacement(Placement):
    """One cell for several fields: its key and overhead are stored once.

    A write replaces the whole cell. The share of events that write it is estimated as if its fields
    were absent independently of each other.
    """

    name = "packed"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return whether a field declares the `pack` option."""
        return declaration.pack is not None

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Yield the expected packed cells, each of the fields with the same `pack` option."""
        for where, label, together in _group_by_cell(fields, family):
            names = tuple(field.name for field in together)
            sizes = [value_sizes[name] for name in names]
            share = 1 - prod(1 - size.present_share for size in sizes)
            qualifier, pack_format = parse_pack_label(label)
            labels = [pack_format.estimate_label_bytes(n, f) for n, f in enumerate(together)]
            body_bytes = sum(
                (size.mean_bytes + label_bytes) * size.present_share
                for size, label_bytes in zip(sizes, labels, strict=True)
            )
            optional = all(field.nullable for field in together)
            header_bytes = pack_format.estimate_header_bytes(
                sum(size.present_share for size in sizes) / share if share else 0.0
            )
            mean = header_bytes + body_bytes / share if share else float(header_bytes)
            yield CellEstimate(where, qualifier, names, mean, optional, share)

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        """Yield the column of each packed cell, with its codec."""
        for where, label, together in _group_by_cell(fields, family):
            yield _PackedSlot(where, label, together)


class _PackedSlot(CellSlot):
    """The cell of several fields."""

    def __init__(self, family: str, label: str, fields: Sequence[Field]) -> None:
        qualifier, pack_format = parse_pack_label(label)
        optional = all(field.nullable for field in fields)
        super().__init__(family, qualifier, tuple(fields), optional=optional)
        self.pack_format = pack_format(fields)
        self.required_names = frozenset(field.name for field in fields if not field.nullable)

    @property
    def encoding_name(self) -> str:
        return type(self.pack_format).__name__

    def encode_values(self, values: Row) -> bytes:
        present = {
            number: field.to_internal(values[field.name])
            for number, field in enumerate(self.fields)
            if values.get(field.name) is not None
        }
        return self.pack_format.pack(present)

    def compile_writer(self) -> SlotWriter:
        names = frozenset(self.field_names)
        numbered = [(number, field.name, field) for number, field in enumerate(self.fields)]
        pack, required = self.pack_format.pack, self.required_names

        def pack_value(row: Row) -> CellValue:
            if names.isdisjoint(row.keys()):
                return CellAction.KEEP
            internal_values = {}
            for number, name, field in numbered:
                value = row.get(name)
                if value is not None:
                    internal_values[number] = field.to_internal(value)
                elif name in required:
                    raise self._build_missing_fields_error(row)
            return pack(internal_values) if internal_values else None

        return pack_value

    def _build_missing_fields_error(self, row: Row) -> RowError:
        """Return the error of a row that gives only some required fields of a packed cell."""
        missing_names = [
            name
            for name in self.field_names
            if name in self.required_names and row.get(name) is None
        ]
        given_names = [name for name in self.field_names if row.get(name) is not None]
        missing_list = ", ".join(missing_names)
        what = f"{', '.join(given_names) or 'a null'} is given without {missing_list}"
        remedy = f"Give {missing_list} too: a packed cell is written whole."
        return RowError(f"column {self.title}", what, remedy=remedy)

    def compile_reader(self) -> SlotReader:
        unpack = self.pack_format.unpack
        readers = [
            (number, f.name, compile_packed_reader(f)) for number, f in enumerate(self.fields)
        ]

        def add(value: bytes, event: dict[str, Any]) -> None:
            unpacked = unpack(value)
            for number, name, read in readers:
                stored = unpacked.get(number)
                event[name] = None if stored is None else read(stored)

        return add

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
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
                    {field: values[at] for field, values in lists.items() if values}
                )
        order = [numbers[name] for name in lists]
        packed = []
        for values in zip(*lists.values(), strict=True):
            present = {n: v for n, v in zip(order, values, strict=True) if v is not None}
            packed.append(pack(present) if present else None)
        return pa.array(packed, pa.binary())

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        unpack = self.pack_format.unpack
        unpacked = [unpack(value) for value in values.to_pylist()]
        columns = {}
        for number, field in enumerate(self.fields):
            if field.name in field_names:
                read = compile_packed_reader(field)
                stored = (one.get(number) for one in unpacked)
                column = [None if value is None else read(value) for value in stored]
                columns[field.name] = build_arrow_column(field.type, column)
        return columns


def _group_by_cell(fields: Sequence[Field], family: str) -> Iterator[tuple[str, str, list[Field]]]:
    """Yield family, `pack` option and fields of each packed cell, fields in declared order."""

    def cell(field: Field) -> tuple[str, str]:
        return field.declaration.family or family, field.declaration.pack or ""

    for (where, label), shared in groupby(sorted(fields, key=cell), key=cell):
        yield where, label, list(shared)
