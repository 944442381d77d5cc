"""The rule `wide_fan_out`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class WideFanOut(Rule):
    """A read opens many more ranges than there are servers.

    What it does: counts the ranges of each declared read, unless they are single rows or come from
    the buckets alone, which too-many-buckets reports.

    Why it hurts: each range is a separate scanner, opened, read in batches and merged with the
    others. More ranges than servers do not run at the same time: the answer is as slow as the
    busiest server, and the client holds a batch of each.

    Use instead: fewer values at a time; the listed field after the field with the range, tested row
    by row; or fewer buckets.

    Source: claim 38, 100 buckets are 100 scans, is right of everything that is listed; ranges
    multiply. In practice 2 to 4 a server are found; claim 69, they are merged.
    """

    name = "wide_fan_out"
    code = "RK604"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (38, 69)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][level][ts][host]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = "u8"
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "what went wrong in an hour"
where = "level in (3, 4, 5, 6) and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][level][ts][host]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = "u8"
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "what went wrong in an hour"
where = "level = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    MAX_RANGES_PER_SERVER = 4
    """Ranges per server above which it is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that opens many more ranges than there are servers."""
        servers = subject.cluster.servers
        max_ranges = self.MAX_RANGES_PER_SERVER * servers
        is_of_buckets = (subject.bucket_count or 0) > max_ranges
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_point or plan.is_full_scan or is_of_buckets:
                continue
            if plan.fan_out <= max_ranges:
                continue
            terms = zip(subject.key.terms, plan.pinned_values, strict=False)
            factors = [
                f"{len(points):,} values of [{term}]" for term, points in terms if len(points) > 1
            ]
            if len(plan.intervals) > 1:
                factors.append(f"{len(plan.intervals):,} ranges after them")
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' opens {pluralize(plan.fan_out, 'range')} on "
                f"{pluralize(servers, 'server')}: {' times '.join(factors)}",
                "Ask for fewer values in one read, or order the key so that the read lists "
                "fewer values.",
                value=one.read.name,
                ranges=plan.fan_out,
                servers=servers,
                factors=factors,
            )
