"""The rule `ttl_in_milliseconds`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.messages import format_number

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TtlInMilliseconds(Rule):
    """The time to live looks like milliseconds, but HBase reads seconds.

    What it does: looks for a ttl that is a bare number and a usual duration in milliseconds (five,
    ten or thirty minutes, some hours, whole days), but no whole number of weeks, months or years in
    seconds; and, from ten years on, for any multiple of a thousand.

    Why it hurts: a family's ttl is in seconds. 86400000 is not a day but 1,000 days; 604800000 is
    not 7 days but 19 years, and the table grows for ever. 2592000000, 30 days in milliseconds, is
    more than HBase can store and is rejected.

    Use instead: a number with its unit, `ttl = "30d"`.

    Source: HBase book, "Time To Live": seconds of a family, milliseconds of a cell; claims 28 and
    30 agree. 2147483647 is for ever.
    """

    name = "ttl_in_milliseconds"
    code = "RK403"
    severity: ClassVar[Severity] = "warning"
    claims = (28, 30)
    bad_design = """\
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
    good_design = """\
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
    MAX_TTL_S = 10 * 365 * 86_400
    """Seconds from which a bare number is taken for milliseconds: ten years."""
    MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
    """Milliseconds of a minute, an hour and a day."""
    USUAL_MINUTES = (5, 10, 30)
    """Usual TTLs in minutes."""
    USUAL_HOURS = (1, 2, 3, 4, 6, 8, 12, 36)
    """Usual TTLs in hours, besides whole days."""
    USUAL_SPANS_S = tuple(days * 86_400 for days in (7, 30, 365))
    """Multiples of these numbers are usual TTLs in seconds."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each ttl that looks like milliseconds."""
        for name, family in subject.families.items():
            ttl = subject.design.declaration.families.get(name, {}).get("ttl")
            if not isinstance(ttl, int) or family.ttl_s == FOREVER_S:
                continue
            if self._is_long(ttl) or self._is_usual_in_ms(ttl):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"{ttl} seconds are {self._format_seconds(ttl)}; {ttl} milliseconds "
                    "would be "
                    f"{self._format_milliseconds(ttl)}",
                    'Write the ttl with its unit, such as "30d".',
                    value=ttl,
                    verdict="The ttl of a family is in seconds, that of a cell in milliseconds.",
                )

    @classmethod
    def _is_long(cls, ttl: int) -> bool:
        """Return whether a ttl is so long that milliseconds were probably meant."""
        return ttl >= cls.MAX_TTL_S and ttl % 1_000 == 0

    @classmethod
    def _is_usual_in_ms(cls, ttl: int) -> bool:
        """Return whether a number is a usual time span in milliseconds and not in seconds."""
        if not ttl or any(ttl % span == 0 for span in cls.USUAL_SPANS_S):
            return False
        hours, remainder = divmod(ttl, cls.HOUR_MS)
        is_day = ttl % cls.DAY_MS == 0
        is_short = ttl in [cls.MINUTE_MS * minutes for minutes in cls.USUAL_MINUTES]
        return is_day or is_short or (not remainder and hours in cls.USUAL_HOURS)

    @staticmethod
    def _format_seconds(ttl: int) -> str:
        """Return a number of seconds as years, or as days below ten years."""
        years, days = ttl / 31_536_000, ttl / 86_400
        return (
            f"{years:,.0f} years"
            if years >= TtlInMilliseconds.MAX_TTL_S / 31_536_000
            else f"{format_number(days)} days"
        )

    @classmethod
    def _format_milliseconds(cls, ttl: int) -> str:
        """Return a number of milliseconds as days, hours or minutes."""
        for unit, name in ((cls.DAY_MS, "day"), (cls.HOUR_MS, "hour"), (cls.MINUTE_MS, "minute")):
            if ttl >= unit:
                many = ttl / unit
                return f"{format_number(many)} {name}{'s' * (many != 1)}"
        return f"{ttl} ms"
