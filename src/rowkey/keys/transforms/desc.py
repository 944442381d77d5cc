"""The transform `desc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, Part, Row, RowEncoder, Transform
from rowkey.keys.parts.complement import build_descending_part
from rowkey.keys.traits import Alphabet, Framing, Images, Residue
from rowkey.schema import Bounds, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch
    from rowkey.keys.batches.encoded_keys import EncodedKeys


class DescTransform(Transform):
    """Descending order: larger values come first, so that a scan begins with the latest.

    Every bit of the encoding is inverted, including its terminator. A timestamp is stored as
    2^63-1 minus its value, which is Java's `Long.MAX_VALUE - ts`.
    """

    name = "desc"
    vectors: ClassVar = (
        GoldenVector("[desc(n)]", {"n": "i32"}, {"n": 5}, "7ffffffa"),
        GoldenVector("[desc(ts:u32)]", {"ts": "timestamp_s"}, {"ts": 1}, "fffffffe"),
        GoldenVector(
            "[desc(time_bucket(ts, 1h))]", {"ts": "timestamp_s"}, {"ts": 1}, "7fffffffffffffff"
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.descending_part = build_descending_part(self.sole_input)
        self.order = self.descending_part.order
        self.determined_by = self.descending_part.determined_by
        self.alphabet = self.descending_part.alphabet
        self.cardinality = self.descending_part.cardinality
        self.resolution_ns = self.descending_part.resolution_ns
        self.time_remainder = self.descending_part.time_remainder

    @property
    def framing(self) -> Framing:
        return self.descending_part.framing

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.descending_part.first_byte_alphabet

    def encode(self, row: Row) -> bytes:
        return self.descending_part.encode(row)

    def compile_encoder(self) -> RowEncoder:
        return self.descending_part.compile_encoder()

    def residue(self, name: str) -> Residue:
        return self.descending_part.residue(name)

    def images(self, bounds: Bounds) -> Images:
        return self.descending_part.images(bounds)

    def find_end(self, data: bytes, at: int) -> int:
        return self.descending_part.find_end(data, at)

    def find_ends(self, keys: EncodedKeys, at: IntArray) -> IntArray:
        return self.descending_part.find_ends(keys, at)

    def decode(self, piece: bytes) -> dict[str, Value]:
        return self.descending_part.decode(piece)

    def check(self, piece: bytes) -> None:
        self.descending_part.check(piece)

    def check_batch(self, pieces: ByteColumn) -> None:
        self.descending_part.check_batch(pieces)

    def decode_batch(self, pieces: ByteColumn) -> dict[str, Any]:
        return self.descending_part.decode_batch(pieces)

    def describe_encoding(self) -> str:
        return (
            f"descending, {self.sole_input.inversion_text} of: "
            f"{self.sole_input.describe_encoding()}"
        )

    def format_piece(self, piece: bytes) -> str:
        return self.descending_part.format_piece(piece)

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.descending_part.encode_batch(columns)

    def to_descending(self) -> Part:
        return self.sole_input

    def to_plain(self) -> Part:
        """Raise InvalidArgument: the order of the bytes does not matter to a hash of the value."""
        names = ", ".join(self.fields)
        raise InvalidArgument(
            "",
            f"desc of {names} has no effect inside a function that reads the value",
            f"{names} without desc",
            "Write desc(…) around the function instead.",
        )
