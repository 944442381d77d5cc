"""The rule `filtered_read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.plan import Asked, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FilteredRead(Rule):
    """A read whose filter throws most of the rows away that were read for it.

    What it does: multiplies the shares of rows that meet the conditions tested row by row, where
    a sample or the file tells how many values their fields have, and none of them is in the key.

    Why it hurts: the filter runs on the server and spares the way to the client, not the disk. Of
    50 levels, a read of one goes through 50 rows for each that it returns, and a limit of 100 is
    reached after 5,000.

    Use instead: the field in the key, before the one of which a stretch is asked; or a table of its
    own for what is wanted so often and occurs so rarely.

    Source: rows read for a row returned, the inverse of the share that passes, where conditions are
    independent. Claim 52, the key must serve the reads; claim 45, a packed cell loses filters too.
    """

    name = "filtered_read"
    code = "RK606"
    severity: ClassVar[Severity] = "warning"
    claims = (45, 52)
    bad = """\
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
    good = """\
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
    SOME, MANY = 10, 100
    """Rows read for one returned from which on it is said, and from which on it is a warning."""
    LISTED = 1_000
    """Ranges above which a read is not explained, for it would list them all."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for index, one in enumerate(subject.reads):
            plan = one.plan
            if plan is None or plan.is_full_scan or not 0 < plan.fan_out <= self.LISTED:
                continue
            tested = [name for name in plan.residual if name not in subject.key.fields]
            if not tested or len(tested) < len(plan.residual):
                continue
            found = explain(subject.key, Asked(one.bounds), facts=subject.facts)
            if found.rows_read is None or found.rows_read < self.SOME:
                continue
            rows = f"{counted(round(found.rows_read), 'row')} for each that it returns"
            if one.read.limit is not None:
                rows += f", {found.rows_read * one.read.limit:,.0f} for its limit"
            yield self.finding(
                subject.at("reads", index, "where"),
                f"{one.read.name} tests {' and '.join(tested)} row by row, and reads {rows}",
                f"Put {tested[0]} in the key, before any field of which a stretch is asked.",
                severity="warning" if found.rows_read >= self.MANY else "info",
                value=one.read.name,
                tested=tested,
                rows_read=found.rows_read,
            )
