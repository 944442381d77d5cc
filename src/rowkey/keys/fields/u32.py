"""The type `u32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


class U32Field(IntegerField):
    """Whole numbers from 0 to 2^32-1 in four bytes."""

    name = "u32"
    bits = 32
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u32"}, {"n": 0}, "00000000"),
        GoldenVector("[n]", {"n": "u32"}, {"n": 5}, "00000005"),
        GoldenVector("[n]", {"n": "u32"}, {"n": 4294967295}, "ffffffff"),
    )
