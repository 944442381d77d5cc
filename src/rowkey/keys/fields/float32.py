"""The type `float32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.floats import Float


class Float32(Float):
    """IEEE 754 numbers of 32 bits without NaN; -0.0 is 0.0."""

    name = "float32"
    width = 4
    vectors: ClassVar = (
        Vector("[x]", {"x": "float32"}, {"x": 1.0}, "bf800000"),
        Vector("[x]", {"x": "float32"}, {"x": -1.0}, "407fffff"),
        Vector("[x]", {"x": "float32"}, {"x": 0.0}, "80000000"),
        Vector("[x]", {"x": "float32"}, {"x": -0.0}, "80000000"),
    )
