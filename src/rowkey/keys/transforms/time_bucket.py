"""The transform `time_bucket`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.keys.part_interface import GoldenVector
from rowkey.keys.parts.time_floor import TimeFloorPart
from rowkey.keys.traits import NO_RESIDUE, Residue
from rowkey.messages import Message


class TimeBucketTransform(TimeFloorPart):
    """The start of the time interval that an instant lies in, aligned to 1970 in UTC.

    All rows of one interval share these bytes, so a field that tells them apart should follow. The
    time within the interval must stand later in the key, or in a column.
    """

    name = "time_bucket"
    vectors: ClassVar = (
        GoldenVector(
            "[time_bucket(ts, 1h)]", {"ts": "timestamp_s"}, {"ts": 7300}, "0000000000001c20"
        ),
        GoldenVector(
            "[time_bucket(ts:u32, 1h)]", {"ts": "timestamp_ms"}, {"ts": 7300000}, "00001c20"
        ),
    )

    def residue(self, name: str) -> Residue:
        """Return what the interval loses of a field's value."""
        if name not in self.fields:
            return NO_RESIDUE
        return Residue(
            Message("residue.time_within", "the time within {length}", length=str(self.length))
        )
