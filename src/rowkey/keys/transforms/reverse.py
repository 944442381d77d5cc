"""The transform `reverse`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.strings import TextBasedField
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, EnumOption, Part, Row, Transform
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import Framing, Residue
from rowkey.schema import Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class ReverseTransform(Transform):
    """A value back to front: its fastest-changing end comes first, so that counters spread.

    The order is lost: a range of values is no longer a range of keys. The bytes are reversed where
    the width is fixed, else the characters of a text. `by=label` reverses the labels of a domain
    name, so that the hosts of one domain stand next to each other.
    """

    name = "reverse"
    options = (EnumOption("by", ("all", "label"), "everything, or the labels of a domain name"),)
    vectors: ClassVar = (
        GoldenVector("[reverse(host)]", {"host": "text"}, {"host": "abc"}, "63626100"),
        GoldenVector("[reverse(n)]", {"n": "u32"}, {"n": 1}, "01000000"),
        GoldenVector("[reverse(b)]", {"b": "bytes"}, {"b": b"\0a"}, "6100ff0001"),
        GoldenVector(
            "[reverse(host, by=label)]",
            {"host": "text"},
            {"host": "www.example.com"},
            b"com.example.www\0".hex(),
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.is_label_reversal = arguments["by"] == "label"
        self.alphabet = self.sole_input.alphabet
        self.cardinality = self.sole_input.cardinality
        self.is_byte_reversal = (
            self.sole_input.framing.width is not None and not self.is_label_reversal
        )
        if not self.is_byte_reversal:
            self._check_input()

    def _check_input(self) -> None:
        """Raise InvalidArgument unless the input is text, or bytes without `by=label`."""
        source = self.sole_input
        if not isinstance(source, FieldPart) or not source.field.type.is_sequence:
            what = f"reverse cannot be applied to {source.title}"
            raise InvalidArgument("", what, "a field of text, bytes or a fixed width")
        if self.is_label_reversal and not isinstance(source.field.type, TextBasedField):
            raise InvalidArgument(
                "by",
                f"by=label reverses text between dots, but {source.fields[0]} is not text",
                "a field of type text",
            )

    @property
    def framing(self) -> Framing:
        return self.sole_input.framing

    def residue(self, name: str) -> Residue:
        return self.sole_input.residue(name)

    def reverse_internal(self, internal: Any) -> Any:
        """Return a text or bytes back to front; the same call undoes it."""
        return ".".join(reversed(internal.split("."))) if self.is_label_reversal else internal[::-1]

    def encode(self, row: Row) -> bytes:
        source = self.sole_input
        if self.is_byte_reversal:
            return source.encode(row)[::-1]
        assert isinstance(source, FieldPart)
        return source.pack_internal(
            self.reverse_internal(source.field.to_internal(row[source.field.name]))
        )

    def find_end(self, data: bytes, at: int) -> int:
        return (
            super().find_end(data, at)
            if self.is_byte_reversal
            else self.sole_input.find_end(data, at)
        )

    def decode(self, piece: bytes) -> dict[str, Value]:
        source = self.sole_input
        if self.is_byte_reversal:
            return source.decode(piece[::-1])
        assert isinstance(source, FieldPart)
        internal = self.reverse_internal(source.codec.unpack(piece))
        return {source.field.name: source.field.type.from_internal(internal)}

    def check(self, piece: bytes) -> None:
        if self.is_byte_reversal:
            self.sole_input.check(piece[::-1])
        else:
            super().check(piece)

    def describe_encoding(self) -> str:
        what = (
            "labels"
            if self.is_label_reversal
            else "bytes"
            if self.is_byte_reversal
            else "characters"
        )
        return f"its {what} in reverse order: {self.sole_input.describe_encoding()}"

    def format_piece(self, piece: bytes) -> str:
        return (
            self.sole_input.format_piece(piece[::-1])
            if self.is_byte_reversal
            else super().format_piece(piece)
        )

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        if not self.is_byte_reversal:
            return super().encode_batch(columns)
        pieces = self.sole_input.encode_distinct(columns)
        width = self.framing.min_bytes
        fixed = (
            pieces if isinstance(pieces, FixedByteColumn) else pieces.to_sliced().to_fixed(width)
        )
        reversed_bytes = np.ascontiguousarray(fixed.to_matrix()[:, ::-1])
        return FixedByteColumn(reversed_bytes.view(f"V{width}").reshape(len(fixed)))
