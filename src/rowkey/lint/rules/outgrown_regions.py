"""The rule `outgrown_regions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.regions import ARTICLE, MAX_FILE_SIZE, servers_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class OutgrownRegions(Rule):
    """Fewer regions than the table will fill.

    What it does: computes from rate and ttl, from the rows that there can be and the versions that
    are kept how large the table becomes, before encoding and compression, and compares that with
    its regions at 10 GiB each. What is written again does not count.

    Why it hurts: a region above hbase.hregion.max.filesize splits by itself, under load and all of
    them at about the same time; buckets of one region become two whose boundary nobody chose.

    Use instead: the regions that the size asks for, from the start, on servers that carry as many;
    or a greater MAX_FILESIZE.

    Source: claim 70, 6 to 8 GB a region: the default limit is 10 GiB, the book has 10 to 50, and
    at most 200 regions a server. Claim 73, size / 10 GB with a cap of 120, contradicts itself:
    10 TB in 120 regions are 85.3 GB each, which split anyway; it says nothing between 50 and 500
    GB. Claim 72, 5 to 10 regions below 50 GB, holds if every server has one.
    """

    name = "outgrown_regions"
    code = "RK802"
    severity: ClassVar[Severity] = "warning"
    claims = (63, 70, 72, 73)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "per_bucket", regions = 16 }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
ttl         = "90d"

[writes]
rate = "5000/s"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "per_bucket", regions = 16 }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
ttl         = "1d"

[writes]
rate = "5000/s"
"""
    GB = 1 << 30
    SHRUNK = 5
    """Times 10 GiB from which it is a warning, as encoding and compression will hardly make a fifth
    of it: a choice of ours."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        size = subject.demand.size
        if subject.boundaries is None or not subject.says("splits") or not size:
            return
        regions, wanted = len(subject.boundaries), subject.sizing.regions
        each = size / regions
        if each <= MAX_FILE_SIZE:
            return
        yield self.finding(
            "splits",
            f"the table becomes {size / self.GB:,.0f} GiB, so each of its "
            f"{counted(regions, 'region')} "
            f"{each / self.GB:,.1f}, and a region splits by itself above 10",
            self._remedy(subject, wanted, regions),
            severity="warning" if each > self.SHRUNK * MAX_FILE_SIZE else "info",
            value=regions,
            verdict=self._verdict(size),
            size=size,
            regions=regions,
            region_bytes=each,
            wanted=wanted,
            opinions=[f"{o.source}: {o.reason}" for o in subject.sizing.opinions],
        )

    @staticmethod
    def _remedy(subject: Subject, wanted: int, regions: int) -> str:
        """More regions, where the servers carry as many."""
        needed = servers_for(subject.demand)
        if needed > subject.cluster.servers:
            return f"Take {needed:,} servers or more, or raise MAX_FILESIZE."
        if wanted > regions:
            return f"Create {counted(wanted, 'region')}, or raise MAX_FILESIZE."
        return "Raise MAX_FILESIZE, or take more servers."

    @classmethod
    def _verdict(cls, size: int) -> str:
        """What an article's table says of this size, where it cannot be followed."""
        size_gb = size / cls.GB
        if 50 <= size_gb < 500:
            return f"The table of the {ARTICLE} says nothing between 50 and 500 GB."
        if 1_200 < size_gb <= 10_240:
            return (
                f"The cap of 120 regions in the {ARTICLE} would make {size_gb / 120:,.1f} GB each, "
                "which split anyway."
            )
        return ""
