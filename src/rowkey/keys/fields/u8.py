"""The type `u8`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class U8(Integer):
    """Whole numbers from 0 to 2^8-1 in one byte."""

    name = "u8"
    bits = 8
    has_sign = False
    vectors: ClassVar = (
        Vector("[n]", {"n": "u8"}, {"n": 0}, "00"),
        Vector("[n]", {"n": "u8"}, {"n": 5}, "05"),
        Vector("[n]", {"n": "u8"}, {"n": 255}, "ff"),
    )
