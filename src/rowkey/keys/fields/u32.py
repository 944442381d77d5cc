"""The type `u32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class U32(Integer):
    """Whole numbers from 0 to 2^32-1 in four bytes."""

    name = "u32"
    bits = 32
    has_sign = False
    vectors: ClassVar = (
        Vector("[n]", {"n": "u32"}, {"n": 0}, "00000000"),
        Vector("[n]", {"n": "u32"}, {"n": 5}, "00000005"),
        Vector("[n]", {"n": "u32"}, {"n": 4294967295}, "ffffffff"),
    )
