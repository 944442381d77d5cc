"""The rule `uneven_regions`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnevenRegions(Rule):
    """The regions do not divide evenly among the servers.

    What it does: compares the number of regions that hold keys with the servers.

    Why it hurts: the balancer gives some servers one region more. Ten equal regions on eight
    servers load two of them with 1.6 times the mean, and these limit the table.

    Use instead: a multiple of the servers, at least twice as many, so that one more server changes
    little.

    Source: ceil(k / S) · S / k, the pigeonhole principle. Claims 10 and 14 ask for even regions:
    what must be even is the load of the servers.
    """

    name = "uneven_regions"
    code = "RK202"
    looks_at_sample = True
    measured_by = "writes"
    concerns_regions = True
    severity: ClassVar[Severity] = "info"
    claims = (10, 14)
    cause = "integer_imbalance"
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 10)][host][ts]"
splits = "per_bucket"

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
    WARNING_SKEW = 1.5
    """Load of the busiest server over the mean, from which it is a warning."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the regions do not divide evenly among the servers."""
        cause = subject.causes.get(self.cause)
        if subject.outgrows_its_splits or "missed_splits" in subject.causes:
            return  # RK802 and RK201 name a number of regions, which the servers divide as well
        if cause is not None and cause.evidence["regions"] > subject.cluster.servers:
            yield self.build_finding(
                subject.find_nearest_path("splits") if subject.is_declared("splits") else "key",
                cause.message,
                cause.remedy,
                severity="warning" if cause.bound >= self.WARNING_SKEW else "info",
                verdict=(
                    "A key prefix for each region is even only if the servers divide the "
                    "number of regions."
                ),
                value=subject.declared_tree.get("splits"),
                needs_key=cause.needs_key,
                **cause.evidence,
            )
