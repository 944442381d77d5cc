"""The rule `tested_after_reading`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TestedAfterReading(Rule):
    """A read that throws away most of what it reads.

    What it does: for each declared read that tests fields row by row, multiplies how many values
    those fields have, where that is known, to tell how many rows it reads for each it gives.

    Why it hurts: rows that are thrown away are read, unpacked and tested on the server all the
    same; the time of a read follows what it reads, not what it gives.

    Use instead: the tested fields in the key, before the field of the range.

    Source: claim 52: fields of equality before the field of the range. Row read amplification is
    rows read over rows returned.
    """

    name = "tested_after_reading"
    code = "RK604"
    severity: ClassVar[Severity] = "info"
    claims = (52, 88)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts][type]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
type = { type = "u16", distinct = 500 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "events of a type"
where = "host = ? and type = ? and ts >= ?"
limit = 1000
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][type][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
type = { type = "u16", distinct = 500 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "events of a type"
where = "host = ? and type = ? and ts >= ?"
limit = 1000
"""
    SOME, MANY = 10, 100
    """Rows read for each that is given, from which it is said, and from which it is a warning."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or not plan.fan_out:
                continue
            read = 1.0
            tested = [n for n in plan.residual if isinstance(one.bounds.get(n), Equal)]
            for name in tested:
                read *= subject.distinct(name) or 1
            if read >= self.SOME:
                yield self.finding(
                    one.path,
                    f"{one.read.name} tests {' and '.join(tested)} of each row after reading it: "
                    f"about {read:,.0f} rows read for one that is given",
                    f"Put {' and '.join(tested)} into the key, before the field of the range.",
                    severity="warning" if read >= self.MANY else "info",
                    value=one.read.name,
                    rows_read=read,
                    tested=tested,
                )
