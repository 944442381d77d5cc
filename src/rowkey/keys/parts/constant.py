"""Bytes that are the same in every key: delimiters, versions, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn
from rowkey.keys.part_interface import Part, Row, RowEncoder
from rowkey.keys.traits import Alphabet, Framing, Images
from rowkey.schema import Bounds

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class ConstantPart(Part):
    """The same bytes in every key."""

    name = "constant"
    cardinality = 1

    def __init__(self, value: bytes) -> None:
        self.value = value
        self.alphabet = Alphabet(bytes(sorted(set(value))))

    @property
    def framing(self) -> Framing:
        return Framing.from_width(len(self.value))

    def encode(self, row: Row) -> bytes:
        return self.value

    def compile_encoder(self) -> RowEncoder:
        value = self.value
        return lambda _: value

    def images(self, bounds: Bounds) -> Images:
        return Images.from_points((self.value,), exact=True)

    def find_end(self, data: bytes, at: int) -> int:
        end = super().find_end(data, at)
        if data[at:end] != self.value:
            raise InvalidArgument(
                "",
                f"the bytes {data[at:end].hex()} are not the constant of the key",
                self.value.hex(),
            )
        return end

    def describe_encoding(self) -> str:
        return f"the bytes {self.value.hex()}"

    def format_piece(self, piece: bytes) -> str:
        return piece.decode("ascii", "backslashreplace")

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return FixedByteColumn.from_repeated(self.value, len(columns))

    def __repr__(self) -> str:
        return f"constant({self.value!r})"
