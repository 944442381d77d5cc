"""The type `float64`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.floats import FloatField
from rowkey.keys.part_interface import GoldenVector


class Float64Field(FloatField):
    """IEEE 754 numbers of 64 bits without NaN; -0.0 is 0.0."""

    name = "float64"
    width = 8
    vectors: ClassVar = (
        GoldenVector("[x]", {"x": "float64"}, {"x": 1.0}, "bff0000000000000"),
        GoldenVector("[x]", {"x": "float64"}, {"x": -1.0}, "400fffffffffffff"),
        GoldenVector("[x]", {"x": "float64"}, {"x": 0.0}, "8000000000000000"),
        GoldenVector("[x]", {"x": "float64"}, {"x": -0.0}, "8000000000000000"),
    )
