"""The rule `fewer_regions_than_servers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.schema import Call, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FewerRegionsThanServers(Rule):
    """Fewer regions than servers.

    What it does: compares the regions that the table is created with and the servers.

    Why it hurts: a region is on one server, so the others take no part, and wait until regions
    split.

    Use instead: as many regions as servers, or a multiple.

    Source: claim 72 gives 5 to 10 regions to a table below 50 GB, whatever the servers: right only
    where there are no more of them. HBase book: start with about 10 a server, all tables together.
    """

    name = "fewer_regions_than_servers"
    code = "RK205"
    severity: ClassVar[Severity] = "warning"
    claims = (72, 75)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "uniform", regions = 4, first = "\\\\x00", last = "\\\\x0F" }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or "moving_front" in subject.causes:
            return
        few = subject.causes.get("few_entities")
        if few is not None and few.evidence["values"] < servers:
            return  # a value lies in one region: more of them than values stay empty
        count = len(boundaries)
        if 1 < count < servers:
            idle = servers - count
            wanted = subject.sizing.regions
            remedy = f"Take {wanted}."
            if self._is_numbered(subject):
                wanted = -(-wanted // servers) * servers
                remedy = f"Take {wanted} buckets, which are regions{subject.asked_then(wanted)}."
            yield self.finding(
                "splits",
                f"{counted(count, 'region')} on {counted(servers, 'server')}: {idle} "
                f"take{'s' * (idle == 1)} no part "
                "until regions split",
                remedy,
                value=count,
                verdict="5 to 10 regions, as of a small table, keep no more servers busy.",
                servers=servers,
                proposed=wanted,
            )

    @staticmethod
    def _is_numbered(subject: Subject) -> bool:
        """Whether each region is a bucket, and their number is declared with the part."""
        term = next((one for one in subject.key.terms if not isinstance(one, Constant)), None)
        is_counted = isinstance(term, Call) and term.scalars[:1] == (subject.buckets,)
        return is_counted and subject.design.cut.algorithm == "per_bucket"
