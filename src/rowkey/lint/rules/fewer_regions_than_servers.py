"""The rule `fewer_regions_than_servers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.schema import Constant, FunctionCall

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class FewerRegionsThanServers(Rule):
    """The table starts with fewer regions than there are servers.

    What it does: compares the regions that the table is created with and the servers.

    Why it hurts: a region is on one server, so the other servers do nothing until regions split.

    Use instead: as many regions as servers, or a multiple.

    Source: claim 72 gives 5 to 10 regions to a table below 50 GB, whatever the servers: right only
    where there are no more of them. HBase book: start with about 10 a server, all tables together.
    """

    name = "fewer_regions_than_servers"
    code = "RK205"
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "warning"
    claims = (72, 75)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "uniform", regions = 4, first = "\\\\x00", last = "\\\\x0F" }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table is created with fewer regions than servers."""
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or "moving_front" in subject.causes:
            return
        cause = subject.causes.get("few_entities")
        if cause is not None and cause.evidence["values"] < servers:
            return  # each value lies in one region, so more regions than values stay empty
        if self._has_region_per_bucket(subject) and subject.writes_at_the_end_of_buckets:
            return  # RK124 names the number of buckets
        count = len(boundaries)
        if 1 < count < servers:
            idle = servers - count
            target = subject.sizing.regions
            remedy = f"Use {target} regions."
            if "missed_splits" in subject.causes:
                remedy = "Split the table as RK201 says."
            elif subject.outgrows_its_splits:
                remedy = "Split the table as RK802 says."
            elif self._has_region_per_bucket(subject):
                target = -(-target // servers) * servers
                remedy = (
                    f"Use {target} buckets, one region each{subject.format_fan_out_change(target)}."
                )
            yield self.build_finding(
                "splits",
                f"the table starts with {pluralize(count, 'region')} on "
                f"{pluralize(servers, 'server')}, so {pluralize(idle, 'server')} "
                f"{'is' if idle == 1 else 'are'} idle until regions split",
                remedy,
                value=count,
                verdict="5 to 10 regions keep at most as many servers busy.",
                servers=servers,
                proposed=target,
            )

    @staticmethod
    def _has_region_per_bucket(subject: LintSubject) -> bool:
        """Return whether each bucket is one region and the key declares the bucket count."""
        term = next((one for one in subject.key.terms if not isinstance(one, Constant)), None)
        is_counted = isinstance(term, FunctionCall) and term.scalars[:1] == (subject.bucket_count,)
        return is_counted and subject.design.splits.algorithm == "per_bucket"
