"""The rule `growing_answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class GrowingAnswer(Rule):
    """A read without a limit whose answer grows as long as the table lives.

    What it does: looks for reads with neither a limit nor two ends of the time, where the time of
    the events is in the key, so that each event is a row, and rows are kept for ever.

    Why it hurts: it is fast on the day it is written. A year later the same call returns a year of
    rows, 2 MiB a request, and whoever collects them in a list runs out of memory.

    Use instead: a limit and the order wanted; a stretch of time; or a time to live on the family.

    Source: hbase.client.scanner.max.result.size, 2 MiB an answer, and no limit of rows: a scan
    without one goes on to the end of its range. HBase book, "Time To Live"; claim 28.
    """

    name = "growing_answer"
    code = "RK608"
    severity: ClassVar[Severity] = "info"
    claims = (28,)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a host"
where = "host = ?"
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
name  = "lines of a host"
where = "host = ?"
limit = 1000
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        time = subject.design.writes.time
        is_kept = all(family.ttl_s == FOREVER_S for family in subject.families.values())
        if time is None or time.name not in subject.key.fields or not is_kept:
            return
        for one in subject.reads:
            plan, bound = one.plan, one.bounds.get(time.name)
            if plan is None or one.read.limit is not None or plan.is_full_scan or plan.is_point:
                continue
            is_open = isinstance(bound, Range) and (bound.low is None or bound.high is None)
            if bound is None or is_open:
                said = f"one end of {time.name}" if is_open else f"no {time.name}"
                yield self.finding(
                    one.path,
                    f"{one.read.name} gives {said} and no limit, and rows are kept for ever: its "
                    "answer grows as long as the table lives",
                    "Give it a limit or a stretch of time, or the family a ttl.",
                    value=one.read.name,
                    field=time.name,
                )
