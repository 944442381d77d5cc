"""The rule `ttl_from_writing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TtlFromWriting(Rule):
    """The time to live counts from the import, not from the event.

    What it does: looks for a time to live where old events are written, by `arrival` random or
    bulk_sorted, and cells get the time of writing as their timestamp.

    Why it hurts: an event of last year that is imported today expires one time to live from today.
    Until then the table holds more than the time to live suggests.

    Use instead: `at = "timestamp"` on the event time, if each row is written once.

    Source: HBase book, "Time To Live": counted from the cell's timestamp; claim 28.
    """

    name = "ttl_from_writing"
    code = "RK703"
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

[families.d]
ttl = "30d"

[writes]
arrival = "random"
"""
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each ttl that counts from the import, not from the event."""
        writes = subject.design.writes
        if writes.has_advancing_time or writes.time is None:
            return
        if subject.design.layout.cell_timestamp is not None:
            return
        for name, family in subject.families.items():
            if family.ttl_s != FOREVER_S and subject.is_declared("families", name, "ttl"):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"old events are imported, but their ttl of {family.ttl_s:,} s counts from "
                    f"the write and not from {writes.time.name}, so they are kept too long",
                    f'Declare {writes.time.name} with at = "timestamp", if each row is written '
                    "once.",
                    value=family.ttl_s,
                )
