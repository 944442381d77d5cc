"""The type `timestamp_ns`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.timestamps import Timestamp


class TimestampNs(Timestamp):
    """Instants in nanoseconds since 1970, UTC."""

    name = "timestamp_ns"
    unit = "ns"
    per_second = 1_000_000_000
    tick = 1
    vectors: ClassVar = (
        Vector("[ts]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "1655f29d787c0007"),
        Vector(
            "[desc(ts)]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "69aa0d628783fff8"
        ),
        Vector("[ts:u32]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "5fee6600"),
        Vector(
            "[ts:calendar]",
            {"ts": "timestamp_ns"},
            {"ts": 1609459200000000007},
            "3230323130313031303030303030303030303030303037",
        ),
    )
