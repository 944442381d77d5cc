"""The type `float64`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.floats import Float


class Float64(Float):
    """IEEE 754 numbers of 64 bits without NaN; -0.0 is 0.0."""

    name = "float64"
    width = 8
    vectors: ClassVar = (
        Vector("[x]", {"x": "float64"}, {"x": 1.0}, "bff0000000000000"),
        Vector("[x]", {"x": "float64"}, {"x": -1.0}, "400fffffffffffff"),
        Vector("[x]", {"x": "float64"}, {"x": 0.0}, "8000000000000000"),
        Vector("[x]", {"x": "float64"}, {"x": -0.0}, "8000000000000000"),
    )
