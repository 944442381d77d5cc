"""The rule `many_regions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.regions import servers_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ManyRegions(Rule):
    """More regions than the servers should hold, or than the data fills.

    What it does: compares the regions that the table is created with with what the book allows a
    server, and, where rate and ttl tell how large the table becomes, with what its data fills.

    Why it hurts: each region has a MemStore and files for every family. Small ones are flushed and
    compacted for little, a restart opens all of them, and a scan asks each.

    Use instead: about ten a server to start with, in a multiple of the servers; a region splits by
    itself when it has grown.

    Source: claim 74, the book's figures: 20 to 200 regions a server for all tables, about 10 to
    start with, 50 to 100 a table of one or two families. Claim 75, scans ask for fewer regions.
    """

    name = "many_regions"
    code = "RK801"
    severity: ClassVar[Severity] = "warning"
    claims = (74, 75)
    bad = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 2000 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    good = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 80 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    MOST = 200
    """Regions of one server, all tables together: HBase book."""
    START = 10
    """Regions of one server to start with: HBase book."""
    SMALL = 1 << 30
    """Bytes of a region below which its MemStore could be flushed eight times and be all of it."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if subject.boundaries is None or not subject.says("splits"):
            return
        regions, servers = len(subject.boundaries), subject.cluster.servers
        size, wanted = subject.demand.size, subject.sizing.regions
        each = regions / servers
        if each > self.MOST:
            said = f"the book allows {self.MOST} for all tables together"
        elif size and each > self.START and size / regions < self.SMALL and regions > wanted:
            said = f"each holds {size / regions / 2**20:,.0f} MiB once the table is full"
        else:
            return
        start = min(max(wanted, self.START * servers), self.MOST * servers)
        needed = servers_for(subject.demand)
        more = (
            f", and raise MAX_FILESIZE; or take {needed:,} servers or more"
            if needed > servers
            else ""
        )
        yield self.finding(
            "splits",
            f"{counted(regions, 'region')} on {counted(servers, 'server')} are {each:,.0f} a "
            f"server, and {said}",
            f"Take {start:,} or fewer, in a multiple of {servers:,}{more}.",
            severity="warning" if each > self.MOST else "info",
            value=regions,
            verdict="The book has 20 to 200 regions a server, and starts with about 10.",
            regions=regions,
            per_server=each,
            size=size or None,
            wanted=wanted,
        )
