"""The rule `few_leading_values`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FewLeadingValues(Rule):
    """Too few leading values to fill the regions.

    What it does: counts the values of the fields that decide the region, from a sample or as
    declared, against the regions that they can reach.

    Why it hurts: a value is never in two regions at once, so regions stay empty, hashed or not, and
    the busiest server carries several values while others carry none.

    Use instead: a bucket over more fields, or a salt where there are none that tell events apart.

    Source: claims 39 and 80 put the host or the metric first and hold only for many of them;
    OpenTSDB issue 991 has a cluster that was hot with few. Below four values a region, chance alone
    leaves the fullest of 16 at more than twice its share.
    """

    name = "few_leading_values"
    code = "RK104"
    severity: ClassVar[Severity] = "warning"
    claims = (39, 51, 80)
    cause = "few_entities"
    bad = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10 }
value  = "float64"
"""
    good = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10000 }
value  = "float64"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is not None:
            figures = dict(found.evidence)
            yield self.finding(
                "key", found.message, found.remedy, value=figures.pop("values"), **figures
            )
