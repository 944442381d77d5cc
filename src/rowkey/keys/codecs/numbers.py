"""Whole numbers as bytes: big-endian of a fixed width, plain, biased or mirrored."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn, IntArray
from rowkey.keys.codecs.codec import Codec, RowEncoder
from rowkey.keys.traits import NO_RESIDUE, Framing, Order, Residue

_INTEGER_STRUCTS = {1: Struct(">B"), 2: Struct(">H"), 4: Struct(">I"), 8: Struct(">Q")}


class BigEndianCodec(Codec):
    """A whole number, most significant byte first.

    The stored number is `number // divisor + bias`, or `top` minus that, so that unsigned bytes
    sort as the numbers do, or in descending order.

    Args:
        width: bytes: 1, 2, 4, 8 or 16.
        low: smallest number that may be stored, after dividing.
        high: largest.
        bias: added before storing; 2^(bits-1) flips the sign bit.
        divisor: units of the type in one unit stored; above 1 the rest is lost.
        lost_detail: the name of the rest, for messages.
        top: descending numbers are subtracted from it; the width's largest number if None.
        is_mirrored: whether the order is descending.
    """

    def __init__(
        self,
        width: int,
        low: int,
        high: int,
        *,
        bias: int = 0,
        divisor: int = 1,
        lost_detail: str = "",
        top: int | None = None,
        is_mirrored: bool = False,
    ) -> None:
        self.width, self.low, self.high = width, low, high
        self.bias, self.divisor, self.lost_detail, self.is_mirrored = (
            bias,
            divisor,
            lost_detail,
            is_mirrored,
        )
        self._declared_top = top
        self.top = (1 << 8 * width) - 1 if top is None else top
        self.framing = Framing.from_width(width)
        self.cardinality = high - low + 1
        if top is not None:
            self.inversion_text = f"{top:,} less the number"
        self.residue = Residue(lost_detail) if divisor > 1 else NO_RESIDUE
        self.order = self._find_order()

    def _find_order(self) -> Order:
        """Return the order of the bytes; none where negative numbers keep their sign bit."""
        if self.low + self.bias < 0:
            return Order.NONE
        order = Order.WEAK if self.divisor > 1 else Order.STRICT
        return order.reverse() if self.is_mirrored else order

    @property
    def byte_layout(self) -> object:
        return (type(self), self.width, self.bias, self.divisor, self.top, self.is_mirrored)

    def pack(self, internal: int) -> bytes:
        number = internal // self.divisor
        if not self.low <= number <= self.high:
            raise InvalidArgument("", f"{number} is out of range", f"{self.low}..{self.high}")
        stored = number + self.bias
        if self.is_mirrored:
            stored = self.top - stored
        return (stored % (1 << 8 * self.width)).to_bytes(self.width, "big")

    def restrict_domain(self, domain: Domain) -> Domain:
        return domain.limit_range(
            self.low * self.divisor, self.high * self.divisor + self.divisor - 1
        )

    def unpack(self, piece: bytes) -> int:
        stored = int.from_bytes(piece, "big")
        number = (self.top - stored if self.is_mirrored else stored) - self.bias
        if self.low < 0 and not self.bias and number > self.high:
            number -= 1 << 8 * self.width
        if not self.low <= number <= self.high:
            what = f"the bytes {piece.hex()} are the number {number}"
            raise InvalidArgument("", what, f"{self.low}..{self.high}")
        return number * self.divisor

    def compile_row_packer(self, name: str, fallback: RowEncoder) -> RowEncoder:
        """Return a function that encodes a plain integer with one comparison and one call."""
        if self.width not in _INTEGER_STRUCTS or self.divisor != 1 or self.low + self.bias < 0:
            return fallback
        write = _INTEGER_STRUCTS[self.width].pack
        low, high, bias, mirror = self.low, self.high, self.bias, self.top - self.bias

        def encode_plain(row: Mapping[str, Any]) -> bytes:
            """Encode an integer of the row; pass any other value to the fallback."""
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(value)
            return fallback(row)

        def encode_biased(row: Mapping[str, Any]) -> bytes:
            """Encode an integer of the row plus the bias; pass others to the fallback."""
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(value + bias)
            return fallback(row)

        def encode_mirrored(row: Mapping[str, Any]) -> bytes:
            """Encode the mirrored integer of the row; pass others to the fallback."""
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(mirror - value)
            return fallback(row)

        return encode_mirrored if self.is_mirrored else encode_biased if bias else encode_plain

    def pack_batch(self, internal: Any) -> ByteColumn:
        if self.width not in _INTEGER_STRUCTS:
            return super().pack_batch(internal)
        return FixedByteColumn(self._to_stored(internal).astype(f">u{self.width}"))

    def _to_stored(self, internal: IntArray) -> IntArray:
        """Return the stored numbers modulo 2^64, which gives their low bytes."""
        numbers = internal // internal.dtype.type(self.divisor) if self.divisor > 1 else internal
        self._check_range(numbers)
        stored = numbers.astype(np.uint64, copy=False)
        if self.bias:
            stored = stored + np.uint64(self.bias % (1 << 64))
        if self.is_mirrored:
            stored = np.uint64(self.top) - stored
        return stored

    def _check_range(self, numbers: IntArray) -> None:
        if not len(numbers):
            return
        for extreme in (int(numbers.min()), int(numbers.max())):
            if not self.low <= extreme <= self.high:
                raise InvalidArgument("", f"{extreme} is out of range", f"{self.low}..{self.high}")

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        if self.width not in _INTEGER_STRUCTS:
            return super().unpack_batch(pieces)
        fixed = (
            pieces
            if isinstance(pieces, FixedByteColumn)
            else pieces.to_sliced().to_fixed(self.width)
        )
        stored = fixed.items.view(f">u{self.width}").astype(np.uint64)
        if self.is_mirrored:
            stored = np.uint64(self.top) - stored
        numbers = stored - np.uint64(self.bias % (1 << 64))
        signed = self._to_signed(numbers)
        self._check_range(signed)
        return signed * signed.dtype.type(self.divisor)

    def _to_signed(self, numbers: IntArray) -> IntArray:
        """Return numbers modulo 2^64 as numbers from `low` to `high`."""
        if self.low >= 0:
            return numbers if self.high >= 1 << 63 else numbers.astype(np.int64)
        if self.bias or self.width == 8:
            return numbers.view(np.int64)
        return numbers.astype(f"u{self.width}").view(f"i{self.width}").astype(np.int64)

    def to_descending(self) -> Codec:
        if self.low + self.bias < 0:
            return super().to_descending()
        return BigEndianCodec(
            self.width,
            self.low,
            self.high,
            bias=self.bias,
            divisor=self.divisor,
            lost_detail=self.lost_detail,
            top=self._declared_top,
            is_mirrored=not self.is_mirrored,
        )


def build_unsigned_codec(width: int) -> BigEndianCodec:
    """Return the codec of the numbers 0 .. 2^(8 width) - 1."""
    return BigEndianCodec(width, 0, (1 << 8 * width) - 1)


def build_signed_codec(width: int) -> BigEndianCodec:
    """Return the codec of two's complement with the sign bit flipped: negatives sort first."""
    half = 1 << 8 * width - 1
    return BigEndianCodec(width, -half, half - 1, bias=half)


def build_twos_complement_codec(width: int, low: int, high: int) -> BigEndianCodec:
    """Return the codec of two's complement, as Java's `Bytes.toBytes` writes numbers."""
    return BigEndianCodec(width, low, high)
