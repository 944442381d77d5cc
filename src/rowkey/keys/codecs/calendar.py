"""Times and dates as decimal digits that read like a calendar and sort like one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.traits import DIGITS, Framing

if TYPE_CHECKING:
    from rowkey.keys.batches.pieces import Ints, Pieces

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z, the last second of four-digit years."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days since 1970."""


class Calendar(Codec):
    """Digits yyyyMMddHHmmss in UTC, and those of the fraction of a second.

    Args:
        per_second: units of the held numbers in a second: 1, 10^3, 10^6 or 10^9.
    """

    alphabet = DIGITS

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second
        self.fraction = len(str(per_second)) - 1
        self.framing = Framing.fixed(14 + self.fraction)

    def pack(self, held: int) -> bytes:
        seconds, rest = divmod(held, self.per_second)
        if not 0 <= seconds <= LAST_SECOND:
            raise Refused("", f"{held} is outside the calendar", "the years 1970 to 9999")
        digits = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y%m%d%H%M%S")
        return f"{digits}{rest:0{self.fraction}d}".encode() if self.fraction else digits.encode()

    def unpack(self, piece: bytes) -> int:
        instant = _instant(piece[:14])
        rest = piece[14:]
        if rest and not (rest.isdigit() and rest.isascii()):
            raise Refused("", f"{piece!r} is not a time", "digits")
        seconds = (instant - _EPOCH) // timedelta(seconds=1)
        if seconds < 0:
            raise Refused("", f"{piece!r} is before 1970")
        return seconds * self.per_second + int(rest or b"0")

    def pack_batch(self, held: Ints) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed

        seconds, rest = np.divmod(held, held.dtype.type(self.per_second))
        for extreme in (seconds.min(), seconds.max()) if len(seconds) else ():
            if not 0 <= int(extreme) <= LAST_SECOND:
                raise Refused("", f"{extreme} s is outside the calendar", "the years 1970 to 9999")
        days, clock = np.divmod(seconds.astype(np.int64), _DAY_S)
        time = clock // 3600 * 10_000 + clock // 60 % 60 * 100 + clock % 60
        columns = [(_civil(days), 8), (time, 6), (rest.astype(np.int64), self.fraction)]
        return Fixed(_digits(columns, len(held)))


class CalendarDate(Codec):
    """Digits yyyyMMdd of a date held as days since 1970."""

    alphabet = DIGITS

    def __init__(self) -> None:
        self.framing = Framing.fixed(8)

    def pack(self, held: int) -> bytes:
        _check_days(held)
        day = _EPOCH.date() + timedelta(days=held)
        return f"{day.year:04d}{day.month:02d}{day.day:02d}".encode()

    def unpack(self, piece: bytes) -> int:
        return (_instant(piece + b"000000") - _EPOCH) // timedelta(days=1)

    def pack_batch(self, held: Ints) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed

        for extreme in (held.min(), held.max()) if len(held) else ():
            _check_days(int(extreme))
        return Fixed(_digits([(_civil(held), 8)], len(held)))


def _check_days(days: int) -> None:
    """Refuse days that the calendar does not have, such as the start of a stretch before it.

    Raises:
        Refused: there is no such day.
    """
    if not FIRST_DAY <= days <= LAST_DAY:
        raise Refused("", f"{days} days since 1970 are outside the calendar", "the years 1 to 9999")


def _instant(digits: bytes) -> datetime:
    """The instant of the digits yyyyMMddHHmmss."""
    try:
        instant = datetime.strptime(digits.decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        instant = None
    if instant is None or not digits.isdigit():
        raise Refused("", f"{digits!r} is not in the calendar", "digits yyyyMMddHHmmss")
    return instant


def _civil(days: Ints) -> Ints:
    """Days since 1970 as the numbers yyyymmdd."""
    import numpy as np

    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    counted = months.astype(np.int64)
    day = (dates - months).astype(np.int64) + 1
    civil: Ints = (counted // 12 + 1970) * 10_000 + (counted % 12 + 1) * 100 + day
    return civil


def _digits(columns: list[tuple[Ints, int]], count: int) -> Ints:
    """Numbers as decimal digits of fixed widths, side by side."""
    import numpy as np

    width = sum(digits for _, digits in columns)
    out = np.empty((count, width), np.uint8)
    at = 0
    for numbers, digits in columns:
        left = numbers
        for column in range(at + digits - 1, at - 1, -1):
            left, digit = np.divmod(left, 10)
            out[:, column] = digit + 48
        at += digits
    return out.view(f"V{width}").reshape(count)
