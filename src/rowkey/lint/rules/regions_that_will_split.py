"""The rule `regions_that_will_split`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.regions import MAX_FILE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class RegionsThatWillSplit(Rule):
    """Regions that will be larger than HBase lets them be.

    What it does: where rate and time to live tell the size of the table, divides it by its regions,
    and compares with 10 GB, above which a region splits by itself.

    Why it hurts: the regions double in number at a time that nobody chose, all within days of each
    other, for they are equally large.

    Use instead: as many regions as the size asks for at once; or raise MAX_FILESIZE, to 50 GB at
    most.

    Source: hbase.hregion.max.filesize, 10 GB; the book has 10 to 50 GB. Claim 70 has 6 to 8 GB,
    claim 73 size / 10 GB and at most 120: 10 TB in 120 are 85 GB each, which split anyway.
    """

    name = "regions_that_will_split"
    code = "RK207"
    severity: ClassVar[Severity] = "info"
    claims = (70, 73)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl         = "365d"
compression = "ZSTD"

[writes]
rate = "500/s"
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
ttl         = "7d"
compression = "ZSTD"

[writes]
rate = "500/s"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        boundaries, size = subject.boundaries, subject.demand.size
        if boundaries is None or not size or len(boundaries) == 1:
            return
        each = size / len(boundaries)
        if each > MAX_FILE_SIZE:
            yield self.finding(
                "splits",
                f"{size / 2**30:,.0f} GiB in {len(boundaries):,} regions are {each / 2**30:,.0f} "
                "GiB each before compression, and they split above 10",
                self._remedy(subject, -(-size // MAX_FILE_SIZE)),
                value=len(boundaries),
                verdict="120 regions are no upper bound: larger ones split by themselves.",
                size=size,
                proposed=subject.sizing.regions,
            )

    @staticmethod
    def _remedy(subject: Subject, wanted: int) -> str:
        """As many regions as are wanted, where the servers have memory for them."""
        if subject.sizing.regions >= wanted:
            return f"Create {subject.sizing.regions:,} regions, or raise MAX_FILESIZE."
        return (
            f"{wanted:,} would be right and there is memory for {subject.sizing.regions:,}: raise "
            "MAX_FILESIZE, or take more heap, more servers or a shorter ttl."
        )
