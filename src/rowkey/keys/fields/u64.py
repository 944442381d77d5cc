"""The type `u64`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.integers import Integer


class U64(Integer):
    """Whole numbers from 0 to 2^64-1 in eight bytes."""

    name = "u64"
    bits = 64
    has_sign = False
    vectors: ClassVar = (
        Vector("[n]", {"n": "u64"}, {"n": 0}, "0000000000000000"),
        Vector("[n]", {"n": "u64"}, {"n": 5}, "0000000000000005"),
        Vector("[n]", {"n": "u64"}, {"n": 18446744073709551615}, "ffffffffffffffff"),
    )
