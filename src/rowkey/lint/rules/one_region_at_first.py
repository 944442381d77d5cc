"""The rule `one_region_at_first`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.design import format_toml_value
from rowkey.hotspots import find_equal_steps
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.proposals import format_quantile_splits
from rowkey.regions import MAX_FILE_SIZE

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class OneRegionAtFirst(Rule):
    """The table starts with one region, although its keys could be spread over many.

    What it does: looks for designs without splits, or with one region, whose keys do not move with
    the clock; not for tables known to need no more than one region and one server.

    Why it hurts: until 256 MB have been written, the one region takes all load. It then splits at
    the middle of the keys it happens to hold, and each half again, under full load.

    Use instead: `splits = "per_bucket"` for a bucketed key, equal steps for one that begins with a
    hash, `"sample"` for any other.

    Source: claim 63, automatic splits skew, pre-split: agrees. SteppingSplitPolicy: twice the flush
    size of 128 MB for a table's only region on its server.
    """

    name = "one_region_at_first"
    code = "RK203"
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "info"
    claims = (63,)
    bad_design = """\
table = "logs"
key   = "[bucket(host, 16)][host][ts]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    BUSY_BYTES_PER_S = 1_000_000
    """Bytes a second from which the first 256 MB take minutes, not hours, and splits hurt."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table starts with one region but could be split."""
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or len(boundaries) > 1 or servers == 1:
            return
        is_small = 0 < subject.final_bytes <= MAX_FILE_SIZE and subject.needs_no_spreading
        if "moving_front" in subject.causes or is_small:
            return
        writes = subject.demand.writes or 0
        hurts = (
            writes >= self.BUSY_BYTES_PER_S
            or subject.has_measured("integer_imbalance")
            or not subject.can_read_from_one_server
        )
        yield self.build_finding(
            "splits" if subject.is_declared("splits") else "key",
            f"the table starts with one region, so one of {pluralize(servers, 'server')} takes "
            "all load until this region splits",
            self._format_remedy(subject),
            severity="warning" if hurts else "info",
            value=subject.declared_tree.get("splits"),
            writes=writes or None,
        )

    @staticmethod
    def _format_remedy(subject: LintSubject) -> str:
        """Return the remedy: splits that fit the leading bytes, or a longer sample."""
        if subject.bucket_count is not None:
            return 'Write splits = "per_bucket".'
        if (equal := find_equal_steps(subject.design)) is not None:
            regions = max(subject.sizing.regions, 2 * subject.cluster.servers)
            splits = format_toml_value({"algorithm": equal, "regions": regions})
            return f"Write splits = {splits}, because the leading bytes are spread evenly."
        if subject.design.splits.needs_sample:
            return (
                "Record a sample with more different keys; all quantiles of this sample "
                "are the same key."
            )
        return f"Write {format_quantile_splits(subject.design)}."
