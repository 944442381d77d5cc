"""The type `u64`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.integers import IntegerField
from rowkey.keys.part_interface import GoldenVector


class U64Field(IntegerField):
    """Whole numbers from 0 to 2^64-1 in eight bytes."""

    name = "u64"
    bits = 64
    has_sign = False
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": "u64"}, {"n": 0}, "0000000000000000"),
        GoldenVector("[n]", {"n": "u64"}, {"n": 5}, "0000000000000005"),
        GoldenVector("[n]", {"n": "u64"}, {"n": 18446744073709551615}, "ffffffffffffffff"),
    )
