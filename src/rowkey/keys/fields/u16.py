"""The type `u16`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


class U16Field(IntegerField):
    """Whole numbers from 0 to 2^16-1 in two bytes."""

    name = "u16"
    bits = 16
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u16"}, {"n": 0}, "0000"),
        GoldenVector("[n]", {"n": "u16"}, {"n": 5}, "0005"),
        GoldenVector("[n]", {"n": "u16"}, {"n": 65535}, "ffff"),
    )
