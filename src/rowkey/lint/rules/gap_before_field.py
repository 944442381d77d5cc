"""The rule `gap_before_field`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.plan import count_spreading_parts

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class GapBeforeField(Rule):
    """A read gives a field of the key but not the field before it.

    What it does: looks for reads that fix the first fields of the key but not the next one, while a
    later field of the key is tested row by row.

    Why it hurts: only a prefix of the key narrows a scan. With [tenant][host][ts], a read of one
    hour of a tenant reads all rows of all its hosts.

    Use instead: fields that reads always give before those they leave out; or a second table for
    this read, without the middle field. If the middle field has few values, list them: `field in
    (…)` reads one range for each.

    Source: claim 52, fields are ordered by their use. It follows from the order of the keys: only a
    prefix narrows. HBase's FuzzyRowFilter skips over such gaps row by row, a seek for each value.
    """

    name = "gap_before_field"
    code = "RK607"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad_design = """\
table  = "logs"
key    = "[bucket(tenant, 16)][tenant][host][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
tenant = "u32"
host   = { type = "text", max_bytes = 16 }
line   = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a tenant"
where = "tenant = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(tenant, 16)][tenant][ts][host]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
tenant = "u32"
host   = { type = "text", max_bytes = 16 }
line   = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a tenant"
where = "tenant = ? and ts >= ? and ts < ?"
span  = "1h"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that gives a key field but not the field before it."""
        parts, first = subject.key.parts, count_spreading_parts(subject.key)
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned_count >= len(parts):
                continue
            missing_fields = [
                name for name in parts[plan.pinned_count].fields if name not in one.bounds
            ]
            earlier_fields = {
                name for part in parts[first : plan.pinned_count + 1] for name in part.fields
            }
            later_fields = {name for part in parts[plan.pinned_count + 1 :] for name in part.fields}
            filter_fields = [
                name for name in plan.residual_fields if name in later_fields - earlier_fields
            ]
            if not missing_fields or not filter_fields:
                continue
            gap = missing_fields[0]
            distinct = subject.count_distinct(gap)
            every = "every value" if distinct is None else f"all {pluralize(distinct, 'value')}"
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' gives {' and '.join(filter_fields)} but not {gap}, "
                f"which comes first in the key, so it scans the rows of {every} of {gap}",
                f"Put {filter_fields[0]} before {gap} in this key, or in the key of a second "
                "table.",
                value=one.read.name,
                missing=missing_fields,
                lost=filter_fields,
                distinct=distinct,
            )
