"""The rule `value_behind_range`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ValueBehindRange(Rule):
    """A read fixes a field that comes after the field of its range.

    What it does: looks for reads that the key narrows to a range of one field, while a later field,
    of which the read gives one value or a few, is tested row by row.

    Why it hurts: the rows of that value are scattered over the range, between those of all other
    values. With a thousand hosts after the time, one host's lines of an hour cost the lines of all
    hosts in that hour.

    Use instead: fields with one value before the field with a range. If another read asks for the
    range alone, use two tables.

    Source: claim 52, fields are ordered by their use: equality before the range. It follows from
    the order of the keys: a range is one prefix and one stretch behind it.
    """

    name = "value_behind_range"
    code = "RK605"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    MIN_VALUES_FOR_WARNING = 10
    """Values of the field below which it is only an info: at least one row in ten is returned."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that fixes a key field after the field of its range."""
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned_count >= len(subject.key.parts):
                continue
            ranged = [
                name
                for name in subject.key.parts[plan.pinned_count].fields
                if isinstance(one.bounds.get(name), Range | StartsWith)
            ]
            later_fields = {
                n for part in subject.key.parts[plan.pinned_count + 1 :] for n in part.fields
            }
            for name in [n for n in plan.residual_fields if ranged and n in later_fields]:
                if not isinstance(one.bounds[name], Equal | OneOf):
                    continue
                distinct = subject.count_distinct(name)
                is_few = distinct is not None and distinct < self.MIN_VALUES_FOR_WARNING
                value_phrase = (
                    "every value" if distinct is None else f"all {pluralize(distinct, 'value')}"
                )
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' gives {name}, but the key has {ranged[0]} "
                    f"before it, so the read scans the rows of {value_phrase} of {name} within "
                    "that range",
                    f"Put {name} before {ranged[0]} in this key, or in the key of a second table.",
                    severity="info" if is_few else None,
                    value=one.read.name,
                    field=name,
                    behind=ranged[0],
                    distinct=distinct,
                )
