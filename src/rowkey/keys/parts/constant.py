"""Bytes that are the same in every key: delimiters, versions, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.keys.contract import Part, Row, Writer
from rowkey.keys.traits import Alphabet, Framing, Images

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds


class ConstantPart(Part):
    """The same bytes in every key."""

    name = "constant"
    cardinality = 1

    def __init__(self, value: bytes) -> None:
        self.value = value
        self.alphabet = Alphabet(bytes(sorted(set(value))))

    @property
    def framing(self) -> Framing:
        return Framing.fixed(len(self.value))

    def encode(self, row: Row) -> bytes:
        return self.value

    def writer(self) -> Writer:
        value = self.value
        return lambda _: value

    def images(self, bounds: Bounds) -> Images:
        return Images.listed((self.value,), exact=True)

    def measure(self, data: bytes, at: int) -> int:
        end = super().measure(data, at)
        if data[at:end] != self.value:
            raise Refused(
                "", f"{data[at:end].hex()} stands where a constant should", self.value.hex()
            )
        return end

    def words(self) -> str:
        return f"the bytes {self.value.hex()}"

    def show(self, piece: bytes) -> str:
        return piece.decode("ascii", "backslashreplace")

    def batch(self, columns: Columns) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed

        return Fixed.repeated(self.value, len(columns))

    def __repr__(self) -> str:
        return f"constant({self.value!r})"
