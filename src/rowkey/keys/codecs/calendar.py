"""Times and dates as decimal digits that read like a calendar and sort like one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn, IntArray
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.traits import DIGITS, Framing

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z, the last second of four-digit years."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days since 1970."""


class CalendarTimeCodec(Codec):
    """Digits yyyyMMddHHmmss in UTC, and those of the fraction of a second.

    Args:
        units_per_second: units of the numbers in a second: 1, 10^3, 10^6 or 10^9.
    """

    alphabet = DIGITS

    def __init__(self, units_per_second: int) -> None:
        self.units_per_second = units_per_second
        self.fraction_digits = len(str(units_per_second)) - 1
        self.framing = Framing.from_width(14 + self.fraction_digits)

    def pack(self, internal: int) -> bytes:
        seconds, fraction = divmod(internal, self.units_per_second)
        if not 0 <= seconds <= LAST_SECOND:
            raise InvalidArgument(
                "",
                f"the time {internal} is outside of the calendar",
                "a time in the years 1970 to 9999",
            )
        digits = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y%m%d%H%M%S")
        return (
            f"{digits}{fraction:0{self.fraction_digits}d}".encode()
            if self.fraction_digits
            else digits.encode()
        )

    def unpack(self, piece: bytes) -> int:
        instant = _parse_instant(piece[:14])
        fraction = piece[14:]
        if fraction and not (fraction.isdigit() and fraction.isascii()):
            raise InvalidArgument("", f"the bytes {piece!r} are not a time", "digits alone")
        seconds = (instant - _EPOCH) // timedelta(seconds=1)
        if seconds < 0:
            raise InvalidArgument("", f"the time {piece!r} is before 1970", "a time from 1970 on")
        return seconds * self.units_per_second + int(fraction or b"0")

    def pack_batch(self, internal: IntArray) -> ByteColumn:
        seconds, fractions = np.divmod(internal, internal.dtype.type(self.units_per_second))
        for extreme in (seconds.min(), seconds.max()) if len(seconds) else ():
            if not 0 <= int(extreme) <= LAST_SECOND:
                raise InvalidArgument(
                    "",
                    f"a time of {extreme} s since 1970 is outside of the calendar",
                    "times in the years 1970 to 9999",
                )
        days, clock = np.divmod(seconds.astype(np.int64), _DAY_S)
        time = clock // 3600 * 10_000 + clock // 60 % 60 * 100 + clock % 60
        columns = [
            (_to_civil_numbers(days), 8),
            (time, 6),
            (fractions.astype(np.int64), self.fraction_digits),
        ]
        return FixedByteColumn(_format_digits(columns, len(internal)))


class CalendarDateCodec(Codec):
    """Digits yyyyMMdd of a date, from its days since 1970."""

    alphabet = DIGITS

    def __init__(self) -> None:
        self.framing = Framing.from_width(8)

    def pack(self, internal: int) -> bytes:
        _check_days(internal)
        day = _EPOCH.date() + timedelta(days=internal)
        return f"{day.year:04d}{day.month:02d}{day.day:02d}".encode()

    def unpack(self, piece: bytes) -> int:
        return (_parse_instant(piece + b"000000") - _EPOCH) // timedelta(days=1)

    def pack_batch(self, internal: IntArray) -> ByteColumn:
        for extreme in (internal.min(), internal.max()) if len(internal) else ():
            _check_days(int(extreme))
        return FixedByteColumn(_format_digits([(_to_civil_numbers(internal), 8)], len(internal)))


def _check_days(days: int) -> None:
    """Raise an error unless a day lies in the calendar; an interval can start before it.

    Raises:
        InvalidArgument: the calendar has no such day.
    """
    if not FIRST_DAY <= days <= LAST_DAY:
        raise InvalidArgument(
            "", f"the date {days} days after 1970 is outside of the calendar", "the years 1 to 9999"
        )


def _parse_instant(digits: bytes) -> datetime:
    """Return the instant of the digits yyyyMMddHHmmss.

    Raises:
        InvalidArgument: the bytes are not a date and time.
    """
    try:
        instant = datetime.strptime(digits.decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        instant = None
    if instant is None or not digits.isdigit():
        raise InvalidArgument(
            "", f"the bytes {digits!r} are not a date and time", "digits yyyyMMddHHmmss"
        )
    return instant


def _to_civil_numbers(days: IntArray) -> IntArray:
    """Return days since 1970 as the numbers yyyymmdd."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    month_numbers = months.astype(np.int64)
    day = (dates - months).astype(np.int64) + 1
    civil: IntArray = (month_numbers // 12 + 1970) * 10_000 + (month_numbers % 12 + 1) * 100 + day
    return civil


def _format_digits(columns: list[tuple[IntArray, int]], count: int) -> IntArray:
    """Return columns of numbers as rows of decimal digits of fixed widths."""
    width = sum(digits for _, digits in columns)
    out = np.empty((count, width), np.uint8)
    at = 0
    for numbers, digits in columns:
        remaining = numbers
        for column in range(at + digits - 1, at - 1, -1):
            remaining, digit = np.divmod(remaining, 10)
            out[:, column] = digit + 48
        at += digits
    return out.view(f"V{width}").reshape(count)
