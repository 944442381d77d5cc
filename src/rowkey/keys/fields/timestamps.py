"""The types of instants, from seconds to nanoseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import IntegerDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.batches.byte_columns import IntArray
from rowkey.keys.codecs.calendar import CalendarTimeCodec
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import BigEndianCodec, build_twos_complement_codec
from rowkey.keys.fields.integers import to_whole_number
from rowkey.keys.golden_vector import GoldenVector
from rowkey.messages import Message, format_value
from rowkey.schema import Value

MAX_TIMESTAMP = (1 << 63) - 1
_FRACTION_PATTERN = re.compile(r"(?:(?<=\d\d:\d\d:\d\d)|(?<=[T ]\d{6}))[.,]([0-9]{1,18})")
"""Matches the fraction of a second, but not the `.5` of `10:30.5`, a fraction of a minute."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GENERATED_START_S = 1_704_067_200
"""2024-01-01T00:00:00Z, the time of the first generated event."""


class TimestampField(FieldType):
    """An instant, as the count of units since 1970; `unit` is s, ms, us or ns."""

    unit: ClassVar[str]
    units_per_second: ClassVar[int]
    is_plain_integer = True
    has_integer_form = True
    number_range = (0, MAX_TIMESTAMP)
    encodings: ClassVar = {
        "": Encoding("8 bytes big-endian, 0 to 2^63-1"),
        "u32": Encoding("whole seconds in 4 bytes; the fraction is lost"),
        "calendar": Encoding("digits yyyyMMddHHmmss and those of the fraction, UTC, 1970 to 9999"),
    }

    @property
    def domain(self) -> IntegerDomain:
        return IntegerDomain(0, MAX_TIMESTAMP, GENERATED_START_S * self.units_per_second)

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a time: the count of units since 1970.

        A time is given as this count, as a datetime with its time zone, or as text that `parse`
        reads.
        """
        if isinstance(value, datetime):
            value = self._count_units(value)
        elif isinstance(value, str):
            value = self.parse(value)
        elif type(value) is not int:
            value = to_whole_number(value, self.name)
        if not 0 <= value <= MAX_TIMESTAMP:
            raise InvalidArgument(
                "", f"{format_value(value)} is out of range", f"0 to 2^63-1 {self.unit} since 1970"
            )
        return int(value)

    def _count_units(self, value: datetime) -> int:
        """Return a datetime with a time zone as a count of the type's unit.

        Raises:
            InvalidArgument: it has no time zone, so that it is another instant on each machine; or
                it is more precise than the unit.
        """
        if value != value:  # noqa: PLR0124 - NaT of pandas is a datetime that equals nothing
            raise InvalidArgument("", "NaT is not a time", "a time, or None")
        if value.utcoffset() is None:
            raise InvalidArgument(
                "",
                f"{value} has no time zone",
                "a datetime with a time zone",
                "Give it the zone it is in: datetime.now(timezone.utc) for now, "
                "value.replace(tzinfo=timezone.utc) for UTC, value.astimezone() for local time.",
            )
        microseconds = (value - EPOCH) // timedelta(microseconds=1)
        count, remainder = divmod(microseconds * self.units_per_second, 1_000_000)
        if remainder:
            raise InvalidArgument(
                "",
                f"{value} is more precise than 1 {self.unit}",
                f"a time in whole {self.unit}",
                "Round the time, or declare a finer type of timestamp.",
            )
        return count

    def parse(self, text: str) -> int:
        """Return the instant of a text: a count in the type's unit, or ISO 8601 with dashes.

        ISO 8601 without a time zone is in UTC. Digits alone are always a count: `20240131` could
        be either, and the meaning of a column must not change from row to row.
        """
        stripped = text.strip()
        if len(stripped) > 40:
            raise InvalidArgument(
                "", f"{text[:60]!r}… is too long for a time", "at most 40 characters"
            )
        if stripped.isdecimal() and stripped.isascii():
            return self.to_internal(int(stripped))
        fraction = _FRACTION_PATTERN.search(stripped)
        text_without_fraction = _FRACTION_PATTERN.sub("", stripped, count=1)
        allowed = f"{self.unit} since 1970, or ISO 8601 such as 2024-01-31T23:59:59Z"
        # Python reads 10:30.5 as 30 minutes and half a second.
        if "." in text_without_fraction or "," in text_without_fraction:
            raise InvalidArgument("", f"{text!r} is not a time", allowed)
        try:
            instant = datetime.fromisoformat(text_without_fraction)
            instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
        except ValueError:
            raise InvalidArgument("", f"{text!r} is not a time", allowed) from None
        return self.to_internal(
            self._count_units(instant) + self._parse_fraction(fraction[1] if fraction else "")
        )

    def _parse_fraction(self, digits: str) -> int:
        """Return the digits of a fraction of a second as a count of the type's unit.

        Raises:
            InvalidArgument: the unit is too coarse for them.
        """
        count, remainder = divmod(int(digits.ljust(18, "0")), 10**18 // self.units_per_second)
        if remainder:
            raise InvalidArgument(
                "",
                f"0.{digits} s is more precise than 1 {self.unit}",
                f"a time in whole {self.unit}",
                "Round the time, or declare a finer type of timestamp.",
            )
        return count

    def format_value(self, value: Value) -> str:
        """Return the instant in ISO 8601 in UTC; after the year 9999, the count."""
        seconds, fraction = divmod(self.to_internal(value), self.units_per_second)
        if seconds > 253_402_300_799:
            return str(value)
        digits = len(str(self.units_per_second)) - 1
        text = (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{text}.{fraction:0{digits}d}Z" if digits else f"{text}Z"

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "u32":
            fraction = Message("residue.second_fraction", "the fraction of the second")
            lost_detail = fraction if self.units_per_second > 1 else ""
            return BigEndianCodec(
                4, 0, (1 << 32) - 1, divisor=self.units_per_second, lost_detail=lost_detail
            )
        if encoding == "calendar":
            return CalendarTimeCodec(self.units_per_second)
        return BigEndianCodec(8, 0, MAX_TIMESTAMP, top=MAX_TIMESTAMP)

    def build_plain_codec(self) -> Codec:
        return build_twos_complement_codec(8, 0, MAX_TIMESTAMP)

    def build_arrow_type(self) -> pa.DataType:
        return pa.timestamp(self.unit, "UTC")

    def cast_text_column(self, array: pa.Array) -> pa.Array | None:
        first = str(array[0]) if len(array) else ""
        if "-" not in first[:8]:
            return self._cast_digits(array)
        has_zone = first.endswith("Z") or first[10:][-6:-5] in ("+", "-")
        # A finer unit reads fractions such as .000 too; the second cast refuses what it would lose.
        finer_unit = "us" if self.unit in ("s", "ms") else self.unit
        text_type = pa.timestamp(finer_unit, "UTC" if has_zone else None)
        try:
            array[:1].cast(text_type)  # a text that Arrow refuses takes it 1.5 µs
            timestamps = array.cast(text_type).cast(self.build_arrow_type())
        except pa.ArrowInvalid:
            return None
        earliest = pc.min(timestamps.cast(pa.int64())).as_py()
        return timestamps if earliest is not None and earliest >= 0 else None

    def _cast_digits(self, array: pa.Array) -> pa.Array | None:
        """Return a text column of counts as times; None if a text has anything but digits."""
        # With 19 digits at most, no text has leading zeros that `parse` refuses as too long.
        is_count = pc.and_(pc.ascii_is_decimal(array), pc.less_equal(pc.binary_length(array), 19))
        if not pc.all(is_count).as_py():
            return None
        try:
            return array.cast(pa.int64()).cast(self.build_arrow_type())
        except pa.ArrowInvalid:  # more than 2^63-1
            return None

    def to_internal_batch(self, array: pa.Array) -> IntArray:
        counts = self._to_counts(array)
        if pa.types.is_uint64(counts.type) or not pa.types.is_integer(counts.type):
            counts = pa.array(
                [self.to_internal(value) for value in list_values(counts)], pa.int64()
            )
        numbers: IntArray = counts.to_numpy().astype(np.int64, copy=False)
        if len(numbers) and int(numbers.min()) < 0:
            raise InvalidArgument(
                "", f"{numbers.min()} is out of range", f"0 to 2^63-1 {self.unit} since 1970"
            )
        return numbers

    def _to_counts(self, array: pa.Array) -> pa.Array:
        """Return the instants as whole numbers of the unit.

        Raises:
            InvalidArgument: the column has another type, or times finer than the unit.
        """
        arrow_type = array.type
        if pa.types.is_timestamp(arrow_type) or pa.types.is_date(arrow_type):
            try:
                return array.cast(pa.timestamp(self.unit, getattr(arrow_type, "tz", None))).cast(
                    pa.int64()
                )
            except pa.ArrowInvalid as problem:
                raise InvalidArgument(
                    "",
                    f"the {arrow_type} column cannot be converted: {problem}",
                    f"times in whole {self.unit}",
                ) from None
        if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
            return pa.array([self.parse(text) for text in array.to_pylist()], pa.int64())
        return array

    def build_column(self, internal: Any) -> pa.Array:
        return pa.array(internal, pa.int64()).cast(self.build_arrow_type())

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return list(map(int, internal.tolist()))


class TimestampSField(TimestampField):
    """Instants in seconds since 1970, UTC."""

    name = "timestamp_s"
    unit = "s"
    units_per_second = 1
    unit_ns = 1_000_000_000
    vectors: ClassVar = (
        GoldenVector("[ts]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "000000005fee6600"),
        GoldenVector("[desc(ts)]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "7fffffffa01199ff"),
        GoldenVector("[ts:u32]", {"ts": "timestamp_s"}, {"ts": 1609459200}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_s"},
            {"ts": 1609459200},
            "3230323130313031303030303030",
        ),
    )


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


class TimestampUsField(TimestampField):
    """Instants in microseconds since 1970, UTC."""

    name = "timestamp_us"
    unit = "us"
    units_per_second = 1_000_000
    unit_ns = 1_000
    vectors: ClassVar = (
        GoldenVector("[ts]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "0005b7cb6be58007"),
        GoldenVector(
            "[desc(ts)]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "7ffa4834941a7ff8"
        ),
        GoldenVector("[ts:u32]", {"ts": "timestamp_us"}, {"ts": 1609459200000007}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_us"},
            {"ts": 1609459200000007},
            "3230323130313031303030303030303030303037",
        ),
    )


class TimestampNsField(TimestampField):
    """Instants in nanoseconds since 1970, UTC."""

    name = "timestamp_ns"
    unit = "ns"
    units_per_second = 1_000_000_000
    unit_ns = 1
    vectors: ClassVar = (
        GoldenVector(
            "[ts]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "1655f29d787c0007"
        ),
        GoldenVector(
            "[desc(ts)]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "69aa0d628783fff8"
        ),
        GoldenVector("[ts:u32]", {"ts": "timestamp_ns"}, {"ts": 1609459200000000007}, "5fee6600"),
        GoldenVector(
            "[ts:calendar]",
            {"ts": "timestamp_ns"},
            {"ts": 1609459200000000007},
            "3230323130313031303030303030303030303030303037",
        ),
    )
