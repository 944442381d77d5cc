"""The type `u16`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class U16(Integer):
    """Whole numbers from 0 to 2^16-1 in two bytes."""

    name = "u16"
    bits = 16
    has_sign = False
    vectors: ClassVar = (
        Vector("[n]", {"n": "u16"}, {"n": 0}, "0000"),
        Vector("[n]", {"n": "u16"}, {"n": 5}, "0005"),
        Vector("[n]", {"n": "u16"}, {"n": 65535}, "ffff"),
    )
