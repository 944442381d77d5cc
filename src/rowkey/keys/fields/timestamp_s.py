"""The type `timestamp_s`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.timestamps import TimestampField
from rowkey.keys.part_interface import GoldenVector


class TimestampSField(TimestampField):
    """Instants in seconds since 1970, UTC."""

    name = "timestamp_s"
    unit = "s"
    units_per_second = 1
    unit_ns = 1_000_000_000
    vectors: ClassVar = (
        GoldenVector("[ts]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "000000005fee6600"),
        GoldenVector("[desc(ts)]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "7fffffffa01199ff"),
        GoldenVector("[ts:u32]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_s"},
            {"ts": 1609459200},
            "3230323130313031303030303030",
        ),
    )
