"""Durations, rates and sizes, as they are written in a design file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rowkey.errors import InvalidArgument

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
SIZE_UNITS = {
    "": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
}  # fmt: skip
MAX_DIGITS = 18

_AMOUNT_PATTERN = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) *([A-Za-z]*)")


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration with its unit: `1h` and `60m` are equally long, but each prints as it was written.

    >>> Duration(90, "s").nanoseconds
    90000000000
    """

    count: int
    unit: str

    @property
    def nanoseconds(self) -> int:
        """The duration in nanoseconds."""
        return self.count * NANOSECONDS[self.unit]

    def __str__(self) -> str:
        return f"{self.count}{self.unit}"


def parse_duration(text: str) -> Duration:
    """Return the duration that a text such as `30d` describes.

    Raises:
        InvalidArgument: the text is not a whole number and one of ns us ms s m h d.

    >>> parse_duration("30d")
    Duration(count=30, unit='d')
    """
    match = _AMOUNT_PATTERN.fullmatch(text) if len(text) <= 64 else None
    if match is None or match[2] not in NANOSECONDS or "." in match[1]:
        raise InvalidArgument(
            "",
            f"{text[:64]!r} is not a length of time",
            "a whole number and one of ns, us, ms, s, m, h or d, such as 30d",
        )
    return Duration(int(match[1]), match[2])


def parse_rate(text: str) -> float:
    """Return operations per second from `5000/s`, `10/m`, `3/h` or `1/d`.

    Raises:
        InvalidArgument: the text is not a number, a slash and a unit of time.

    >>> parse_rate("90/m")
    1.5
    """
    amount, slash, unit = text[:64].partition("/")
    match = _AMOUNT_PATTERN.fullmatch(amount.strip())
    if not slash or match is None or match[2] or unit.strip() not in NANOSECONDS:
        raise InvalidArgument(
            "", f"{text[:64]!r} is not a rate", "a number per unit of time, such as 5000/s"
        )
    return float(match[1]) * NANOSECONDS["s"] / NANOSECONDS[unit.strip()]


def parse_size(text: str) -> int:
    """Return the number of bytes from `10GiB`, `500 MB` or a number without a unit.

    Raises:
        InvalidArgument: the text is not a number and a unit of bytes.

    >>> parse_size("10GiB"), parse_size("1.5 kB")
    (10737418240, 1500)
    """
    match = _AMOUNT_PATTERN.fullmatch(text) if len(text) <= 64 else None
    if match is None or match[2] not in SIZE_UNITS:
        raise InvalidArgument(
            "",
            f"{text[:64]!r} is not a size",
            "a number and one of B, kB, MB, GB, KiB, MiB or GiB, such as 16GiB",
        )
    return round(float(match[1]) * SIZE_UNITS[match[2]])
