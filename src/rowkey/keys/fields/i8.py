"""The type `i8`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


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
