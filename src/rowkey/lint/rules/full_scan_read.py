"""The rule `full_scan_read`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.proposals import ANOTHER_KEY
from rowkey.schema import Range
from rowkey.workload import (
    DEFAULT_CAPACITY_PER_S,
    FAIR_WASTE,
    POOR_WASTE,
    count_read_operations,
)

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject
    from rowkey.plan import DeclaredRead


class FullScanRead(Rule):
    """A declared read scans the whole table.

    What it does: plans each declared read with example values, and reports those with conditions
    that still read every row of the table. The rate of the read decides how severe that is: an
    error if it wastes more than a tenth of all servers' capacity, or if no rate is declared; a
    warning if it wastes more than a hundredth, or asks for few rows; else a remark. A read of all
    rows, without a condition and a limit, is only a remark, and so is one that a declared
    companion serves.

    Why it hurts: the cost grows with the table and not with the answer. Every region is opened and
    every block is read, which evicts the cache. A filter on the server saves what is sent, not what
    is read.

    Use instead: a key that starts, after the bucket or salt, with the fields that the read gives;
    or a second table with such a key.

    Source: the shares are those of the verdict, for the declared capacity or 10,000 operations a
    second of each server, and for the rows that size or rate imply, or the sample, or a million;
    claim 2, a table is read by get, by range or whole; claims 1 and 52, the key must serve
    the reads. HBase book, "Schema design": rows are found by their keys alone, and by no other
    index.
    """

    name = "full_scan_read"
    code = "RK601"
    measured_by = "reads"
    severity: ClassVar[Severity] = "error"
    claims = (2, 52)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    MAX_LIMIT_OF_POINT_READ = 10
    ASSUMED_ROWS = 1_000_000
    """Rows of a table of unknown size."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each declared read that scans the whole table."""
        for one in subject.reads:
            if one.plan is None or not one.plan.is_full_scan:
                continue
            read = one.read
            is_only_reversed = all(  # then reversed-under-range reports it
                name in subject.unordered_fields and isinstance(bound, Range)
                for name, bound in one.bounds.items()
            )
            if one.bounds and not is_only_reversed:
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{read.name}' scans the whole table: it gives "
                    f"{' and '.join(one.bounds)}, which cannot narrow the scan with this key",
                    ANOTHER_KEY,
                    severity=self._choose_severity(subject, read),
                    value=read.name,
                    given=list(one.bounds),
                    needs_key=True,
                )
            elif not one.bounds and read.limit is None:
                yield self.build_finding(
                    one.path,
                    f"the read '{read.name}' has neither a condition nor a limit and scans the "
                    "whole table",
                    "Add a limit to the read, or read a snapshot of the table.",
                    severity="info",
                    value=read.name,
                )

        for one in subject.planned_reads:
            if one.companion and one.plan is not None and one.plan.is_full_scan:
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' would scan the whole table, and the companion "
                    f"{one.companion} serves it",
                    f"Declare it in the design of {one.companion}, by whose key it is judged.",
                    severity="info",
                    value=one.read.name,
                    companion=one.companion,
                )

    def _choose_severity(self, subject: LintSubject, read: DeclaredRead) -> Severity:
        """Return how severe the scan of a read is, by its rate."""
        if read.rate is None:
            return "error"
        cluster = subject.cluster
        capacity = (cluster.capacity_per_s or DEFAULT_CAPACITY_PER_S) * cluster.servers
        regions = len(subject.boundaries) if subject.boundaries is not None else 1
        waste = read.rate * count_read_operations(regions, self._estimate_rows(subject)) / capacity
        if waste > POOR_WASTE:
            return "error"
        is_point_read = read.limit is not None and read.limit <= self.MAX_LIMIT_OF_POINT_READ
        return "warning" if waste > FAIR_WASTE or is_point_read else "info"

    def _estimate_rows(self, subject: LintSubject) -> float:
        """Return the rows that the table will have, or a million if nothing tells."""
        if subject.demand.plain_size and subject.event_bytes:
            return subject.demand.plain_size / subject.event_bytes
        return self.ASSUMED_ROWS if subject.sample is None else subject.sample.event_count
