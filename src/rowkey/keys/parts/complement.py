"""A part with every bit inverted: what `desc` uses for parts without a better encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.keys.batches.byte_columns import ByteColumn
from rowkey.keys.part_interface import Part, Row, RowEncoder
from rowkey.keys.traits import (
    Alphabet,
    Compatibility,
    Framing,
    Images,
    Order,
    Residue,
    complement_bytes,
)
from rowkey.schema import Bounds, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class ComplementPart(Part):
    """Every bit of another part inverted, including its terminator."""

    name = "complement"

    def __init__(self, base: Part) -> None:
        self.base = base
        self.fields = base.fields
        self.order = base.order.reverse() if base.framing.is_self_delimiting else Order.NONE
        self.determined_by = base.determined_by
        self.alphabet = base.alphabet.complement()
        self.cardinality = base.cardinality
        self.resolution_ns = base.resolution_ns
        self.time_remainder = base.time_remainder
        self.has_null_encoding = base.has_null_encoding

    @property
    def framing(self) -> Framing:
        return self.base.framing

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.base.first_byte_alphabet.complement()

    def encode(self, row: Row) -> bytes:
        return complement_bytes(self.base.encode(row))

    def compile_encoder(self) -> RowEncoder:
        base = self.base.compile_encoder()
        return lambda row: complement_bytes(base(row))

    def residue(self, name: str) -> Residue:
        return self.base.residue(name)

    def images(self, bounds: Bounds) -> Images:
        return self.base.images(bounds).complement()

    def find_end(self, data: bytes, at: int) -> int:
        return at + self.base.find_end(complement_bytes(data[at:]), 0)

    def decode(self, piece: bytes) -> dict[str, Value]:
        return self.base.decode(complement_bytes(piece))

    def check(self, piece: bytes) -> None:
        self.base.check(complement_bytes(piece))

    def describe_encoding(self) -> str:
        return f"every bit inverted of: {self.base.describe_encoding()}"

    def format_piece(self, piece: bytes) -> str:
        return self.base.format_piece(complement_bytes(piece))

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.base.encode_distinct(columns).complement()

    def check_compatibility(self, new: Part) -> Compatibility:
        return (
            self.base.check_compatibility(new.base)
            if isinstance(new, ComplementPart)
            else Compatibility.BREAKS
        )

    def to_descending(self) -> Part:
        return self.base

    def to_plain(self) -> Part:
        return self.base.to_plain()

    def __repr__(self) -> str:
        return f"complement({self.base!r})"


def build_descending_part(part: Part) -> Part:
    """Return a part in descending order, by default with every bit inverted."""
    return part.to_descending() or ComplementPart(part)
