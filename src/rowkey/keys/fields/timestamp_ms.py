"""The type `timestamp_ms`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.types.timestamps import Timestamp


class TimestampMs(Timestamp):
    """Instants in milliseconds since 1970, UTC."""

    name = "timestamp_ms"
    unit = "ms"
    per_second = 1_000
    tick = 1_000_000
    vectors: ClassVar = (
        Vector("[ts]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "00000176bb3e7007"),
        Vector("[desc(ts)]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "7ffffe8944c18ff8"),
        Vector("[ts:u32]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "5fee6600"),
        Vector(
            "[ts:calendar]",
            {"ts": "timestamp_ms"},
            {"ts": 1609459200007},
            "3230323130313031303030303030303037",
        ),
    )
