"""The rule `many_regions`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ManyRegions(Rule):
    """There are more regions than the servers should hold or the data fills.

    What it does: compares the regions that the table is created with with what the HBase book
    allows for each server, and, where rate and ttl tell how large the table becomes, with what its
    data fills.

    Why it hurts: each region has a memstore and files for every family. Small regions are flushed
    and compacted for little, a restart opens all of them, and a full scan asks each.

    Use instead: about ten for each server to start with, as a multiple of the servers, and fewer
    for a small table; a region splits by itself when it has grown.

    Source: claim 74, the book's figures: 20 to 200 regions a server for all tables, about 10 to
    start with, 50 to 100 a table of one or two families. Claim 75, scans ask for fewer regions.
    """

    name = "many_regions"
    code = "RK801"
    concerns_regions = True
    severity: ClassVar[Severity] = "warning"
    claims = (74, 75)
    bad_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 2000 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 80 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    MAX_REGIONS_PER_SERVER = 200
    """Regions of one server, all tables together: HBase book."""
    START_REGIONS_PER_SERVER = 10
    """Regions of one server to start with: HBase book."""
    SMALL_REGION_BYTES = 1 << 30
    """Bytes below which a region is small: its whole data fits into eight memstore flushes."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if there are more regions than servers or data justify."""
        if subject.boundaries is None or not subject.is_declared("splits"):
            return
        regions, servers = len(subject.boundaries), subject.cluster.servers
        size, proposed_regions = subject.demand.size, subject.sizing.regions
        each = regions / servers
        if each > self.MAX_REGIONS_PER_SERVER:
            problem = (
                f"the HBase book allows {self.MAX_REGIONS_PER_SERVER} on a server for all "
                "tables together"
            )
        elif (
            size
            and each > self.START_REGIONS_PER_SERVER
            and size / regions < self.SMALL_REGION_BYTES
            and regions > proposed_regions
        ):
            problem = (
                f"each region holds only {size / regions / 2**20:,.0f} MiB "
                f"{subject.demand.compression_phrase} once the table has its full size"
            )
        else:
            return
        is_small = each <= self.MAX_REGIONS_PER_SERVER
        start = proposed_regions
        if not is_small:
            start = min(
                max(start, self.START_REGIONS_PER_SERVER * servers),
                self.MAX_REGIONS_PER_SERVER * servers,
            )
        min_servers = subject.count_needed_servers()
        server_advice = (
            f", and raise MAX_FILESIZE; or use {min_servers:,} servers or more"
            if min_servers > servers
            else ""
        )
        yield self.build_finding(
            "splits",
            f"{pluralize(regions, 'region')} on {pluralize(servers, 'server')} make "
            f"{each:,.0f} on each server, and {problem}",
            f"Use {start:,} regions or fewer, as a multiple of {servers:,}{server_advice}.",
            severity="info" if is_small else "warning",
            value=regions,
            verdict="The HBase book: 20 to 200 regions for each server, about 10 to start with.",
            regions=regions,
            per_server=each,
            size=size or None,
            wanted=proposed_regions,
        )
