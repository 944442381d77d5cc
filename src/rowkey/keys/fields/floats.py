"""The types of floating-point numbers."""

from __future__ import annotations

import math
import re
from struct import Struct
from typing import Any, ClassVar

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import FloatDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error, convert_value, unwrap_numpy_scalar
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.floats import OrderedFloatCodec, PlainFloatCodec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.messages import format_value, shorten_text
from rowkey.schema import Value

_FLOAT32_STRUCT = Struct(">f")  # native "f" would make infinities of what does not fit
_NON_ZERO = re.compile(r"[^eE]*[1-9]")


class FloatField(FieldType):
    """A floating-point number of `width` bytes."""

    width: ClassVar[int]
    encodings: ClassVar = {
        "": Encoding("IEEE 754 big-endian; negative: all bits inverted, else the sign bit set"),
    }

    @property
    def domain(self) -> FloatDomain:
        return FloatDomain(8 * self.width)

    def to_internal(self, value: Value) -> float:
        """Return the internal form of a floating-point number: a float of the field's width."""
        if not isinstance(value, float | int):
            value = unwrap_numpy_scalar(value)
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise build_type_error(value, "a number")
        try:
            number = float(value)
        except OverflowError:
            raise InvalidArgument(
                "", f"{format_value(value)} is out of range", f"a {self.name}"
            ) from None
        if math.isnan(number):
            raise InvalidArgument(
                "", "NaN has no position in the order of row keys", "a number", "Remove the row."
            )
        return self._round_to_width(number) + 0.0

    def _round_to_width(self, number: float) -> float:
        """Return the number rounded to the width.

        Raises:
            InvalidArgument: the width cannot hold it.
        """
        if self.width == 8:
            return number
        try:
            single = float(_FLOAT32_STRUCT.unpack(_FLOAT32_STRUCT.pack(number))[0])
        except OverflowError:
            raise InvalidArgument("", f"{number!r} is too large for 32 bits", "a float32") from None
        return single

    def parse(self, text: str) -> float:
        """Return the value of a floating-point number written as text.

        Raises:
            InvalidArgument: it is no number, or one so small that it would become 0.
        """
        number = self.to_internal(convert_value(float, text, "a number"))
        if not number and _NON_ZERO.match(text):
            what = f"{shorten_text(text)} is too small for {8 * self.width} bits"
            raise InvalidArgument("", what, f"a {self.name}", "Write 0.")
        return number

    def format_value(self, value: Value) -> str:
        return repr(self.to_internal(value))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return OrderedFloatCodec(self.width)

    def build_plain_codec(self) -> Codec:
        return PlainFloatCodec(self.width)

    def build_arrow_type(self) -> pa.DataType:
        return pa.float32() if self.width == 4 else pa.float64()

    def cast_text_column(self, array: pa.Array) -> pa.Array | None:
        if self.width == 4:  # `parse` rounds to 64 bits first
            return None
        try:
            numbers = array.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        if pc.any(pc.is_nan(numbers)).as_py():
            return None
        zeros = pc.unique(array.filter(pc.equal(numbers, 0.0))).to_pylist()
        if any(_NON_ZERO.match(text) for text in zeros if text is not None):
            return None
        return pc.add(numbers, 0.0)  # -0.0 is 0.0

    def to_internal_batch(self, array: pa.Array) -> Any:
        dtype = f"f{self.width}"
        if not pa.types.is_floating(array.type):
            return np.array([self.to_internal(v) for v in self._parse_numbers(array)], dtype)
        numbers = array.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise InvalidArgument(
                "", "NaN has no position in the order of row keys", "a number", "Remove the row."
            )
        with np.errstate(over="ignore"):
            rounded = numbers.astype(dtype)
        if (np.isinf(rounded) & ~np.isinf(numbers)).any():
            raise InvalidArgument("", "a value is too large for 32 bits", "a float32")
        return rounded + rounded.dtype.type(0)

    def _parse_numbers(self, array: pa.Array) -> list[Any]:
        values = list_values(array)
        is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        return list(map(self.parse, values)) if is_text else values

    def build_column(self, internal: Any) -> pa.Array:
        return pa.array(internal, self.build_arrow_type())

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return list(map(float, internal.tolist()))


class Float32Field(FloatField):
    """IEEE 754 numbers of 32 bits without NaN; -0.0 is 0.0."""

    name = "float32"
    width = 4
    vectors: ClassVar = (
        GoldenVector("[x]", {"x": "float32"}, {"x": 1.0}, "bf800000"),
        GoldenVector("[x]", {"x": "float32"}, {"x": -1.0}, "407fffff"),
        GoldenVector("[x]", {"x": "float32"}, {"x": 0.0}, "80000000"),
        GoldenVector("[x]", {"x": "float32"}, {"x": -0.0}, "80000000"),
    )


class Float64Field(FloatField):
    """IEEE 754 numbers of 64 bits without NaN; -0.0 is 0.0."""

    name = "float64"
    width = 8
    vectors: ClassVar = (
        GoldenVector("[x]", {"x": "float64"}, {"x": 1.0}, "bff0000000000000"),
        GoldenVector("[x]", {"x": "float64"}, {"x": -1.0}, "400fffffffffffff"),
        GoldenVector("[x]", {"x": "float64"}, {"x": 0.0}, "8000000000000000"),
        GoldenVector("[x]", {"x": "float64"}, {"x": -0.0}, "8000000000000000"),
    )
