"""The transform `time_bucket`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.contract import Vector
from rowkey.keys.parts.floored import Floored
from rowkey.keys.traits import Residue


class TimeBucket(Floored):
    """The start of the stretch of time an instant lies in, aligned to 1970 in UTC.

    Rows of one stretch share the part, so it stands well before a field that spreads them. What is
    lost of the time must stand later in the key, or in a column.
    """

    name = "time_bucket"
    vectors: ClassVar = (
        Vector("[time_bucket(ts, 1h)]", {"ts": "timestamp_s"}, {"ts": 7300}, "0000000000001c20"),
        Vector("[time_bucket(ts:u32, 1h)]", {"ts": "timestamp_ms"}, {"ts": 7300000}, "00001c20"),
    )

    def residue(self, name: str) -> Residue:
        return Residue(f"the time within {self.length}") if name in self.fields else Residue()
