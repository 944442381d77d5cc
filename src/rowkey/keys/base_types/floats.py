"""Floating-point numbers of 32 and 64 bits."""

from __future__ import annotations

import math
from struct import Struct
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import FloatDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error, convert_value, unwrap_numpy_scalar
from rowkey.keys.codecs.floats import OrderedFloatCodec, PlainFloatCodec
from rowkey.messages import format_value

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

_FLOAT32_STRUCT = Struct(">f")  # native "f" would make infinities of what does not fit


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
        if not isinstance(value, float | int):
            value = unwrap_numpy_scalar(value)
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise build_type_error(value, "a number")
        try:
            number = float(value)
        except OverflowError:
            raise InvalidArgument("", f"{format_value(value)} is out of range", self.name) from None
        if math.isnan(number):
            raise InvalidArgument("", "NaN cannot be ordered", "a number", "Leave the row out.")
        return self._round_to_width(number) + 0.0

    def _round_to_width(self, number: float) -> float:
        """Return the number rounded to the width.

        Raises:
            InvalidArgument: the width has no room for it.
        """
        if self.width == 8:
            return number
        try:
            single = float(_FLOAT32_STRUCT.unpack(_FLOAT32_STRUCT.pack(number))[0])
        except OverflowError:
            raise InvalidArgument(
                "", f"{number!r} does not fit into 32 bits", "a float32"
            ) from None
        return single

    def parse(self, text: str) -> float:
        return self.to_internal(convert_value(float, text, "a number"))

    def format_value(self, value: Value) -> str:
        return repr(self.to_internal(value))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return OrderedFloatCodec(self.width)

    def build_plain_codec(self) -> Codec:
        return PlainFloatCodec(self.width)

    def build_arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.float32() if self.width == 4 else pa.float64()

    def to_internal_batch(self, array: pa.Array) -> Any:
        import numpy as np
        import pyarrow as pa

        dtype = f"f{self.width}"
        if not pa.types.is_floating(array.type):
            return np.array([self.to_internal(v) for v in self._parse_numbers(array)], dtype)
        numbers = array.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise InvalidArgument("", "NaN cannot be ordered", "a number", "Leave the row out.")
        with np.errstate(over="ignore"):
            rounded = numbers.astype(dtype)
        if (np.isinf(rounded) & ~np.isinf(numbers)).any():
            raise InvalidArgument("", "a value does not fit into 32 bits", "a float32")
        return rounded + rounded.dtype.type(0)

    def _parse_numbers(self, array: pa.Array) -> list[Any]:
        """Return the values of an array; texts are parsed."""
        import pyarrow as pa

        values = list_values(array)
        is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        return list(map(self.parse, values)) if is_text else values

    def build_column(self, internal: Any) -> pa.Array:
        import pyarrow as pa

        return pa.array(internal, self.build_arrow_type())

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return list(map(float, internal.tolist()))
