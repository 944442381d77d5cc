"""The type `u8`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


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
