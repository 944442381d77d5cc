"""The type `i64`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


class I64Field(IntegerField):
    """Whole numbers from -2^63 to 2^63-1 in eight bytes, the sign bit flipped."""

    name = "i64"
    bits = 64
    has_sign = True
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "i64"}, {"n": -9223372036854775808}, "0000000000000000"),
        GoldenVector("[n]", {"n": "i64"}, {"n": -1}, "7fffffffffffffff"),
        GoldenVector("[n]", {"n": "i64"}, {"n": 0}, "8000000000000000"),
        GoldenVector("[n]", {"n": "i64"}, {"n": 5}, "8000000000000005"),
    )
