"""The transform `time_slice`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.keys.contract import Context, Part, Rest, Vector
from rowkey.keys.parts.floored import Floored
from rowkey.keys.traits import Residue

if TYPE_CHECKING:
    from collections.abc import Mapping


class TimeSlice(Floored):
    """The start of a stretch of time, one row for all its events: the rest opens each qualifier.

    An hour of an entity becomes one wide row; its key is stored once per cell still, but rows are
    fewer and a scan of an hour reads one. Under `desc` the rest is complemented too, so that the
    latest event comes first within the row.
    """

    name = "time_slice"
    vectors: ClassVar = (
        Vector("[time_slice(ts, 1h)]", {"ts": "timestamp_s"}, {"ts": 7300}, "0000000000001c20"),
        Vector(
            "[desc(time_slice(ts, 1h))]", {"ts": "timestamp_s"}, {"ts": 7300}, "7fffffffffffe3df"
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        width = next(w for w in (1, 2, 4, 8) if 256**w >= self.units)
        self.rest = Rest(self.fields[0], self.units, width, descending=self.order.descends)

    def residue(self, name: str) -> Residue:
        what = f"the time within {self.length}, which stands in the qualifier"
        return Residue(what) if name in self.fields else Residue()
