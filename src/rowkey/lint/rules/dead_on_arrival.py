"""The rule `dead_on_arrival`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class DeadOnArrival(Rule):
    """Events that come later than their cells live.

    What it does: where an event's time is the time of its cells, compares how late events may come
    with the time to live.

    Why it hurts: a cell older than its time to live is never seen. The put succeeds, and nothing
    is there.

    Use instead: a longer time to live, or the time in a column or the key, so that it counts from
    the time of writing.

    Source: HBase book, "Time To Live": counted from the cell's timestamp; claims 29 and 30.
    """

    name = "dead_on_arrival"
    code = "RK702"
    severity: ClassVar[Severity] = "warning"
    claims = (29, 30)
    bad = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
versions = 10
ttl      = "1h"

[writes]
late = { share = 0.1, upto = "2h" }
"""
    good = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
versions = 10
ttl      = "1d"

[writes]
late = { share = 0.1, upto = "2h" }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        writes = subject.design.writes
        if subject.design.layout.stamp is None or not writes.late_ms:
            return
        for name, family in subject.families.items():
            if writes.late_ms >= 1_000 * family.ttl_s:
                late_s = writes.late_ms / 1_000
                yield self.finding(
                    subject.nearest("families", name, "ttl"),
                    f"{writes.late_share:.0%} of the events come up to {late_s:,.0f} s late, and "
                    f"their cells live {family.ttl_s:,} s from the event's time",
                    "Take a longer ttl, or keep the event's time in a column.",
                    value=family.ttl_s,
                    late_ms=writes.late_ms,
                )
