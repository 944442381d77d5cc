"""The rule `too_few_buckets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.plan import spreading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TooFewBuckets(Rule):
    """Fewer buckets than servers.

    What it does: compares the number of buckets or salts with the servers, where what stands behind
    them moves with the clock.

    Why it hurts: a bucket whose keys rise with time is written at one place, its end. Four buckets
    keep four servers busy, however many there are.

    Use instead: as many buckets as servers or more, and a number that the servers divide.

    Source: claim 87, 4 salts give 4 times the writes at most, agrees; claim 14.
    """

    name = "too_few_buckets"
    code = "RK124"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 87)
    bad = """\
table  = "logs"
key    = "[bucket(host, 4)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 8)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    also = ("RK205",)

    def findings(self, subject: Subject) -> Iterator[Finding]:
        buckets, servers = subject.buckets, subject.cluster.servers
        if buckets is None or buckets >= servers:
            return
        behind = [p for p in subject.key.parts[spreading(subject.key) :] if p.cardinality != 1]
        time = subject.design.writes.time
        is_clock = subject.design.writes.goes_on
        if time is None or not is_clock or not behind or behind[0].fields != (time.name,):
            return
        yield self.finding(
            "key",
            f"{counted(buckets, 'bucket')} on {counted(servers, 'server')}, each written at its "
            "end: at any moment only "
            f"{buckets} of the servers take writes",
            f"Take {2 * servers}, two a server{subject.asked_then(2 * servers)}.",
            value=buckets,
            verdict="Their number follows from the servers, not from the regions.",
            servers=servers,
        )
