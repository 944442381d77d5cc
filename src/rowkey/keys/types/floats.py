"""Floating-point numbers of 32 and 64 bits."""

from __future__ import annotations

import math
from struct import Struct
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, shown
from rowkey.keys.codecs.floats import OrderedFloat, PlainFloat
from rowkey.keys.types.domains import Floats
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import from_standard, of_another_sort
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

_SINGLE = Struct(">f")  # native "f" would make infinities of what does not fit


class Float(FieldType):
    """A floating-point number of `width` bytes."""

    width: ClassVar[int]
    encodings: ClassVar = {
        "": Encoding("IEEE 754 big-endian; negative: all bits inverted, else the sign bit set"),
    }

    @property
    def domain(self) -> Floats:
        return Floats(8 * self.width)

    def hold(self, value: Value) -> float:
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise of_another_sort(value, "a number")
        try:
            number = float(value)
        except OverflowError:
            raise Refused("", f"{shown(value)} is out of range", self.name) from None
        if math.isnan(number):
            raise Refused("", "NaN has no place in an order", "a number", "Leave the row out.")
        return self._rounded(number) + 0.0

    def _rounded(self, number: float) -> float:
        """The number itself if the width holds it."""
        if self.width == 8:
            return number
        try:
            single = float(_SINGLE.unpack(_SINGLE.pack(number))[0])
        except OverflowError:
            raise Refused("", f"{number!r} does not fit into 32 bits", "a float32") from None
        return single

    def parse(self, text: str) -> float:
        return self.hold(from_standard(float, text, "a number"))

    def show(self, value: Value) -> str:
        return repr(self.hold(value))

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return OrderedFloat(self.width)

    def own(self) -> Codec:
        return PlainFloat(self.width)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.float32() if self.width == 4 else pa.float64()

    def physical(self, array: pa.Array) -> Any:
        import numpy as np
        import pyarrow as pa

        wide = f"f{self.width}"
        if not pa.types.is_floating(array.type):
            return np.array([self.hold(v) for v in self._numbers(array)], wide)
        numbers = array.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise Refused("", f"row {int(np.isnan(numbers).argmax())} is NaN", "a number")
        with np.errstate(over="ignore"):
            narrow = numbers.astype(wide)
        if (np.isinf(narrow) & ~np.isinf(numbers)).any():
            raise Refused("", "a value does not fit into 32 bits", "a float32")
        return narrow + narrow.dtype.type(0)

    def _numbers(self, array: pa.Array) -> list[Any]:
        import pyarrow as pa

        values = list_values(array)
        return list(map(self.parse, values)) if pa.types.is_string(array.type) else values

    def column(self, physical: Any) -> pa.Array:
        import pyarrow as pa

        return pa.array(physical, self.arrow())

    def listed(self, physical: Any) -> list[Value]:
        return list(map(float, physical.tolist()))
