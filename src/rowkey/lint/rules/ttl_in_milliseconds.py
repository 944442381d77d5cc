"""The rule `ttl_in_milliseconds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TtlInMilliseconds(Rule):
    """A time to live that reads like milliseconds.

    What it does: looks for a time to live that is written as a bare number, is a usual span in
    milliseconds, as five, ten or thirty minutes, some hours or whole days are, and is no whole
    number of weeks, months or years in seconds; from ten years on for any number that thousand
    divides.

    Why it hurts: a family's time to live is in seconds. 86400000 is not a day, it is 1,000 days;
    604800000 is not 7 days, it is 19 years, and the table grows for ever. The 2592000000 ms of 30
    days are more than HBase can store, and refused.

    Use instead: a number with its unit, `ttl = "30d"`.

    Source: HBase book, "Time To Live": seconds of a family, milliseconds of a cell; claims 28 and
    30 agree. 2147483647 is for ever.
    """

    name = "ttl_in_milliseconds"
    code = "RK403"
    severity: ClassVar[Severity] = "warning"
    claims = (28, 30)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = 2000000000
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""
    LONG = 10 * 365 * 86_400
    """Seconds from which a bare number is taken for milliseconds: ten years."""
    MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
    """Milliseconds of them."""
    MINUTES = (5, 10, 30)
    """Minutes that a time to live is usually given in."""
    HOURS = (1, 2, 3, 4, 6, 8, 12, 36)
    """Hours that a time to live is usually given in, where it is no whole number of days."""
    SPANS = tuple(days * 86_400 for days in (7, 30, 365))
    """Seconds whose multiples are a usual span in seconds as well."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            given = subject.design.declaration.families.get(name, {}).get("ttl")
            if not isinstance(given, int) or family.ttl_s == FOREVER_S:
                continue
            if self._is_long(given) or self._is_usual(given):
                yield self.finding(
                    subject.at("families", name, "ttl"),
                    f"{given} seconds are {self._seconds(given)}; as milliseconds they were "
                    f"{self._milliseconds(given)}",
                    'Write it with its unit, such as "30d".',
                    value=given,
                    verdict="A family's time to live is in seconds, a cell's in milliseconds.",
                )

    @classmethod
    def _is_long(cls, given: int) -> bool:
        return given >= cls.LONG and given % 1_000 == 0

    @classmethod
    def _is_usual(cls, given: int) -> bool:
        """Whether a number is a usual span in milliseconds, and none in seconds."""
        if not given or any(given % span == 0 for span in cls.SPANS):
            return False
        hours, rest = divmod(given, cls.HOUR)
        is_day = given % cls.DAY == 0
        is_short = given in [cls.MINUTE * minutes for minutes in cls.MINUTES]
        return is_day or is_short or (not rest and hours in cls.HOURS)

    @staticmethod
    def _seconds(given: int) -> str:
        """A number of seconds in years, or in days below ten of them."""
        years, days = given / 31_536_000, given / 86_400
        return (
            f"{years:,.0f} years"
            if years >= TtlInMilliseconds.LONG / 31_536_000
            else (f"{days:,.3g} days" if days < 1_000 else f"{days:,.0f} days")
        )

    @classmethod
    def _milliseconds(cls, given: int) -> str:
        """A number of milliseconds in days, or in hours or minutes where it is less than one."""
        for unit, name in ((cls.DAY, "day"), (cls.HOUR, "hour"), (cls.MINUTE, "minute")):
            if given >= unit:
                many = given / unit
                return f"{many:,.3g} {name}{'s' * (many != 1)}"
        return f"{given} ms"
