"""The types of whole numbers of 8 to 64 bits."""

from __future__ import annotations

import re
from operator import index
from typing import Any, ClassVar

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import IntegerDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error
from rowkey.keys.batches.byte_columns import IntArray
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import (
    BigEndianCodec,
    build_signed_codec,
    build_twos_complement_codec,
    build_unsigned_codec,
)
from rowkey.keys.golden_vector import GoldenVector
from rowkey.messages import format_value
from rowkey.schema import FieldDeclaration, Value

_MAX_DIGITS = 39
_WHOLE_NUMBER_PATTERN = re.compile(rf"[+-]?[0-9]{{1,{_MAX_DIGITS}}}")
_ENCODING_WIDTHS = {f"{sign}{bits}": (sign, bits // 8) for sign in "ui" for bits in (8, 16, 32, 64)}


class IntegerField(FieldType):
    """A whole number of `bits` bits, with a sign if `has_sign`."""

    bits: ClassVar[int]
    has_sign: ClassVar[bool]
    is_plain_integer = True
    has_integer_form = True
    encodings: ClassVar = {
        "": Encoding("big-endian; with a sign, its bit is flipped"),
        **{
            name: Encoding(f"as a field of type {name}; a number that does not fit is refused")
            for name in _ENCODING_WIDTHS
        },
    }

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        half = 1 << self.bits - 1
        self.number_range = (-half, half - 1) if self.has_sign else (0, 2 * half - 1)

    @property
    def domain(self) -> IntegerDomain:
        return IntegerDomain(*self.number_range)

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a whole number: an int within the field's range."""
        if type(value) is not int:
            value = to_whole_number(value, self.name)
        low, high = self.number_range
        if not low <= value <= high:
            raise InvalidArgument("", f"{format_value(value)} is out of range", f"{low}..{high}")
        return int(value)

    def parse(self, text: str) -> int:
        return self.to_internal(parse_whole_number(text))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        sign, width = _ENCODING_WIDTHS[encoding or self.name]
        codec = build_signed_codec(width) if sign == "i" else build_unsigned_codec(width)
        low, high = max(self.number_range[0], codec.low), min(self.number_range[1], codec.high)
        return BigEndianCodec(width, low, high, bias=codec.bias)

    def build_plain_codec(self) -> Codec:
        return build_twos_complement_codec(self.bits // 8, *self.number_range)

    def build_arrow_type(self) -> pa.DataType:
        return getattr(pa, f"{'' if self.has_sign else 'u'}int{self.bits}")()

    def cast_text_column(self, array: pa.Array) -> pa.Array | None:
        # Arrow takes leading zeros of any number, and `parse` does not.
        longest = pc.max(pc.binary_length(array)).as_py()
        if _can_contain_hex(array) or (longest or 0) > _MAX_DIGITS:
            return None
        try:
            return array.cast(self.build_arrow_type())
        except pa.ArrowInvalid:
            return None

    def to_internal_batch(self, array: pa.Array) -> IntArray:
        numbers = to_whole_numbers(array, self.parse)
        low, high = self.number_range
        for extreme in (numbers.min(), numbers.max()) if len(numbers) else ():
            if not low <= int(extreme) <= high:
                raise InvalidArgument("", f"{extreme} is out of range", f"{low}..{high}")
        return numbers

    def build_column(self, internal: Any) -> pa.Array:
        return pa.array(internal).cast(self.build_arrow_type())

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return list(map(int, internal.tolist()))


def _can_contain_hex(array: pa.Array) -> bool:
    """Return whether a text column contains an x: Arrow reads 0x1F as 31, `parse` refuses it."""
    data = array.buffers()[2]
    return data is not None and any(letter in data.to_pybytes() for letter in (b"x", b"X"))


def to_whole_number(value: Value, name: str) -> int:
    """Return the whole number of a value of any integer type.

    Raises:
        InvalidArgument: the value is not an integer, such as a boolean or a floating-point number.
    """
    if isinstance(value, bool):
        raise build_type_error(value, f"a whole number for {name}")
    try:
        return index(value)
    except TypeError:
        raise build_type_error(value, f"a whole number for {name}") from None


def parse_whole_number(text: str) -> int:
    """Return the whole number of a text.

    Raises:
        InvalidArgument: the text is no whole number, or longer than 39 digits.
    """
    digits = text.strip()
    if not _WHOLE_NUMBER_PATTERN.fullmatch(digits):
        raise InvalidArgument("", f"{text[:60]!r} is not a whole number", "digits, such as 42")
    return int(digits)


def to_whole_numbers(array: pa.Array, parse: Any) -> IntArray:
    """Return the numbers of an Arrow array of integers or text, in 64 bits with or without sign.

    Raises:
        InvalidArgument: the column has another type, or a text that is not a number.
    """
    arrow_type = array.type
    if pa.types.is_unsigned_integer(arrow_type):
        dtype = np.uint64 if arrow_type.bit_width == 64 else np.int64
        numbers: IntArray = array.to_numpy().astype(dtype, copy=False)
        return numbers
    if pa.types.is_signed_integer(arrow_type):
        return np.asarray(array.to_numpy(), np.int64)
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        values = [parse(text) for text in array.to_pylist()]
        return np.array(values, np.uint64 if max(values, default=0) >= 1 << 63 else np.int64)
    raise InvalidArgument(
        "", f"an Arrow column of the type {arrow_type} cannot be converted", "whole numbers or text"
    )


class U8Field(IntegerField):
    """Whole numbers from 0 to 2^8-1 in one byte."""

    name = "u8"
    bits = 8
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u8"}, {"n": 0}, "00"),
        GoldenVector("[n]", {"n": "u8"}, {"n": 5}, "05"),
        GoldenVector("[n]", {"n": "u8"}, {"n": 255}, "ff"),
    )


class U16Field(IntegerField):
    """Whole numbers from 0 to 2^16-1 in two bytes."""

    name = "u16"
    bits = 16
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u16"}, {"n": 0}, "0000"),
        GoldenVector("[n]", {"n": "u16"}, {"n": 5}, "0005"),
        GoldenVector("[n]", {"n": "u16"}, {"n": 65535}, "ffff"),
    )


class U32Field(IntegerField):
    """Whole numbers from 0 to 2^32-1 in four bytes."""

    name = "u32"
    bits = 32
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u32"}, {"n": 0}, "00000000"),
        GoldenVector("[n]", {"n": "u32"}, {"n": 5}, "00000005"),
        GoldenVector("[n]", {"n": "u32"}, {"n": 4294967295}, "ffffffff"),
    )


class U64Field(IntegerField):
    """Whole numbers from 0 to 2^64-1 in eight bytes."""

    name = "u64"
    bits = 64
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u64"}, {"n": 0}, "0000000000000000"),
        GoldenVector("[n]", {"n": "u64"}, {"n": 5}, "0000000000000005"),
        GoldenVector("[n]", {"n": "u64"}, {"n": 18446744073709551615}, "ffffffffffffffff"),
    )


class I8Field(IntegerField):
    """Whole numbers from -2^7 to 2^7-1 in one byte, the sign bit flipped."""

    name = "i8"
    bits = 8
    has_sign = True
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "i8"}, {"n": -128}, "00"),
        GoldenVector("[n]", {"n": "i8"}, {"n": -1}, "7f"),
        GoldenVector("[n]", {"n": "i8"}, {"n": 0}, "80"),
        GoldenVector("[n]", {"n": "i8"}, {"n": 5}, "85"),
    )


class I16Field(IntegerField):
    """Whole numbers from -2^15 to 2^15-1 in two bytes, the sign bit flipped."""

    name = "i16"
    bits = 16
    has_sign = True
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "i16"}, {"n": -32768}, "0000"),
        GoldenVector("[n]", {"n": "i16"}, {"n": -1}, "7fff"),
        GoldenVector("[n]", {"n": "i16"}, {"n": 0}, "8000"),
        GoldenVector("[n]", {"n": "i16"}, {"n": 5}, "8005"),
    )


class I32Field(IntegerField):
    """Whole numbers from -2^31 to 2^31-1 in four bytes, the sign bit flipped."""

    name = "i32"
    bits = 32
    has_sign = True
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "i32"}, {"n": -2147483648}, "00000000"),
        GoldenVector("[n]", {"n": "i32"}, {"n": -1}, "7fffffff"),
        GoldenVector("[n]", {"n": "i32"}, {"n": 0}, "80000000"),
        GoldenVector("[n]", {"n": "i32"}, {"n": 5}, "80000005"),
    )


class I64Field(IntegerField):
    """Whole numbers from -2^63 to 2^63-1 in eight bytes, the sign bit flipped."""

    name = "i64"
    bits = 64
    has_sign = True
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "i64"}, {"n": -9223372036854775808}, "0000000000000000"),
        GoldenVector("[n]", {"n": "i64"}, {"n": -1}, "7fffffffffffffff"),
        GoldenVector("[n]", {"n": "i64"}, {"n": 0}, "8000000000000000"),
        GoldenVector("[n]", {"n": "i64"}, {"n": 5}, "8000000000000005"),
    )
