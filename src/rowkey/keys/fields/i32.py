"""The type `i32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


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
