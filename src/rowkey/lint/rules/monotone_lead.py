"""The rule `monotone_lead`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class MonotoneLead(Rule):
    """A key that begins with what moves with the clock.

    What it does: looks at the first part that is not the same in all keys. A time, or a number that
    counts up as rows come, is a front whichever way round it is stored; a sample tells by its
    values, else `[writes]` does.

    Why it hurts: at any moment one region, so one server, takes all writes. More regions and more
    servers change nothing, and every region behind the front stays half full.

    Use instead: put a bucket of the entity in front, or the entity itself where there are many and
    none is heavy. A read of a stretch of time alone then asks every bucket.

    Source: HBase book, "Monotonically Increasing Row Keys/Timeseries Data"; claims 11, 49 and 80
    agree. OpenTSDB's metric in front helps only with many metrics: OpenTSDB issue 991.
    """

    name = "monotone_lead"
    code = "RK101"
    severity: ClassVar[Severity] = "warning"
    claims = (10, 11, 49, 80)
    cause = "moving_front"
    bad = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is None or found.evidence.get("field") is None:
            return  # an import in the order of the keys is told by a rule of its own
        yield self.finding(
            "key", found.message, found.remedy, value=str(subject.key), **found.evidence
        )
