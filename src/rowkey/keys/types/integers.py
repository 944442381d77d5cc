"""Whole numbers of 8 to 64 bits, with and without a sign."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, shown
from rowkey.keys.codecs.numbers import BigEndian, signed, twos_complement, unsigned
from rowkey.keys.types.domains import Integers
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import of_another_sort

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Ints
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value

_WIDTHS = {f"{sign}{bits}": (sign, bits // 8) for sign in "ui" for bits in (8, 16, 32, 64)}


class Integer(FieldType):
    """A whole number; `bits` and `has_sign` say which."""

    bits: ClassVar[int]
    has_sign: ClassVar[bool]
    plain = True
    counts = True
    encodings: ClassVar = {
        "": Encoding("big-endian; with a sign, its bit is flipped"),
        **{
            word: Encoding(f"as a field of type {word}; a number that does not fit is refused")
            for word in _WIDTHS
        },
    }

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        half = 1 << self.bits - 1
        self.numbers = (-half, half - 1) if self.has_sign else (0, 2 * half - 1)

    @property
    def domain(self) -> Integers:
        return Integers(*self.numbers)

    def hold(self, value: Value) -> int:
        if type(value) is not int:
            value = whole_number(value, self.name)
        low, high = self.numbers
        if not low <= value <= high:
            raise Refused("", f"{shown(value)} is out of range", f"{low}..{high}")
        return int(value)

    def parse(self, text: str) -> int:
        return self.hold(parsed_number(text))

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        sign, width = _WIDTHS[encoding or self.name]
        codec = signed(width) if sign == "i" else unsigned(width)
        low, high = max(self.numbers[0], codec.low), min(self.numbers[1], codec.high)
        return BigEndian(width, low, high, bias=codec.bias)

    def own(self) -> Codec:
        return twos_complement(self.bits // 8, *self.numbers)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return getattr(pa, f"{'' if self.has_sign else 'u'}int{self.bits}")()

    def cast(self, array: pa.Array) -> pa.Array | None:
        import pyarrow as pa

        if _may_hold_hex(array):
            return None
        try:
            return array.cast(self.arrow())
        except pa.ArrowInvalid:
            return None

    def physical(self, array: pa.Array) -> Ints:
        numbers = whole_numbers(array, self.parse)
        low, high = self.numbers
        for extreme in (numbers.min(), numbers.max()) if len(numbers) else ():
            if not low <= int(extreme) <= high:
                raise Refused("", f"{extreme} is out of range", f"{low}..{high}")
        return numbers

    def column(self, physical: Any) -> pa.Array:
        import pyarrow as pa

        return pa.array(physical).cast(self.arrow())

    def listed(self, physical: Any) -> list[Value]:
        return list(map(int, physical.tolist()))


def _may_hold_hex(array: pa.Array) -> bool:
    """Whether a text column has an x anywhere: Arrow reads 0x1F as 31, `parse` refuses it."""
    written = array.buffers()[2]
    return written is not None and any(mark in written.to_pybytes() for mark in (b"x", b"X"))


def whole_number(value: Value, name: str) -> int:
    """A whole number from any type that stands for one.

    Raises:
        Refused: the value is none; booleans and floating-point numbers are not.
    """
    if isinstance(value, bool):
        raise of_another_sort(value, f"a whole number for {name}")
    try:
        return index(value)
    except TypeError:
        raise of_another_sort(value, f"a whole number for {name}") from None


def parsed_number(text: str) -> int:
    """A whole number from its digits.

    Raises:
        Refused: the text is anything else, or longer than any number of ours.
    """
    digits = text.strip()
    if len(digits) > 40 or not digits.lstrip("+-").isdecimal() or not digits.isascii():
        raise Refused("", f"{text[:60]!r} is not a whole number")
    return int(digits)


def whole_numbers(array: pa.Array, parse: Any) -> Ints:
    """The numbers of an Arrow array of integers, or of text, as 64 bits with or without a sign."""
    import numpy as np
    import pyarrow as pa

    kind = array.type
    if pa.types.is_unsigned_integer(kind):
        wide = np.uint64 if kind.bit_width == 64 else np.int64
        numbers: Ints = array.to_numpy().astype(wide, copy=False)
        return numbers
    if pa.types.is_signed_integer(kind):
        return np.asarray(array.to_numpy(), np.int64)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = [parse(text) for text in array.to_pylist()]
        return np.array(values, np.uint64 if max(values, default=0) >= 1 << 63 else np.int64)
    raise Refused("", f"a column of {kind}", "whole numbers or text")
