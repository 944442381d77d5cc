"""The type `date`."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.calendar import FIRST_DAY, LAST_DAY, CalendarDate
from rowkey.keys.codecs.numbers import signed, twos_complement
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Integers, Through
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import from_standard, of_another_sort

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Ints
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

_EPOCH = date(1970, 1, 1)
_DAY_2024 = 19_723
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Date(FieldType):
    """Days of the calendar from 0001-01-01 to 9999-12-31."""

    name = "date"
    tick = 86_400_000_000_000
    counts = True
    numbers = (FIRST_DAY, LAST_DAY)
    encodings: ClassVar = {
        "": Encoding("days since 1970 in four bytes, the sign bit flipped"),
        "calendar": Encoding("digits yyyyMMdd"),
    }
    vectors: ClassVar = (
        Vector("[d]", {"d": "date"}, {"d": date(1970, 1, 1)}, "80000000"),
        Vector("[d]", {"d": "date"}, {"d": date(1969, 12, 31)}, "7fffffff"),
        Vector("[d:calendar]", {"d": "date"}, {"d": date(2021, 2, 3)}, "3230323130323033"),
        Vector("[reverse(d:calendar)]", {"d": "date"}, {"d": date(2021, 2, 3)}, "3330323031323032"),
    )

    @property
    def domain(self) -> Through:
        return Through(Integers(FIRST_DAY, LAST_DAY, _DAY_2024), self.release)

    def hold(self, value: Value) -> int:
        if isinstance(value, datetime) or not isinstance(value, date):
            raise of_another_sort(value, "a date")
        return (value - _EPOCH).days

    def release(self, held: Any) -> date:
        try:
            return _EPOCH + timedelta(days=int(held))
        except OverflowError:
            raise Refused(
                "", f"{held} days since 1970 are no date", "the years 1 to 9999"
            ) from None

    def parse(self, text: str) -> date:
        """ISO 8601, `2024-01-31` or `20240131`; what follows a T or a space is left out."""
        day = text.strip().replace("T", " ").split(" ")[0]
        value: date = from_standard(date.fromisoformat, day, "a date")
        return value

    def show(self, value: Value) -> str:
        return str(value.isoformat())

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "calendar":
            return CalendarDate()
        # Wider than the calendar: a stretch of time may begin before its first day.
        return signed(4)

    def own(self) -> Codec:
        return twos_complement(4, -(1 << 31), (1 << 31) - 1)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.date32()

    def from_numbers(self, numbers: Ints) -> pa.Array:
        import pyarrow as pa

        return pa.array(numbers).cast(pa.int32()).cast(pa.date32())

    def physical(self, array: pa.Array) -> Any:
        import numpy as np
        import pyarrow as pa

        kind = array.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            values = [self.hold(self.parse(text)) for text in array.to_pylist()]
            return np.array(values, np.int64)
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise Refused("", f"a column of {kind}", "dates or text")
        if not pa.types.is_date32(kind):
            # Arrow's own cast wraps around where a day has no number of 32 bits.
            per_day = self.tick // _NANOSECONDS["ms" if pa.types.is_date64(kind) else kind.unit]
            _require_days(array.cast(pa.int64()).to_numpy() // per_day)
        try:
            days = array.cast(pa.date32())
        except pa.ArrowInvalid as problem:  # of a time zone that the system does not know
            raise Refused("", f"a column of {kind}: {problem}", "a known time zone") from None
        numbers: Ints = days.cast(pa.int32()).to_numpy().astype(np.int64)
        _require_days(numbers)
        return numbers


def _require_days(days: Ints) -> None:
    """Raise an error unless all numbers of days are in the calendar.

    Raises:
        Refused: one is not.
    """
    for day in (days.min(), days.max()) if len(days) else ():
        if not FIRST_DAY <= day <= LAST_DAY:
            raise Refused("", f"{day} days since 1970 are no date", "the years 1 to 9999")
