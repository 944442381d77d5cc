"""The rule `monotone_lead`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class MonotoneLead(Rule):
    """The key starts with a value that rises with time, so one server takes all writes.

    What it does: looks at the first part that is not the same in all keys, and reports a time, or a
    number that rises as rows arrive, in either direction. A sample tells this by its values;
    without one, `[writes]` does.

    Why it hurts: at any moment one region, so one server, takes all writes. More regions or servers
    change nothing, and every region that was filled stays half full after its split.

    Use instead: a bucket of the entity before the time, or the entity itself if there are many and
    none is heavy. A read that gives only a time range then asks every bucket.

    Source: HBase book, "Monotonically Increasing Row Keys/Timeseries Data"; claims 11, 49 and 80
    agree. OpenTSDB's metric in front helps only with many metrics: OpenTSDB issue 991.
    """

    name = "monotone_lead"
    code = "RK101"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (10, 11, 49, 80)
    cause = "moving_front"
    bad_design = """\
table = "logs"
key   = "[ts][host]"

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
        """Yield a finding if the key starts with a value that rises with time."""
        cause = subject.causes.get(self.cause)
        if cause is None or cause.evidence.get("field") is None:
            return  # another rule reports an import in the order of the keys
        yield self.build_finding(
            "key",
            cause.message,
            cause.remedy,
            value=str(subject.key),
            needs_key=cause.needs_key,
            **cause.evidence,
        )
