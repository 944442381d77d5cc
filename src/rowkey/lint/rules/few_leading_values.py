"""The rule `few_leading_values`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class FewLeadingValues(Rule):
    """The key starts with too few different values to fill the regions.

    What it does: compares the number of values of the fields that decide the region, from a sample
    or as declared, with the regions they can reach.

    Why it hurts: all rows of a value are in one region, so some regions stay empty, with or without
    a hash, and the busiest server holds several values while others hold none.

    Use instead: a bucket over more fields, or a salt if no fields distinguish the events.

    Source: claims 39 and 80 put the host or the metric first and hold only for many of them;
    OpenTSDB issue 991 has a cluster that was hot with few. Below four values a region, chance alone
    leaves the fullest of 16 at more than twice its share.
    """

    name = "few_leading_values"
    code = "RK104"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (39, 51, 80)
    cause = "few_entities"
    bad_design = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10 }
value  = "float64"
"""
    good_design = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10000 }
value  = "float64"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key starts with too few different values for the regions."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            figures = dict(cause.evidence)
            yield self.build_finding(
                "key",
                cause.message,
                cause.remedy,
                value=figures.pop("values"),
                needs_key=cause.needs_key,
                **figures,
            )
