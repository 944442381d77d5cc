"""The type `i16`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


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
