"""The transforms that cut a time to whole steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, Part, TimeRemainder
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
        if name not in self.fields:
            return NO_RESIDUE
        return Residue(
            Message(
                "residue.time_within",
                "the exact time within each {length}",
                length=str(self.length),
            )
        )


class TimeSliceTransform(TimeFloorPart):
    """The start of a time interval: one row holds its events, each under the rest of its time.

    An hour of an entity becomes one wide row; each qualifier begins with the rest of the event's
    time. The key is still stored once per cell, but there are fewer rows, and a scan of one hour
    reads one row. Under `desc` the rest is complemented too, so that the latest event comes first
    within the row.
    """

    name = "time_slice"
    vectors: ClassVar = (
        GoldenVector(
            "[time_slice(ts, 1h)]", {"ts": "timestamp_s"}, {"ts": 7300}, "0000000000001c20"
        ),
        GoldenVector(
            "[desc(time_slice(ts, 1h))]", {"ts": "timestamp_s"}, {"ts": 7300}, "7fffffffffffe3df"
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        width = next(w for w in (1, 2, 4, 8) if 256**w >= self.length_units)
        self.time_remainder = TimeRemainder(
            self.fields[0], self.length_units, width, descending=self.order.is_descending
        )

    def residue(self, name: str) -> Residue:
        if name not in self.fields:
            return NO_RESIDUE
        return Residue(
            Message(
                "residue.time_in_qualifier",
                "in the key (not in the qualifier) the exact time within each {length}",
                length=str(self.length),
            )
        )
