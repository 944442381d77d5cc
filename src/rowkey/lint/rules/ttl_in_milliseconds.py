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

    What it does: looks for a time to live of more than ten years, written as a bare number that
    thousand divides.

    Why it hurts: a family's time to live is in seconds. 2592000000 is not 30 days, it is 82 years,
    and the table grows for ever.

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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            given = subject.design.declaration.families.get(name, {}).get("ttl")
            if not isinstance(given, int) or family.ttl_s == FOREVER_S:
                continue
            if given >= self.LONG and given % 1_000 == 0:
                years, days = given / 31_536_000, given / 86_400_000
                yield self.finding(
                    subject.at("families", name, "ttl"),
                    f"{given} seconds are {years:.0f} years; as milliseconds they were "
                    f"{days:,.3g} days",
                    'Write it with its unit, such as "30d".',
                    value=given,
                    verdict="A family's time to live is in seconds, a cell's in milliseconds.",
                )
