"""The rule `filtered_read`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.explanations import explain_read
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.plan import BoundRead

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class FilteredRead(Rule):
    """A read's filter discards most of the rows that are read for it.

    What it does: multiplies the shares of rows that pass the conditions tested row by row, where a
    sample or the file tells how many values the fields have and none of the fields is in the key.

    Why it hurts: the filter runs on the server and saves network traffic, not disk reads. A read of
    one level out of 50 reads 50 rows for each that it returns, and a limit of 100 is reached after
    5,000.

    Use instead: the field in the key, before the field that the read restricts to a range; or a
    separate table for rows that are wanted often and occur rarely.

    Source: rows read for a row returned, the inverse of the share that passes, where conditions are
    independent. Claim 52, the key must serve the reads; claim 45, a packed cell loses filters too.
    """

    name = "filtered_read"
    code = "RK606"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (45, 52)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = { type = "u8", distinct = 50 }
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a level"
where = "host = ? and level = ?"
limit = 100
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][level][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = { type = "u8", distinct = 50 }
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a level"
where = "host = ? and level = ?"
limit = 100
"""
    MIN_ROWS_FOR_INFO, MIN_ROWS_FOR_WARNING = 10, 100
    """Rows read for each returned row from which the read is reported, and from which as a
    warning."""
    MAX_EXPLAINED_RANGES = 1_000
    """Ranges above which a read is not explained, because the explanation lists them all."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose filter discards most of the scanned rows."""
        for one in subject.reads:
            plan = one.plan
            if (
                plan is None
                or plan.is_full_scan
                or not 0 < plan.fan_out <= self.MAX_EXPLAINED_RANGES
            ):
                continue
            tested = [name for name in plan.residual_fields if name not in subject.key.fields]
            if not tested or len(tested) < len(plan.residual_fields):
                continue
            explanation = explain_read(
                subject.key,
                BoundRead(one.bounds),
                facts=subject.facts,
            )
            if explanation.rows_read is None or explanation.rows_read < self.MIN_ROWS_FOR_INFO:
                continue
            rows = f"{pluralize(round(explanation.rows_read), 'row')} for each row it returns"
            if one.read.limit is not None:
                rows += f", {explanation.rows_read * one.read.limit:,.0f} to reach its limit"
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' tests {' and '.join(tested)} row by row, and "
                f"scans {rows}",
                f"Put {tested[0]} in the key, before any field with a range.",
                severity="warning"
                if explanation.rows_read >= self.MIN_ROWS_FOR_WARNING
                else "info",
                value=one.read.name,
                tested=tested,
                rows_read=explanation.rows_read,
            )
