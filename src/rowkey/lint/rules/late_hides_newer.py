"""The rule `late_hides_newer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LateHidesNewer(Rule):
    """Late events that hide newer ones of the same row.

    What it does: looks for late events in a table whose rows are written again and again, as one of
    the state of a device is: neither its key nor its qualifiers nor its timestamps hold the time.

    Why it hurts: the cell that was written last is the one that is read. An event that comes ten
    minutes late puts the state of ten minutes ago in place of the newest, and stays.

    Use instead: `at = "timestamp"` on the time: the cell with the greatest timestamp is the newest,
    in whatever order they come. Or the time in the key, a row for each event.

    Source: HBase book, "Versions": the greatest timestamp wins, and without one the server takes
    its own clock. Claim 8, a put of the same key hides what was there.
    """

    name = "late_hides_newer"
    code = "RK705"
    severity: ClassVar[Severity] = "error"
    claims = (8,)
    bad = """\
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
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        writes, layout = subject.design.writes, subject.design.layout
        time = writes.time
        if time is None or not writes.late_ms or layout.stamp is not None:
            return
        if time.name in layout.identity or subject.key.is_salted:
            return
        yield self.finding(
            "writes.late",
            f"{writes.late_share:.2g} of the events come late, and nothing in a row tells their "
            f"{time.name} apart: a late one hides the newer one that came before it",
            f'Declare {time.name} with at = "timestamp", or put it in the key.',
            value=time.name,
            share=writes.late_share,
            late_ms=writes.late_ms,
        )
