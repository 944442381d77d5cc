"""The type `date`."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import IntegerDomain, MappedDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error, convert_value
from rowkey.keys.batches.byte_columns import IntArray
from rowkey.keys.codecs.calendar import FIRST_DAY, LAST_DAY, CalendarDateCodec
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import build_signed_codec, build_twos_complement_codec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.schema import Value

_EPOCH = date(1970, 1, 1)
_GENERATED_START_DAY = 19_723
_UNIT_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class DateField(FieldType):
    """Calendar dates from 0001-01-01 to 9999-12-31."""

    name = "date"
    unit_ns = 86_400_000_000_000
    has_integer_form = True
    number_range = (FIRST_DAY, LAST_DAY)
    encodings: ClassVar = {
        "": Encoding("days since 1970 in four bytes, the sign bit flipped"),
        "calendar": Encoding("digits yyyyMMdd"),
    }
    vectors: ClassVar = (
        GoldenVector("[d]", {"d": "date"}, {"d": date(1970, 1, 1)}, "80000000"),
        GoldenVector("[d]", {"d": "date"}, {"d": date(1969, 12, 31)}, "7fffffff"),
        GoldenVector("[d:calendar]", {"d": "date"}, {"d": date(2021, 2, 3)}, "3230323130323033"),
        GoldenVector(
            "[reverse(d:calendar)]", {"d": "date"}, {"d": date(2021, 2, 3)}, "3330323031323032"
        ),
    )

    @property
    def domain(self) -> MappedDomain:
        return MappedDomain(
            IntegerDomain(FIRST_DAY, LAST_DAY, _GENERATED_START_DAY), self.from_internal
        )

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a date, or of its text: the days since 1970."""
        if isinstance(value, str):
            value = self.parse(value)
        if isinstance(value, datetime) or not isinstance(value, date):
            raise build_type_error(value, "a date")
        return (value - _EPOCH).days

    def from_internal(self, internal: Any) -> date:
        try:
            return _EPOCH + timedelta(days=int(internal))
        except OverflowError:
            raise InvalidArgument(
                "", f"{internal} days after 1970-01-01 is not a date", "the years 1 to 9999"
            ) from None

    def parse(self, text: str) -> date:
        """Return the date of a text in ISO 8601; a time of day after a T or a space is ignored.

        Both `2024-01-31` and `20240131` are accepted.
        """
        day = text.strip().replace("T", " ").split(" ")[0]
        value: date = convert_value(date.fromisoformat, day, "a date")
        return value

    def format_value(self, value: Value) -> str:
        return str(value.isoformat())

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "calendar":
            return CalendarDateCodec()
        # Wider than the calendar: a time interval may begin before its first day.
        return build_signed_codec(4)

    def build_plain_codec(self) -> Codec:
        return build_twos_complement_codec(4, -(1 << 31), (1 << 31) - 1)

    def build_arrow_type(self) -> pa.DataType:
        return pa.date32()

    def build_number_column(self, numbers: IntArray) -> pa.Array:
        """Return whole numbers as an Arrow column of dates."""
        return pa.array(numbers).cast(pa.int32()).cast(pa.date32())

    def to_internal_batch(self, array: pa.Array) -> Any:
        arrow_type = array.type
        if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
            values = [self.to_internal(self.parse(text)) for text in array.to_pylist()]
            return np.array(values, np.int64)
        if not (pa.types.is_date(arrow_type) or pa.types.is_timestamp(arrow_type)):
            raise InvalidArgument(
                "", f"an Arrow column of the type {arrow_type} cannot be converted", "dates or text"
            )
        if pa.types.is_date32(arrow_type):
            numbers: IntArray = array.cast(pa.int32()).to_numpy().astype(np.int64)
        else:
            numbers = self._count_whole_days(array)
        _check_days(numbers)
        return numbers

    def _count_whole_days(self, array: pa.Array) -> IntArray:
        """Return the days of instants at midnight, in no time zone.

        Raises:
            InvalidArgument: the column has a time zone, or an instant is not at midnight.
        """
        arrow_type = array.type
        remedy = "Cast it to date32 in the time zone that you mean."
        if pa.types.is_timestamp(arrow_type) and arrow_type.tz is not None:
            raise InvalidArgument("", f"the {arrow_type} column has a time zone", "dates", remedy)
        units_per_day = (
            self.unit_ns // _UNIT_NS["ms" if pa.types.is_date64(arrow_type) else arrow_type.unit]
        )
        counts: IntArray = array.cast(pa.int64()).to_numpy()
        _check_days(counts // units_per_day)
        if (counts % units_per_day).any():
            raise InvalidArgument(
                "", f"the {arrow_type} column has times other than midnight", "dates", remedy
            )
        return counts // units_per_day


def _check_days(days: IntArray) -> None:
    """Raise an error unless all numbers of days are in the calendar.

    Raises:
        InvalidArgument: one is not.
    """
    for day in (days.min(), days.max()) if len(days) else ():
        if not FIRST_DAY <= day <= LAST_DAY:
            raise InvalidArgument(
                "", f"{day} days after 1970-01-01 is not a date", "the years 1 to 9999"
            )
