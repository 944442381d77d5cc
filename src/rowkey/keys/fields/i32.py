"""The type `i32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class I32(Integer):
    """Whole numbers from -2^31 to 2^31-1 in four bytes, the sign bit flipped."""

    name = "i32"
    bits = 32
    has_sign = True
    vectors: ClassVar = (
        Vector("[n]", {"n": "i32"}, {"n": -2147483648}, "00000000"),
        Vector("[n]", {"n": "i32"}, {"n": -1}, "7fffffff"),
        Vector("[n]", {"n": "i32"}, {"n": 0}, "80000000"),
        Vector("[n]", {"n": "i32"}, {"n": 5}, "80000005"),
    )
