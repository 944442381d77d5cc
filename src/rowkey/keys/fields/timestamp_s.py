"""The type `timestamp_s`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.timestamps import Timestamp


class TimestampS(Timestamp):
    """Instants in seconds since 1970, UTC."""

    name = "timestamp_s"
    unit = "s"
    per_second = 1
    tick = 1_000_000_000
    vectors: ClassVar = (
        Vector("[ts]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "000000005fee6600"),
        Vector("[desc(ts)]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "7fffffffa01199ff"),
        Vector("[ts:u32]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "5fee6600"),
        Vector(
            "[ts:calendar]",
            {"ts": "timestamp_s"},
            {"ts": 1609459200},
            "3230323130313031303030303030",
        ),
    )
