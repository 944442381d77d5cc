"""The type `timestamp_us`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.timestamps import Timestamp


class TimestampUs(Timestamp):
    """Instants in microseconds since 1970, UTC."""

    name = "timestamp_us"
    unit = "us"
    per_second = 1_000_000
    tick = 1_000
    vectors: ClassVar = (
        Vector("[ts]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "0005b7cb6be58007"),
        Vector("[desc(ts)]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "7ffa4834941a7ff8"),
        Vector("[ts:u32]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "5fee6600"),
        Vector(
            "[ts:calendar]",
            {"ts": "timestamp_us"},
            {"ts": 1609459200000007},
            "3230323130313031303030303030303030303037",
        ),
    )
