"""The rule `missed_splits`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class MissedSplitsRule(Rule):
    """The splits do not match the keys.

    What it does: asks the leading part which bytes it can have, and assigns them to the declared
    regions.

    Why it hurts: regions without keys stay empty for ever, and the others take their load. Splits
    at 00, 10 … 90 under hexadecimal digits leave 43.75 % of all rows to the last region, and none
    to the first.

    Use instead: `per_bucket` where the first part has a fixed number of values; `hex_string` for
    hexadecimal digits, `decimal_string` for decimal digits, `uniform` for raw bytes, otherwise a
    sample.

    Source: claim 56 splits hexadecimal digits at 00..90; claim 71 chooses the algorithm by the sort
    of prefix, which agrees. The shares are computed. RegionSplitter.java.
    """

    name = "missed_splits"
    code = "RK201"
    looks_at_sample = True
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "warning"
    claims = (56, 71)
    cause = "missed_splits"
    bad_design = """\
table  = "users"
key    = "[digest(user, 4, as=hex)][user]"
splits = ["00", "10", "20", "30", "40", "50", "60", "70", "80", "90"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 11
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    other_codes = ("RK119",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the splits do not match the row keys."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            yield self.build_finding(
                subject.find_nearest_path("splits") if subject.is_declared("splits") else "key",
                cause.message,
                cause.remedy,
                severity="info" if "assumed" in cause.evidence else None,
                value=subject.declared_tree.get("splits"),
                verdict="Choose the split algorithm by the bytes that keys start with.",
                needs_key=cause.needs_key,
                **cause.evidence,
            )
