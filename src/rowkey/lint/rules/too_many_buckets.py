"""The rule `too_many_buckets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.workload import FORESEEN_GROWTH

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TooManyBuckets(Rule):
    """A read has to ask more buckets than the servers need.

    What it does: for each declared read that asks every bucket, or every salt, compares their
    number with the servers; with one server, where ten times the declared rate of the writes, at
    the peak of the sample, and the reads, would do no harm on it.

    Why it hurts: each bucket is a separate range to open, read and merge: 100 buckets are 100 scans
    for one answer. More than one or two for each server spread no better, and few writes need no
    spreading.

    Use instead: one or two buckets for each server; a bucket of what the read gives, so that it
    asks only one; none for few writes.

    Source: claim 38, 100 buckets are 100 scans, is right; claim 14 takes as many prefixes as
    regions: servers are what counts. In practice 2 to 4 a server are found.
    """

    name = "too_many_buckets"
    code = "RK123"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 38, 69)
    bad_design = """\
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
    good_design = """\
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
    MAX_BUCKETS_PER_SERVER = 4
    """Buckets per server above which it is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if a read must query more buckets than the servers need."""
        buckets, servers = subject.bucket_count, subject.cluster.servers
        is_needless = subject.needs_no_spreading
        max_buckets = self.MAX_BUCKETS_PER_SERVER * (1 if is_needless else servers)
        reads = [
            one
            for one in subject.reads
            if one.plan is not None and buckets and one.plan.fan_out >= buckets
        ]
        if buckets is None or buckets <= max_buckets or not reads:
            return
        cut = (
            "" if subject.design.splits.algorithm == "per_bucket" else ', and splits = "per_bucket"'
        )
        held = f"for {pluralize(servers, 'server')}"
        remedy = f"Use {2 * servers}, two for each server{cut}."
        verdict = "Choose the number of buckets by the number of servers, not of regions."
        if is_needless:
            held = f"where one server bears {FORESEEN_GROWTH} times the writes"
            remedy = "Leave them out of the key."
            verdict = "So few writes need no spreading."
        yield self.build_finding(
            "key",
            f"the key has {pluralize(buckets, 'bucket')} {held}, so each answer of the read "
            f"'{reads[0].read.name}' is merged from at least {pluralize(buckets, 'range')}",
            remedy,
            value=buckets,
            verdict=verdict,
            reads=[one.read.name for one in reads],
        )
