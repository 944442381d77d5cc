"""Whole numbers as bytes: big-endian of a fixed width, plain, biased or mirrored."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.keys.codecs.codec import Codec, Writer
from rowkey.keys.traits import NOTHING, Framing, Order, Residue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.keys.types.domains import Domain

_STRUCTS = {1: Struct(">B"), 2: Struct(">H"), 4: Struct(">I"), 8: Struct(">Q")}


class BigEndian(Codec):
    """A whole number, most significant byte first.

    What is stored is `number // per + bias`, or `top` less that, so that unsigned bytes sort as the
    numbers do, or the other way round.

    Args:
        width: bytes: 1, 2, 4, 8 or 16.
        low: smallest number that may be stored, after dividing.
        high: largest.
        bias: added before storing; 2^(bits-1) flips the sign bit.
        per: units of the type in one unit stored; above 1 the rest is lost.
        lost: what the rest is called.
        top: what descending numbers are counted down from; the width's largest if None.
        mirrored: whether the numbers are counted down.
    """

    def __init__(
        self,
        width: int,
        low: int,
        high: int,
        *,
        bias: int = 0,
        per: int = 1,
        lost: str = "",
        top: int | None = None,
        mirrored: bool = False,
    ) -> None:
        self.width, self.low, self.high = width, low, high
        self.bias, self.per, self.lost, self.mirrored = bias, per, lost, mirrored
        self._given_top = top
        self.top = (1 << 8 * width) - 1 if top is None else top
        self.framing = Framing.fixed(width)
        self.cardinality = high - low + 1
        if top is not None:
            self.turned = f"{top:,} less the number"
        self.residue = Residue(lost) if per > 1 else NOTHING
        self.order = self._order()

    def _order(self) -> Order:
        if self.low + self.bias < 0:
            return Order.NONE
        order = Order.WEAK if self.per > 1 else Order.STRICT
        return order.reversed() if self.mirrored else order

    @property
    def layout(self) -> object:
        return (type(self), self.width, self.bias, self.per, self.top, self.mirrored)

    def pack(self, held: int) -> bytes:
        number = held // self.per
        if not self.low <= number <= self.high:
            raise Refused("", f"{number} does not fit", f"{self.low}..{self.high}")
        stored = number + self.bias
        if self.mirrored:
            stored = self.top - stored
        return (stored % (1 << 8 * self.width)).to_bytes(self.width, "big")

    def room(self, domain: Domain) -> Domain:
        return domain.between(self.low * self.per, self.high * self.per + self.per - 1)

    def unpack(self, piece: bytes) -> int:
        stored = int.from_bytes(piece, "big")
        number = (self.top - stored if self.mirrored else stored) - self.bias
        if self.low < 0 and not self.bias and number > self.high:
            number -= 1 << 8 * self.width
        if not self.low <= number <= self.high:
            raise Refused("", f"{piece.hex()} is {number}", f"{self.low}..{self.high}")
        return number * self.per

    def row_packer(self, name: str, checked: Writer) -> Writer:
        """One comparison and one call for the plain integer, which nearly every value is."""
        if self.width not in _STRUCTS or self.per != 1 or self.low + self.bias < 0:
            return checked
        write = _STRUCTS[self.width].pack
        low, high, bias, mirror = self.low, self.high, self.bias, self.top - self.bias

        def unbiased(row: Mapping[str, Any]) -> bytes:
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(value)
            return checked(row)

        def biased(row: Mapping[str, Any]) -> bytes:
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(value + bias)
            return checked(row)

        def mirrored(row: Mapping[str, Any]) -> bytes:
            value = row[name]
            if type(value) is int and low <= value <= high:
                return write(mirror - value)
            return checked(row)

        return mirrored if self.mirrored else biased if bias else unbiased

    def pack_batch(self, held: Any) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed

        if self.width not in _STRUCTS:
            return super().pack_batch(held)
        return Fixed(self._stored(held).astype(f">u{self.width}"))

    def _stored(self, held: Ints) -> Ints:
        """The stored numbers; arithmetic modulo 2^64 gives the low bytes of any of them."""
        import numpy as np

        numbers = held // held.dtype.type(self.per) if self.per > 1 else held
        self._check(numbers)
        stored = numbers.astype(np.uint64, copy=False)
        if self.bias:
            stored = stored + np.uint64(self.bias % (1 << 64))
        if self.mirrored:
            stored = np.uint64(self.top) - stored
        return stored

    def _check(self, numbers: Ints) -> None:
        if not len(numbers):
            return
        for extreme in (int(numbers.min()), int(numbers.max())):
            if not self.low <= extreme <= self.high:
                raise Refused("", f"{extreme} does not fit", f"{self.low}..{self.high}")

    def unpack_batch(self, pieces: Pieces) -> Any:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed

        if self.width not in _STRUCTS:
            return super().unpack_batch(pieces)
        fixed = pieces if isinstance(pieces, Fixed) else pieces.spans().gathered(self.width)
        stored = fixed.items.view(f">u{self.width}").astype(np.uint64)
        if self.mirrored:
            stored = np.uint64(self.top) - stored
        numbers = stored - np.uint64(self.bias % (1 << 64))
        signed = self._signed(numbers)
        self._check(signed)
        return signed * signed.dtype.type(self.per)

    def _signed(self, numbers: Ints) -> Ints:
        import numpy as np

        if self.low >= 0:
            return numbers if self.high >= 1 << 63 else numbers.astype(np.int64)
        if self.bias or self.width == 8:
            return numbers.view(np.int64)
        return numbers.astype(f"u{self.width}").view(f"i{self.width}").astype(np.int64)

    def descending(self) -> Codec:
        if self.low + self.bias < 0:
            return super().descending()
        return BigEndian(
            self.width,
            self.low,
            self.high,
            bias=self.bias,
            per=self.per,
            lost=self.lost,
            top=self._given_top,
            mirrored=not self.mirrored,
        )


def unsigned(width: int) -> BigEndian:
    """Every number of 0 .. 2^(8 width) - 1."""
    return BigEndian(width, 0, (1 << 8 * width) - 1)


def signed(width: int) -> BigEndian:
    """Two's complement with the sign bit flipped, so that negative numbers sort first."""
    half = 1 << 8 * width - 1
    return BigEndian(width, -half, half - 1, bias=half)


def twos_complement(width: int, low: int, high: int) -> BigEndian:
    """The number's own bytes, as Java's `Bytes.toBytes` writes them."""
    return BigEndian(width, low, high)
