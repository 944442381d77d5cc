"""The type `timestamp_us`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.timestamps import TimestampField
from rowkey.keys.part_interface import GoldenVector


class TimestampUsField(TimestampField):
    """Instants in microseconds since 1970, UTC."""

    name = "timestamp_us"
    unit = "us"
    units_per_second = 1_000_000
    unit_ns = 1_000
    vectors: ClassVar = (
        GoldenVector("[ts]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "0005b7cb6be58007"),
        GoldenVector(
            "[desc(ts)]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "7ffa4834941a7ff8"
        ),
        GoldenVector("[ts:u32]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_us"},
            {"ts": 1609459200000007},
            "3230323130313031303030303030303030303037",
        ),
    )
