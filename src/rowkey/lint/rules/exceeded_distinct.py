"""The rule `exceeded_distinct`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject

MAX_COUNT_ERROR = 1.1
"""Times the declared values from which on an estimated count of them is surely above it."""


class ExceededDistinct(Rule):
    """A sample has more values of a field than the design file declares for the whole table.

    What it does: compares `distinct` of each field with the values that the sample has.

    Why it hurts: `distinct` is the number of values of the table: it decides how many rows each
    value has, how many buckets are worth their ranges, and how the table grows. Each of these
    figures is then wrong.

    Use instead: the number of values that the table will have, or no `distinct` at all.

    Source: the sample; an estimated number of values counts from a tenth above the declared one on.
    """

    name = "exceeded_distinct"
    code = "RK805"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = { type = "u32", distinct = 100 }
ts    = "timestamp_s"
"""
    good_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = { type = "u32", distinct = 5000 }
ts    = "timestamp_s"
"""
    sample_csv = "meter,ts\n" + "".join(
        f"{n * 7919 % 301},{1_700_000_000 + n}\n" for n in range(1_800)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field with more sampled than declared values."""
        if subject.sample is None:
            return
        for name, field in subject.design.fields.items():
            declared, facts = field.declaration.distinct, subject.sample.facts.get(name)
            found = None if facts is None else facts.distinct_count
            if declared is None or facts is None or found is None:
                continue
            if found <= declared * (1 if facts.exact else MAX_COUNT_ERROR):
                continue
            yield self.build_finding(
                subject.format_path("fields", name, "distinct"),
                f"{name} is declared to have {declared:,} values, but the sample has {found:,}",
                f"Declare as many values as the whole table will have, {found:,} or more; or leave "
                "distinct out.",
                value=declared,
                field=name,
                values=found,
            )
