"""The rule `late_hides_newer`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LateHidesNewer(Rule):
    """Late events overwrite newer ones of the same row.

    What it does: looks for late events in a table whose rows are updated in place, such as the
    state of a device: the time is neither in the key, nor in a qualifier, nor the timestamp of
    cells.

    Why it hurts: a read returns the cell that was written last. An event that arrives ten minutes
    late replaces the newest state by that of ten minutes ago.

    Use instead: `at = "timestamp"` on the time: then the cell with the greatest timestamp is the
    newest, whatever the order of arrival. Or the time in the key, which makes each event a row.

    Source: HBase book, "Versions": the greatest timestamp wins, and without one the server takes
    its own clock. Claim 8, a put of the same key hides what was there.
    """

    name = "late_hides_newer"
    code = "RK705"
    severity: ClassVar[Severity] = "error"
    claims = (8,)
    bad_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = "timestamp_ms"
state  = "u8"

[families.d]
versions = 1

[writes]
late = { share = 0.02, upto = "10m" }
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
versions = 1

[writes]
late = { share = 0.02, upto = "10m" }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if late events overwrite newer events of the same row."""
        writes, layout = subject.design.writes, subject.design.layout
        time = writes.time
        if time is None or not writes.late_ms or layout.cell_timestamp is not None:
            return
        if time.name in layout.identity_fields or subject.key.is_salted:
            return
        yield self.build_finding(
            "writes.late",
            f"{writes.late_share:.1%} of the events arrive late, and HBase orders cells by "
            f"arrival and not by {time.name}, so a late event overwrites a newer event of its "
            "row",
            f'Declare {time.name} with at = "timestamp", or put {time.name} into the key.',
            value=time.name,
            share=writes.late_share,
            late_ms=writes.late_ms,
        )
