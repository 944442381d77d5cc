"""The rule `grouped_import`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class GroupedImport(Rule):
    """The sample's rows are grouped by the field that decides their region.

    What it does: looks whether, in the order of the sample's file, the values of the one field in
    the leading hash or reversal only rise, with many rows for each value.

    Why it hurts: the key spreads the rows, but not at any one time. While the rows of one value are
    loaded, one region takes all writes; several writers that read in the same order move from
    region to region in step.

    Use instead: the same rows in another order: shuffled, or by time. If they arrive by time and
    only the file is grouped, write `sort = true` under `[writes]`.

    Source: claim 79, the order of an import is randomised against lock-step: HBase book, "Import in
    Lock-step". An import in the order of the keys themselves is sorted-import.
    """

    name = "grouped_import"
    code = "RK702"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"
"""
    good_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"

[writes]
sort = true
"""
    sample_csv = "meter,ts,value\n" + "".join(
        f"{n // 100},{1_767_225_600 + n % 100 * 60},{n % 7}.5\n" for n in range(7_000)
    )
    MIN_RISING_SHARE = 0.99
    """Share of rows in ascending order from which the rows count as grouped."""
    MIN_ROWS_PER_VALUE = 100
    """Rows per value from which a client's batch holds few values."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the sample is grouped by the field that decides the region."""
        part, sample, writes = subject.leading_part, subject.sample, subject.design.writes
        if part is None or sample is None or writes.is_sorted or len(part.fields) != 1:
            return
        [name] = part.fields
        facts = subject.find_facts(name)
        is_time = subject.design.fields[name].type.unit_ns is not None
        if (
            is_time
            or part.order.is_ascending
            or part.order.is_descending
            or not facts.distinct_count
        ):
            return
        each = sample.event_count / facts.distinct_count
        if (facts.rising_share or 0.0) < self.MIN_RISING_SHARE or each < self.MIN_ROWS_PER_VALUE:
            return
        yield self.build_finding(
            "key",
            f"the rows of the sample are grouped by {name}, with "
            f"{pluralize(round(each), 'row')} for each value, and {name} alone decides the "
            "region, so one region takes all writes during each group",
            "Load the rows shuffled or by time, or set [writes] sort = true if they arrive by "
            "time.",
            value=name,
            rising=facts.rising_share,
            distinct=facts.distinct_count,
            rows_each=each,
        )
