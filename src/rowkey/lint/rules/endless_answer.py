"""The rule `endless_answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal, OneOf, Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EndlessAnswer(Rule):
    """A read whose answer grows with the table.

    What it does: looks for reads without a limit that no stretch bounds: those that leave the end
    of their range open, or ask for all rows of a value.

    Why it hurts: it is quick in the first week. Whoever asks it holds the whole answer in memory,
    and the server keeps a scanner open for as long.

    Use instead: a limit, and go on from the last row; a stretch with both ends.

    Source: HBase book, "Scan Caching" and hbase.client.scanner.max.result.size, 2 MB a call. Claim
    2: a range has a start and a stop.
    """

    name = "endless_answer"
    code = "RK605"
    severity: ClassVar[Severity] = "info"
    claims = (2,)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "since"
where = "host = ? and ts >= ?"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "since"
where = "host = ? and ts >= ?"
limit = 1000
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        time = subject.design.writes.time
        for one in subject.reads:
            if one.read.limit is not None or one.plan is None or one.plan.is_point:
                continue
            if one.plan.is_full_scan or time is None or time.name not in subject.key.fields:
                continue
            bound = one.bounds.get(time.name)
            if isinstance(bound, Equal | OneOf):
                continue
            if isinstance(bound, Range) and bound.low is not None and bound.high is not None:
                continue
            yield self.finding(
                one.path,
                f"{one.read.name} has no limit, and no stretch of {time.name} ends it: its answer "
                "grows with the table",
                "Give it a limit, or both ends of a stretch.",
                value=one.read.name,
            )
