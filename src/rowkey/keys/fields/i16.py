"""The type `i16`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class I16(Integer):
    """Whole numbers from -2^15 to 2^15-1 in two bytes, the sign bit flipped."""

    name = "i16"
    bits = 16
    has_sign = True
    vectors: ClassVar = (
        Vector("[n]", {"n": "i16"}, {"n": -32768}, "0000"),
        Vector("[n]", {"n": "i16"}, {"n": -1}, "7fff"),
        Vector("[n]", {"n": "i16"}, {"n": 0}, "8000"),
        Vector("[n]", {"n": "i16"}, {"n": 5}, "8005"),
    )
