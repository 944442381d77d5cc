"""The type `float32`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.floats import FloatField
from rowkey.keys.part_interface import GoldenVector


class Float32Field(FloatField):
    """IEEE 754 numbers of 32 bits without NaN; -0.0 is 0.0."""

    name = "float32"
    width = 4
    vectors: ClassVar = (
        GoldenVector("[x]", {"x": "float32"}, {"x": 1.0}, "bf800000"),
        GoldenVector("[x]", {"x": "float32"}, {"x": -1.0}, "407fffff"),
        GoldenVector("[x]", {"x": "float32"}, {"x": 0.0}, "80000000"),
        GoldenVector("[x]", {"x": "float32"}, {"x": -0.0}, "80000000"),
    )
