"""The rule `endless_growth`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.regions import MAX_FILE_SIZE
from rowkey.workload import standing_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EndlessGrowth(Rule):
    """A table that takes rows at a known rate and keeps them for ever.

    What it does: where each event is a row of its own time, and the file declares a rate and its
    families, none of them with a ttl, it computes the bytes that stay of a day, where a row that is
    written again counts once for each version kept, and the days until the regions are full, before
    encoding and compression.

    Why it hurts: sizes and numbers of regions hold for that many days. After them every region
    splits, and splits again, as long as the table lives; the servers' disks are the only limit.

    Use instead: a ttl, if rows are read for a time only; else regions for the years they are meant
    for, and a greater MAX_FILESIZE.

    Source: claim 28, the time to live is FOREVER by default, 2,147,483,647 s; claim 70, a region
    splits by itself above 10 GiB. Days are regions · 10 GiB / (bytes that stay of a day).
    """

    name = "endless_growth"
    code = "RK803"
    severity: ClassVar[Severity] = "info"
    claims = (28, 70)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate = "100/s"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"
ttl         = "30d"

[writes]
rate = "100/s"
"""
    DAY_S = 86_400
    SOON = 365
    """Days within which the regions are full that are worth a word."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        rate, time = subject.design.writes.rate, subject.design.writes.time
        is_kept = all(family.ttl_s == FOREVER_S for family in subject.families.values())
        if rate is None or not is_kept or subject.boundaries is None:
            return
        if time is None or time.name not in subject.design.layout.identity:
            return
        if not subject.says("families"):
            return
        regions, a_day = len(subject.boundaries), self._stays(subject) / self.SOON
        if not a_day:
            return
        days = regions * MAX_FILE_SIZE / a_day
        if days > self.SOON:
            return
        name = next(iter(subject.families))
        yield self.finding(
            subject.nearest("families", name),
            f"{a_day / 2**30:,.3g} GiB come a day and stay for ever: "
            f"{counted(regions, 'region')} of 10 GiB "
            f"are full after {days:,.0f} days",
            "Declare a ttl, or create regions for the years that it is meant for.",
            value="FOREVER",
            verdict="A region splits by itself above 10 GiB, not at 6 to 8.",
            bytes_a_day=a_day,
            days=days,
            regions=regions,
        )

    @classmethod
    def _stays(cls, subject: Subject) -> float:
        """Bytes that stay of so many days' events, once rows are counted once that come again."""
        design, lasting = subject.design, cls.SOON * cls.DAY_S
        families = {n: replace(each, ttl_s=lasting) for n, each in subject.families.items()}
        event_bytes = design.layout.family_bytes(subject.key_bytes, subject.facts)
        return standing_bytes(design.layout, families, design.writes, event_bytes) or 0.0
