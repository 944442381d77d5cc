"""The rule `gap_before_field`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.plan import spreading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class GapBeforeField(Rule):
    """A read gives a field of the key, but not the one before it.

    What it does: looks for reads that the key narrows by its first fields, then leaves open at one
    that the read does not give, while a field behind that one is tested row by row.

    Why it hurts: what stands behind the gap narrows nothing. With [tenant][host][ts], a read of one
    hour of a tenant goes through all its hosts, and through all the time each of them has stored.

    Use instead: the fields that reads always give before those they leave out; or a second table
    for the read without the middle one. Of a few values, `field in (…)` lists them, a range each.

    Source: claim 52, fields are ordered by their use. It follows from the order of the keys: only a
    prefix narrows. HBase's FuzzyRowFilter skips over such gaps row by row, a seek for each value.
    """

    name = "gap_before_field"
    code = "RK607"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad = """\
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
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        parts, first = subject.key.parts, spreading(subject.key)
        for index, one in enumerate(subject.reads):
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned >= len(parts):
                continue
            missing = [name for name in parts[plan.pinned].fields if name not in one.bounds]
            before = {name for part in parts[first : plan.pinned + 1] for name in part.fields}
            behind = {name for part in parts[plan.pinned + 1 :] for name in part.fields}
            lost = [name for name in plan.residual if name in behind - before]
            if not missing or not lost:
                continue
            distinct = subject.distinct(missing[0])
            every = "every value" if distinct is None else f"all {counted(distinct, 'value')}"
            yield self.finding(
                subject.at("reads", index, "where"),
                f"{one.read.name} gives {' and '.join(lost)} and not {missing[0]}, which stands "
                f"before that in the key: the rows of {every} of {missing[0]} are read",
                f"Put {lost[0]} before {missing[0]}, here or in a second table.",
                value=one.read.name,
                missing=missing,
                lost=lost,
                distinct=distinct,
            )
