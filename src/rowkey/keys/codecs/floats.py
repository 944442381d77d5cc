"""Floating-point numbers as bytes that sort like the numbers."""

from __future__ import annotations

from struct import Struct
from typing import Any

from rowkey.array_libraries import np
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.traits import Framing, Order

_FLOAT_STRUCTS = {4: Struct(">f"), 8: Struct(">d")}


class OrderedFloatCodec(Codec):
    """IEEE 754, big-endian; all bits of negative numbers inverted, the sign bit of others set.

    Args:
        width: 4 or 8 bytes.

    Source: `OrderedBytes.encodeFloat32` and `encodeFloat64` of hbase-common, without the header.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.framing = Framing.from_width(width)
        self.sign_bit = 1 << 8 * width - 1

    def pack(self, internal: float) -> bytes:
        bits = int.from_bytes(_FLOAT_STRUCTS[self.width].pack(internal), "big")
        bits = (2 * self.sign_bit - 1) ^ bits if bits & self.sign_bit else bits | self.sign_bit
        return bits.to_bytes(self.width, "big")

    def unpack(self, piece: bytes) -> float:
        bits = int.from_bytes(piece, "big")
        bits = bits ^ self.sign_bit if bits & self.sign_bit else (2 * self.sign_bit - 1) ^ bits
        return float(_FLOAT_STRUCTS[self.width].unpack(bits.to_bytes(self.width, "big"))[0])

    def pack_batch(self, internal: Any) -> ByteColumn:
        bits = internal.astype(f">f{self.width}").view(f">u{self.width}").astype(f"u{self.width}")
        top = bits.dtype.type(self.sign_bit)
        return FixedByteColumn(np.where(bits & top, ~bits, bits | top).astype(f">u{self.width}"))

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        bits = _to_items(pieces, self.width).view(f">u{self.width}").astype(f"u{self.width}")
        top = bits.dtype.type(self.sign_bit)
        return np.where(bits & top, bits ^ top, ~bits).view(f"f{self.width}")


class PlainFloatCodec(Codec):
    """IEEE 754, big-endian, as Java's `Bytes.toBytes` writes it; negative numbers sort last.

    Args:
        width: 4 or 8 bytes.
    """

    order = Order.NONE

    def __init__(self, width: int) -> None:
        self.width = width
        self.framing = Framing.from_width(width)

    def pack(self, internal: float) -> bytes:
        return _FLOAT_STRUCTS[self.width].pack(internal)

    def unpack(self, piece: bytes) -> float:
        return float(_FLOAT_STRUCTS[self.width].unpack(piece)[0])

    def pack_batch(self, internal: Any) -> ByteColumn:
        return FixedByteColumn(internal.astype(f">f{self.width}"))

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        return _to_items(pieces, self.width).view(f">f{self.width}").astype(f"f{self.width}")


def _to_items(pieces: ByteColumn, width: int) -> Any:
    """Return pieces of one width as an array with one item each."""
    return (
        pieces if isinstance(pieces, FixedByteColumn) else pieces.to_sliced().to_fixed(width)
    ).items
