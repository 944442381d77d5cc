"""The rule `latest_read_backwards`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal, Ordering

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import PlannedRead, Subject


class LatestReadBackwards(Rule):
    """An order that all reads want the other way round than the key keeps it.

    What it does: looks for limited reads whose rows come from the ends of their ranges backwards,
    where no declared read wants the same field forwards.

    Why it hurts: it works, and costs more a row: a reversed scan seeks the row before in every
    file, where a scan forwards goes on to the next.

    Use instead: `desc(field)`, which stores 2^63 - 1 less the time, or all bits inverted: the
    latest row is then the first of its range.

    Source: claim 13 subtracts the time from Long.MAX_VALUE, as the HBase book does, "Reverse
    Timestamps"; since 0.98 a scan can be reversed instead, HBASE-4811; ReversedStoreScanner.
    """

    name = "latest_read_backwards"
    code = "RK603"
    severity: ClassVar[Severity] = "info"
    claims = (13, 66)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "latest lines of a host"
where = "host = ?"
order = "ts desc"
limit = 20
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "latest lines of a host"
where = "host = ?"
order = "ts desc"
limit = 20
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for index, one in enumerate(subject.reads):
            if one.plan is None or not one.plan.is_backwards or one.read.limit is None:
                continue
            wanted = [o for o in one.read.order if self._is_free(one, o.field)]
            if one.plan.is_full_scan and one.bounds:
                continue
            if any(Ordering(o.field, not o.descending) in two.read.order
                   for two in subject.reads for o in wanted):  # fmt: skip
                continue
            first = wanted[0]
            better = first.field if not first.descending else f"desc({first.field})"
            yield self.finding(
                subject.at("reads", index, "order"),
                f"{one.read.name} wants {first}, and no read wants it the other way, in which the "
                "key keeps it: each answer is read backwards",
                f"Keep {first.field} the other way round, as {better} does.",
                value=one.read.name,
                verdict="A reversed scan serves it since 0.98; the key need not.",
                field=first.field,
            )

    @staticmethod
    def _is_free(one: PlannedRead, name: str) -> bool:
        """Whether rows of the answer differ in a field."""
        return not isinstance(one.bounds.get(name), Equal)
