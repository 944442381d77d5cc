"""The type `timestamp_ms`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.base_types.timestamps import TimestampField
from rowkey.keys.part_interface import GoldenVector


class TimestampMsField(TimestampField):
    """Instants in milliseconds since 1970, UTC."""

    name = "timestamp_ms"
    unit = "ms"
    units_per_second = 1_000
    unit_ns = 1_000_000
    vectors: ClassVar = (
        GoldenVector("[ts]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "00000176bb3e7007"),
        GoldenVector(
            "[desc(ts)]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "7ffffe8944c18ff8"
        ),
        GoldenVector("[ts:u32]", {"ts": "timestamp_ms"}, {"ts": 1609459200007}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_ms"},
            {"ts": 1609459200007},
            "3230323130313031303030303030303037",
        ),
    )
