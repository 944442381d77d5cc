"""The rule `growing_answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class GrowingAnswer(Rule):
    """The answer of a read without a limit grows for as long as the table exists.

    What it does: looks for reads with neither a limit nor both ends of a time range, where the
    event time is in the key, so that each event is a row, and rows are kept for ever.

    Why it hurts: it is fast on the first day. A year later the same call returns a year of rows, 2
    MiB a request, and a client that collects them in a list runs out of memory.

    Use instead: a limit with an order; a time range; or a ttl on the family.

    Source: hbase.client.scanner.max.result.size, 2 MiB an answer, and no limit of rows: a scan
    without one goes on to the end of its range. HBase book, "Time To Live"; claim 28.
    """

    name = "growing_answer"
    code = "RK608"
    severity: ClassVar[Severity] = "info"
    claims = (28,)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose answer grows with the table."""
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
                time_phrase = f"only one end of {time.name}" if is_open else f"no {time.name}"
                yield self.build_finding(
                    one.path,
                    f"the read '{one.read.name}' gives {time_phrase} and no limit, and rows are "
                    "never deleted, so its answer grows with the table",
                    "Give the read a limit or a time range, or the family a ttl.",
                    value=one.read.name,
                    field=time.name,
                )
