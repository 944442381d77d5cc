"""The rule `latest_read_backwards`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal, Ordering, find_field_refs

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject, PlannedRead


_WHOLE_ROWS = ", and reads whole rows, because only a forward scan reads pages of their events"
_REVERSED_SCANS = "Since HBase 0.98 a reversed scan serves it without another key."


class LatestReadBackwards(Rule):
    """All reads want the opposite order of the one in which the key stores a field.

    What it does: looks for reads with a limit that scan backwards from the end of their ranges,
    where no declared read wants the same field forwards. Where events share rows it is a warning.

    Why it hurts: it works but costs more for each row: a reversed scan seeks to the previous row in
    every file, where a forward scan continues to the next.

    Use instead: `desc(field)`, which stores 2^63 - 1 minus the time, or all bits inverted: the
    latest row is then the first of its range.

    Source: claim 13 subtracts the time from Long.MAX_VALUE, as the HBase book does, "Reverse
    Timestamps"; since 0.98 a scan can be reversed instead, HBASE-4811; ReversedStoreScanner.
    """

    name = "latest_read_backwards"
    code = "RK603"
    severity: ClassVar[Severity] = "info"
    claims = (13, 66)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field that all reads want in the opposite order."""
        for one in subject.reads:
            if one.plan is None or not one.plan.is_backwards or one.read.limit is None:
                continue
            orderings = [o for o in one.read.order if self._has_several_values(one, o.field)]
            if one.plan.is_full_scan and one.bounds:
                continue
            if any(Ordering(o.field, not o.descending) in two.read.order
                   for two in subject.reads for o in orderings):  # fmt: skip
                continue
            first = orderings[0]
            is_shared = subject.design.layout.has_shared_rows
            yield self.build_finding(
                f"{one.path}.order",
                f"the read '{one.read.name}' wants the order {first}, but the key stores the "
                "opposite order, which no read wants, so every answer is scanned backwards"
                f"{_WHOLE_ROWS if is_shared else ''}",
                f"Store {first.field} in that order: {self._format_term(subject, first)}.",
                severity="warning" if is_shared else None,
                value=one.read.name,
                verdict="" if is_shared else _REVERSED_SCANS,
                field=first.field,
            )

    @staticmethod
    def _format_term(subject: LintSubject, ordering: Ordering) -> str:
        """Return the term of the key that stores a field in an order."""
        names = {ref.name: term for term in subject.key.terms for ref in find_field_refs(term)}
        term = str(names.get(ordering.field, ordering.field))
        if ordering.descending:
            return f"desc({term})"
        return term.removeprefix("desc(").removesuffix(")") if term.startswith("desc(") else term

    @staticmethod
    def _has_several_values(planned_read: PlannedRead, name: str) -> bool:
        """Return whether a field can differ between the rows of a read's answer."""
        return not isinstance(planned_read.bounds.get(name), Equal)
