"""The rule `wide_fan_out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class WideFanOut(Rule):
    """A read that is many times as many ranges as there are servers.

    What it does: counts the ranges of each declared read, where they are no single rows and their
    number is not that of the buckets alone, of which too-many-buckets tells.

    Why it hurts: each range is a scanner of its own, opened, read in batches and merged with the
    others. Beyond the servers, more of them do not run at the same time: the answer is as slow as
    the busiest server, and the client holds a batch of each.

    Use instead: fewer values at a time; the listed field behind the one of which a stretch is
    asked, and tested row by row; or fewer buckets.

    Source: claim 38, 100 buckets are 100 scans, is right of everything that is listed; ranges
    multiply. In practice 2 to 4 a server are found; claim 69, they are merged.
    """

    name = "wide_fan_out"
    code = "RK604"
    severity: ClassVar[Severity] = "warning"
    claims = (38, 69)
    bad = """\
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
    good = """\
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
    MANY = 4
    """Ranges a server above which it is said."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        servers = subject.cluster.servers
        most = self.MANY * servers
        is_of_buckets = (subject.buckets or 0) > most
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_point or plan.is_full_scan or is_of_buckets:
                continue
            if plan.fan_out <= most:
                continue
            terms = zip(subject.key.terms, plan.pieces, strict=False)
            factors = [f"{len(points):,} of [{term}]" for term, points in terms if len(points) > 1]
            if len(plan.intervals) > 1:
                factors.append(f"{len(plan.intervals):,} stretches behind them")
            yield self.finding(
                one.path,
                f"{one.read.name} is {counted(plan.fan_out, 'range')} on "
                f"{counted(servers, 'server')}: "
                f"{' times '.join(factors)}",
                "Ask for fewer values at a time, or order the key so that fewer are listed.",
                value=one.read.name,
                ranges=plan.fan_out,
                servers=servers,
                factors=factors,
            )
