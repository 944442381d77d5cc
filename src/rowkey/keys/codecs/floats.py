"""Floating-point numbers as bytes that sort like the numbers."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from rowkey.keys.codecs.codec import Codec
from rowkey.keys.traits import Framing, Order

if TYPE_CHECKING:
    from rowkey.keys.batches.pieces import Pieces

_FLOATS = {4: Struct(">f"), 8: Struct(">d")}


class OrderedFloat(Codec):
    """IEEE 754, big-endian; all bits of negative numbers inverted, the sign bit of others set.

    Args:
        width: 4 or 8 bytes.

    Source: `OrderedBytes.encodeFloat32` and `encodeFloat64` of hbase-common, less the header byte.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.framing = Framing.fixed(width)
        self.top = 1 << 8 * width - 1

    def pack(self, held: float) -> bytes:
        bits = int.from_bytes(_FLOATS[self.width].pack(held), "big")
        bits = (2 * self.top - 1) ^ bits if bits & self.top else bits | self.top
        return bits.to_bytes(self.width, "big")

    def unpack(self, piece: bytes) -> float:
        bits = int.from_bytes(piece, "big")
        bits = bits ^ self.top if bits & self.top else (2 * self.top - 1) ^ bits
        return float(_FLOATS[self.width].unpack(bits.to_bytes(self.width, "big"))[0])

    def pack_batch(self, held: Any) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed

        bits = held.astype(f">f{self.width}").view(f">u{self.width}").astype(f"u{self.width}")
        top = bits.dtype.type(self.top)
        return Fixed(np.where(bits & top, ~bits, bits | top).astype(f">u{self.width}"))

    def unpack_batch(self, pieces: Pieces) -> Any:
        import numpy as np

        bits = _items(pieces, self.width).view(f">u{self.width}").astype(f"u{self.width}")
        top = bits.dtype.type(self.top)
        return np.where(bits & top, bits ^ top, ~bits).view(f"f{self.width}")


class PlainFloat(Codec):
    """IEEE 754, big-endian, as Java's `Bytes.toBytes` writes it; negative numbers sort last.

    Args:
        width: 4 or 8 bytes.
    """

    order = Order.NONE

    def __init__(self, width: int) -> None:
        self.width = width
        self.framing = Framing.fixed(width)

    def pack(self, held: float) -> bytes:
        return _FLOATS[self.width].pack(held)

    def unpack(self, piece: bytes) -> float:
        return float(_FLOATS[self.width].unpack(piece)[0])

    def pack_batch(self, held: Any) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed

        return Fixed(held.astype(f">f{self.width}"))

    def unpack_batch(self, pieces: Pieces) -> Any:
        return _items(pieces, self.width).view(f">f{self.width}").astype(f"f{self.width}")


def _items(pieces: Pieces, width: int) -> Any:
    """The pieces as one array, an item each."""
    from rowkey.keys.batches.pieces import Fixed

    return (pieces if isinstance(pieces, Fixed) else pieces.spans().gathered(width)).items
