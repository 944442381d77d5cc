"""The type `timestamp_ns`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.timestamps import TimestampField
from rowkey.keys.part_interface import GoldenVector


class TimestampNsField(TimestampField):
    """Instants in nanoseconds since 1970, UTC."""

    name = "timestamp_ns"
    unit = "ns"
    units_per_second = 1_000_000_000
    unit_ns = 1
    vectors: ClassVar = (
        GoldenVector(
            "[ts]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "1655f29d787c0007"
        ),
        GoldenVector(
            "[desc(ts)]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "69aa0d628783fff8"
        ),
        GoldenVector("[ts:u32]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_ns"},
            {"ts": 1609459200000000007},
            "3230323130313031303030303030303030303030303037",
        ),
    )
