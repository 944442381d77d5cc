"""The rule `grows_without_end`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class GrowsWithoutEnd(Rule):
    """A steady stream of events into a table that forgets nothing.

    What it does: where a rate is declared and no time to live, computes what a year adds.

    Why it hurts: nobody decided how long the data is kept, until the disks are full. Deleting by
    hand costs a scan and a tombstone a row.

    Use instead: a time to live, even of years; or allow it, where all must be kept, and say for how
    many years the disks reach.

    Source: HBase book, "Time To Live (TTL)"; claim 5, bytes before encoding and compression.
    """

    name = "grows_without_end"
    code = "RK802"
    severity: ClassVar[Severity] = "info"
    claims = (5, 28)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
compression = "ZSTD"

[writes]
rate = "5000/s"
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
compression = "ZSTD"
ttl         = "1d"

[writes]
rate = "50/s"
"""
    MUCH = 2**40
    """Bytes a year from which it is said: a TiB."""
    YEAR_S = 31_536_000

    def findings(self, subject: Subject) -> Iterator[Finding]:
        rate = subject.design.writes.rate
        forever = [n for n, family in subject.families.items() if family.ttl_s == FOREVER_S]
        if rate is None or not forever or subject.design.writes.time is None:
            return
        size = rate * self.YEAR_S * subject.event_bytes
        if size >= self.MUCH:
            yield self.finding(
                subject.at("writes", "rate"),
                f"{rate:,.0f} events a second add {size / 2**40:,.0f} TiB a year before "
                f"compression, and family {forever[0]} keeps all of it",
                "Give the family a ttl.",
                value=rate,
                year_bytes=round(size),
            )
