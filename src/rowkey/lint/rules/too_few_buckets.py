"""The rule `too_few_buckets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.proposals import BUCKETS_PER_SERVER

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TooFewBuckets(Rule):
    """There are fewer buckets than servers.

    What it does: compares the number of buckets or salts with the servers, where the field after
    them rises with time.

    Why it hurts: a bucket whose keys rise with time is written only at its end. Four buckets keep
    four servers busy, however many there are.

    Use instead: at least as many buckets as servers, and a multiple of them.

    Source: claim 87, 4 salts give 4 times the writes at most, agrees; claim 14.
    """

    name = "too_few_buckets"
    code = "RK124"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 87)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 4)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 8)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if there are fewer buckets than servers."""
        buckets, servers = subject.bucket_count, subject.cluster.servers
        if buckets is None or buckets >= servers or not subject.writes_at_the_end_of_buckets:
            return
        target = BUCKETS_PER_SERVER * servers
        yield self.build_finding(
            "key",
            f"the key has only {pluralize(buckets, 'bucket')} for "
            f"{pluralize(servers, 'server')}, and each bucket is written at its end, so at "
            f"most {pluralize(buckets, 'server')} at a time "
            f"{'takes' if buckets == 1 else 'take'} writes",
            f"Use {target}, two for each server{subject.format_fan_out_change(target)}.",
            value=buckets,
            verdict="Choose the number of buckets by the number of servers, not of regions.",
            servers=servers,
        )
