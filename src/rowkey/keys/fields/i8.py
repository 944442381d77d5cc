"""The type `i8`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class I8(Integer):
    """Whole numbers from -2^7 to 2^7-1 in one byte, the sign bit flipped."""

    name = "i8"
    bits = 8
    has_sign = True
    vectors: ClassVar = (
        Vector("[n]", {"n": "i8"}, {"n": -128}, "00"),
        Vector("[n]", {"n": "i8"}, {"n": -1}, "7f"),
        Vector("[n]", {"n": "i8"}, {"n": 0}, "80"),
        Vector("[n]", {"n": "i8"}, {"n": 5}, "85"),
    )
