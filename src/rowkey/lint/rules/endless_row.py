"""The rule `endless_row`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EndlessRow(Rule):
    """A row that gains a cell with every event, without an end.

    What it does: looks for times that live in the qualifier of rows whose keys hold no time, so
    that all events of an entity are one row for ever.

    Why it hurts: a row cannot be split. The busiest entity's row grows until a read of it exceeds
    what a server gives, and its region cannot become smaller.

    Use instead: `time_slice(ts, 1h)` in the key, a row an hour; or the time in the key.

    Source: HBase book, "Rows vs. Columns"; claim 46. hbase.table.max.rowsize, 1 GiB.
    """

    name = "endless_row"
    code = "RK505"
    severity: ClassVar[Severity] = "warning"
    claims = (41, 46)
    bad = """\
table  = "events"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
ts    = { type = "timestamp_ms", at = "qualifier" }
event = { type = "text", max_bytes = 50 }
"""
    good = """\
table  = "events"
key    = "[bucket(user, 16)][user][time_slice(ts, 24h)]"
splits = "per_bucket"

[fields]
user  = "u64"
ts    = "timestamp_ms"
event = { type = "text", max_bytes = 50 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        opening = subject.design.layout.opening
        fields = subject.design.fields
        if opening is None or any(fields[n].type.tick is not None for n in subject.key.fields):
            return
        for field in opening.fields:
            if field.type.tick is None:
                continue
            yield self.finding(
                subject.at("fields", field.name),
                f"{field.name} is in the qualifier and no time is in the key: the events of "
                f"{' and '.join(subject.key.fields)} are one row for ever",
                f"Write [time_slice({field.name}, 1h)] at the end of the key.",
                value="qualifier",
            )
