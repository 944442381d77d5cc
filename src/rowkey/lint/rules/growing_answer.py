"""The rule `growing_answer`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.schema import Equal, Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject, PlannedRead


class GrowingAnswer(Rule):
    """The answer of a read without a limit grows for as long as the table exists, or its ttl.

    What it does: looks for reads with neither a limit nor both ends of a time range, where the
    event time is in the key, so that each event is a row, and rows are kept for ever. Where a ttl
    deletes them, it divides the events of that time at the declared rate by the `distinct` values
    of the fields that the read gives, and reports 100,000 rows and more, as a warning if the
    read runs once a second or more often.

    Why it hurts: it is fast on the first day. A year later the same call returns a year of rows, 2
    MiB a request, and a client that collects them in a list runs out of memory.

    Use instead: a limit with an order; a time range; or a ttl, or a shorter one, on the family.

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

    MIN_ROWS = 100_000
    """Rows of an answer from which they are many for one that expires: our choice."""
    MIN_RATE = 1.0
    """Reads a second from which they are no export, so that such an answer is a warning."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose answer grows with the table."""
        time = subject.design.writes.time
        if time is None or time.name not in subject.key.fields:
            return
        is_kept = all(family.ttl_s == FOREVER_S for family in subject.families.values())
        for one in subject.reads:
            plan, bound = one.plan, one.bounds.get(time.name)
            if plan is None or one.read.limit is not None or plan.is_full_scan or plan.is_point:
                continue
            is_open = isinstance(bound, Range) and (bound.low is None or bound.high is None)
            if bound is not None and not is_open:
                continue
            rows = 0.0 if is_kept else self._estimate_rows(subject, one)
            if not is_kept and rows < self.MIN_ROWS:
                continue
            time_phrase = f"only one end of {time.name}" if is_open else f"no {time.name}"
            growth = "and rows are never deleted, so its answer grows with the table"
            if rows:
                growth = f"so an answer has about {rows:,.0f} rows once the oldest expire"
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' gives {time_phrase} and no limit, {growth}",
                "Give the read a limit or a time range, or the family a "
                f"{'shorter ' if rows else ''}ttl.",
                severity="warning" if rows and (one.read.rate or 0) >= self.MIN_RATE else None,
                value=one.read.name,
                field=time.name,
                rows=rows,
            )

    @staticmethod
    def _estimate_rows(subject: LintSubject, one: PlannedRead) -> float:
        """Estimate the rows of a read with the oldest that a ttl keeps; 0 if unknown."""
        rate = subject.design.writes.rate or 0.0
        counts = [subject.design.fields[name].declaration.distinct for name in one.bounds]
        if not all(isinstance(bound, Equal) for bound in one.bounds.values()) or None in counts:
            return 0.0
        kept_s = max(family.ttl_s for family in subject.families.values())
        return rate * kept_s / prod(filter(None, counts))
