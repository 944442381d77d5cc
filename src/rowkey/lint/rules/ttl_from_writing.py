"""The rule `ttl_from_writing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TtlFromWriting(Rule):
    """A time to live that counts from the import, not from the event.

    What it does: looks for a time to live where old events are written, by `arrival` random or
    bulk_sorted, and the cells' timestamps are those of writing.

    Why it hurts: an event of last year, imported today, lives from today on. The table holds more
    than the time to live says, until it has passed once more.

    Use instead: `at = "timestamp"` on the event's time, where each row is written once.

    Source: HBase book, "Time To Live": counted from the cell's timestamp; claim 28.
    """

    name = "ttl_from_writing"
    code = "RK703"
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

[families.d]
ttl = "30d"

[writes]
arrival = "random"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        writes = subject.design.writes
        if writes.goes_on or writes.time is None:
            return
        if subject.design.layout.stamp is not None:
            return
        for name, family in subject.families.items():
            if family.ttl_s != FOREVER_S and subject.says("families", name, "ttl"):
                yield self.finding(
                    subject.at("families", name, "ttl"),
                    f"old events are written, and their {family.ttl_s:,} s begin when they are "
                    f"written, not at {writes.time.name}",
                    f'Store {writes.time.name} with at = "timestamp", where a row is written once.',
                    value=family.ttl_s,
                )
