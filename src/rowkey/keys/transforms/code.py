"""The transform `code`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, SlicedByteColumn
from rowkey.keys.dictionary import DICTIONARY_FIELD, Dictionary, check_id_fits
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, NumberArgument, Part, Row, Transform
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import NO_RESIDUE, Determinant, Framing, Images, Residue, find_pinned_values
from rowkey.schema import Bounds, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class CodeTransform(Transform):
    """A short number that stands for a long value, from a dictionary stored with the table.

    Numbers begin at 1 and are assigned in the order in which values are first seen. Early values
    share their leading bytes, so a code does not spread rows.
    """

    name = "code"
    options = (NumberArgument("width", 1, 8, "bytes of the number", optional=True),)
    determined_by = Determinant.DICTIONARY
    vectors: ClassVar = (
        GoldenVector("[code(host)]", {"host": "text"}, {"host": "web-1"}, "00000001"),
        GoldenVector("[code(host, width=2)]", {"host": "text"}, {"host": "web-1"}, "0001"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.sole_input
        if not isinstance(source, FieldPart) or source.reference.encoding:
            argument = source.reference if isinstance(source, FieldPart) else source.title
            what = f"code cannot be applied to {argument}"
            raise InvalidArgument("", what, "the name of a field without an encoding or a function")
        self.field = source.field
        self.width: int = arguments["width"] or 4
        self.cardinality = 256**self.width - 1

    @property
    def framing(self) -> Framing:
        return Framing.from_width(self.width)

    def encode(self, row: Row) -> bytes:
        value = self.field.normalize(row[self.field.name])
        dictionary: Dictionary = row.get(DICTIONARY_FIELD, self.context.dictionary)
        number = dictionary.assign_id(self.field.name, value, self.cardinality)
        check_id_fits(self.field.name, number, self.cardinality)
        return number.to_bytes(self.width, "big")

    def images(self, bounds: Bounds) -> Images:
        """Return the ids of the requested values, without assigning any.

        A value without an id is in no row if the dictionary knows all ids; if it may not know them
        all, the images are unbounded.
        """
        values = find_pinned_values(bounds, self.field.name)
        if values is None:
            return super().images(bounds)
        dictionary = self.context.dictionary
        ids = [dictionary.find_id(self.field.name, v) for v in values if v is not None]
        if None in ids and not dictionary.is_complete:
            return Images.build_unbounded(exact=False)
        pieces = (number.to_bytes(self.width, "big") for number in ids if number is not None)
        return Images.from_points(pieces, exact=True)

    def normalize_arguments(self) -> Mapping[str, Any]:
        return {"width": self.width}

    def residue(self, name: str) -> Residue:
        return NO_RESIDUE

    def decode(self, piece: bytes) -> dict[str, Value]:
        number = int.from_bytes(piece, "big")
        return {self.field.name: self.context.dictionary.find_value(self.field.name, number)}

    def describe_encoding(self) -> str:
        return f"the number of {self.field.name} in the table's dictionary, {self.width} bytes"

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        """Return the ids of many rows; each different value is looked up once, in row order."""
        piece_by_value: dict[Value, bytes] = {}
        pieces = []
        for row in columns.iterate_rows(self.fields):
            value = row[self.field.name]
            if (piece := piece_by_value.get(value)) is None:
                piece = piece_by_value[value] = self.encode(row)
            pieces.append(piece)
        return SlicedByteColumn.from_list(pieces)
