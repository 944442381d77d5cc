"""The rule `late_beyond_ttl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LateBeyondTtl(Rule):
    """Some events arrive after their time to live has ended.

    What it does: compares the longest delay with the time to live of each family, where the event
    time is the timestamp of the cells.

    Why it hurts: a cell's age counts from its timestamp. An event that arrives later than the time
    to live is accepted, acknowledged and never visible; no call reports the loss.

    Use instead: a longer time to live; or the time in the key or in a column, so that cells get the
    time at which they are written.

    Source: claim 28, a family's time to live is in seconds, HBase book, "Time To Live"; claim 30,
    that of a cell in milliseconds and not beyond it. Both count from the timestamp: ScanInfo.
    """

    name = "late_beyond_ttl"
    code = "RK704"
    severity: ClassVar[Severity] = "error"
    claims = (28, 30)
    bad_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = { type = "timestamp_ms", at = "timestamp" }
state  = "u8"

[families.d]
versions = 10
ttl      = "1h"

[writes]
late = { share = 0.02, upto = "6h" }
"""
    good_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = { type = "timestamp_ms", at = "timestamp" }
state  = "u8"

[families.d]
versions = 10
ttl      = "30d"

[writes]
late = { share = 0.02, upto = "6h" }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose ttl ends before late events arrive."""
        writes = subject.design.writes
        if subject.design.layout.cell_timestamp is None or not writes.late_ms:
            return
        for name in dict.fromkeys(cell.family for cell in subject.cells):
            ttl_s = subject.families[name].ttl_s
            if ttl_s != FOREVER_S and writes.late_ms >= 1_000 * ttl_s:
                late_s = writes.late_ms / 1_000
                yield self.build_finding(
                    "writes.late.upto",
                    f"{writes.late_share:.1%} of the events arrive up to {late_s:,g} s late, "
                    f"but family {name} keeps cells only for {ttl_s:,} s from the event's "
                    "time, so some cells are expired on arrival",
                    f"Give family {name} a longer ttl, or store the event time in the key.",
                    value=writes.late_ms,
                    family=name,
                    ttl_s=ttl_s,
                    late_ms=writes.late_ms,
                    share=writes.late_share,
                )
