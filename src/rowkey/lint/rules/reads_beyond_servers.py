"""The rule `reads_beyond_servers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ReadsBeyondServers(Rule):
    """The reads open more ranges a second than the servers can serve.

    What it does: multiplies the rate of each read by its ranges, adds the rate of the writes, and
    compares the sum with the capacity of the servers, where the file declares all of these.

    Why it hurts: each range is at least one request. A read over 16 buckets makes 16, so a load
    that looked like a tenth of the capacity exceeds it.

    Use instead: a bucket of fields that the read gives, so that it asks one; fewer buckets; more
    servers.

    Source: claim 38, n buckets are n scans; claim 75, scans ask for fewer regions and writes for
    more, is the same trade. A scan of one region is an RPC at the least: ScanRequest.
    """

    name = "reads_beyond_servers"
    code = "RK610"
    measured_by = "reads"
    severity: ClassVar[Severity] = "error"
    claims = (38, 75, 78)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[[reads]]
name  = "a moment"
where = "ts >= ? and ts < ?"
span  = "1s"
limit = 100
rate  = "15000/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[[reads]]
name  = "a moment"
where = "ts >= ? and ts < ?"
span  = "1s"
limit = 100
rate  = "1500/s"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if reads and writes exceed the capacity of the servers."""
        cluster, writes = subject.cluster, subject.design.writes.rate or 0.0
        if cluster.capacity_per_s is None:
            return
        capacity, reads = cluster.capacity_per_s * cluster.servers, subject.reads
        rates = [
            (one.read.rate * one.plan.fan_out, index)
            for index, one in enumerate(reads)
            if one.plan is not None and one.read.rate is not None and one.plan.fan_out
        ]
        total = sum(rate for rate, _ in rates) + writes
        if not rates or total <= capacity or writes > capacity:
            return
        heaviest, index = max(rates)
        one = reads[index]
        ranges = 1 if one.plan is None else one.plan.fan_out
        yield self.build_finding(
            f"{one.path}.rate",
            f"reads and writes make {total:,.0f} requests per second, but "
            f"{pluralize(cluster.servers, 'server')} can serve {capacity:,.0f}; the read "
            f"'{one.read.name}' alone makes {heaviest:,.0f}, {ranges:,} for each answer",
            "Let this read scan fewer ranges, or use more servers.",
            value=one.read.name,
            requests=total,
            capacity=capacity,
            heaviest=heaviest,
            ranges=ranges,
        )
