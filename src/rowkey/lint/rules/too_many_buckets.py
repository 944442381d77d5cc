"""The rule `too_many_buckets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TooManyBuckets(Rule):
    """More buckets than a scan should ask.

    What it does: for each declared read that asks every bucket, or every salt, compares their
    number with the servers.

    Why it hurts: each is a range of its own, opened, read and merged: 100 buckets are 100 scans for
    one answer. Beyond one or two a server, more of them spread no better.

    Use instead: one or two buckets a server; a bucket of what the read gives, so that it asks one.

    Source: claim 38, 100 buckets are 100 scans, is right; claim 14 takes as many prefixes as
    regions: servers are what counts. In practice 2 to 4 a server are found.
    """

    name = "too_many_buckets"
    code = "RK123"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 38, 69)
    bad = """\
table  = "logs"
key    = "[bucket(host, 100)][ts][host]"
splits = { algorithm = "uniform", regions = 16, first = "\\\\x00", last = "\\\\x63" }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    MANY = 4
    """Buckets a server above which it is said."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        buckets = subject.buckets
        most = self.MANY * subject.cluster.servers
        asking = [
            one
            for one in subject.reads
            if one.plan is not None and buckets and one.plan.fan_out >= buckets
        ]
        if buckets is None or buckets <= most or not asking:
            return
        cut = "" if subject.design.cut.algorithm == "per_bucket" else ', and splits = "per_bucket"'
        yield self.finding(
            "key",
            f"{counted(buckets, 'bucket')} on {counted(subject.cluster.servers, 'server')}: each "
            f"answer of {asking[0].read.name} is merged from {counted(buckets, 'range')} or more",
            f"Take {2 * subject.cluster.servers}, two a server{cut}.",
            value=buckets,
            verdict="Their number follows from the servers, not from the regions.",
            reads=[one.read.name for one in asking],
        )
