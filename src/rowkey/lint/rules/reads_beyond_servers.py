"""The rule `reads_beyond_servers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ReadsBeyondServers(Rule):
    """More ranges a second than the servers can open.

    What it does: multiplies the rate of each read by its ranges, adds the rate of the writes, and
    compares that with what the servers take, where the file tells all of it.

    Why it hurts: each range is a request at the least. A read that asks 16 buckets makes 16 of one,
    and what looked like a tenth of the capacity is more than all of it.

    Use instead: a bucket of fields that the read gives, so that it asks one; fewer buckets; more
    servers.

    Source: claim 38, n buckets are n scans; claim 75, scans ask for fewer regions and writes for
    more, is the same trade. A scan of one region is an RPC at the least: ScanRequest.
    """

    name = "reads_beyond_servers"
    code = "RK610"
    severity: ClassVar[Severity] = "error"
    claims = (38, 75, 78)
    bad = """\
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
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        cluster, writes = subject.cluster, subject.design.writes.rate or 0.0
        if cluster.capacity is None:
            return
        most = cluster.capacity * cluster.servers
        asked = [
            (one.read.rate * one.plan.fan_out, index)
            for index, one in enumerate(subject.reads)
            if one.plan is not None and one.read.rate is not None and one.plan.fan_out
        ]
        total = sum(rate for rate, _ in asked) + writes
        if not asked or total <= most or writes > most:
            return
        heaviest, index = max(asked)
        one = subject.reads[index]
        ranges = 1 if one.plan is None else one.plan.fan_out
        yield self.finding(
            subject.at("reads", index, "rate"),
            f"reads and writes make {total:,.0f} requests a second, and "
            f"{counted(cluster.servers, 'server')} "
            f"take {most:,.0f}: {one.read.name} alone makes {heaviest:,.0f}, "
            f"{ranges:,} for each answer",
            "Let it ask fewer ranges, or take more servers.",
            value=one.read.name,
            requests=total,
            capacity=most,
            heaviest=heaviest,
            ranges=ranges,
        )
