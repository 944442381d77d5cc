"""The rule `one_region_at_first`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.heat import splits_at_quantiles
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class OneRegionAtFirst(Rule):
    """A table that is created with one region, although its keys would spread.

    What it does: looks for designs without splits, or with one region, whose keys do not move with
    the clock.

    Why it hurts: until 256 MB have been written to it, the one region takes all load. It then
    splits where the middle of its keys happens to be, and each half again, under full load.

    Use instead: `splits = "per_bucket"` for a bucketed key, `"sample"` for any other.

    Source: claim 63, automatic splits skew, pre-split: agrees. SteppingSplitPolicy: twice the flush
    size of 128 MB for a table's only region on its server.
    """

    name = "one_region_at_first"
    code = "RK203"
    severity: ClassVar[Severity] = "info"
    claims = (63,)
    bad = """\
table = "logs"
key   = "[bucket(host, 16)][host][ts]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    BUSY = 1_000_000
    """Bytes a second from which the first 256 MB take minutes, not hours, and splits hurt."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or len(boundaries) > 1 or servers == 1:
            return
        if "moving_front" in subject.causes:
            return
        writes = subject.demand.writes or 0
        listed = subject.buckets is not None
        yield self.finding(
            "splits" if subject.says("splits") else "key",
            f"the table begins with one region, so one of {counted(servers, 'server')} takes all "
            "load until "
            "it has split",
            'Write splits = "per_bucket".' if listed else self._quantiles(subject),
            severity="warning" if writes >= self.BUSY else "info",
            value=subject.words.get("splits"),
            writes=writes or None,
        )

    @staticmethod
    def _quantiles(subject: Subject) -> str:
        """A sample, and where it comes from; a longer one where that is declared already."""
        if subject.design.cut.needs_sample:
            return "Record events of more keys, for quantiles of these give no boundary."
        return f"Write {splits_at_quantiles(subject.design)}."
