"""The rule `overwritten_rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject
    from rowkey.workload import SampleSummary


class OverwrittenRows(Rule):
    """Events of the sample overwrite rows of earlier events.

    What it does: counts the keys of the sample that occurred before, and the values of fields that
    are declared as unique. Below one in a thousand keys it is a remark: recordings often hold a few
    events twice. Under a random salt such a row is not overwritten but stored twice, which
    random-salt reports.

    Why it hurts: a put of the same row, family and qualifier is a further version, and one version
    is kept by default. The earlier event is lost without an error.

    Use instead: a further field in the key that distinguishes the events, or the event time as the
    timestamp of the cells with as many versions as wanted. If rows are meant to be updated, allow
    the finding.

    Source: HBase book, "Versions"; claim 8 agrees, and asks to look for duplicates.
    """

    name = "overwritten_rows"
    code = "RK108"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (8, 64)
    bad_design = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day][order]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    sample_csv = "customer,day,order\n" + "".join(
        f"{n * 7919 % 301},2026-01-{1 + n // 450:02d},{n * 6007 % 9001}\n" for n in range(1_800)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if sampled events overwrite the rows of earlier events."""
        sample = subject.sample
        if sample is None:
            return
        yield from self._find_repeated_values(subject, sample)
        if not sample.repeat_count or subject.key.is_salted:
            return
        share = sample.repeat_count / sample.event_count
        what = (
            f"{sample.repeat_count:,} of {pluralize(sample.event_count, 'event')} ({share:.1%}) "
            f"overwrite{'s' * (sample.repeat_count == 1)} the row of an earlier event"
        )
        part = subject.design.sample_share if subject.design.sample_part == "events" else None
        if part is not None:  # the chance that a sample has the earlier event too
            share /= part
            what += f"; in the table far more do, for the sample has only {part:.2%} of its events"
        yield self.build_finding(
            "key",
            what,
            "Add a field to the key that distinguishes these events; or allow this rule, if the "
            "last event should win.",
            severity="info" if share < MAX_STRAY_SHARE else None,
            value=str(subject.key),
            repeats=sample.repeat_count,
            events=sample.event_count,
        )

    def _find_repeated_values(
        self, subject: LintSubject, sample: SampleSummary
    ) -> Iterator[Finding]:
        """Yield a finding for each field that is declared as unique and repeats its values."""
        for name, declared in subject.design.fields.items():
            facts = sample.facts.get(name)
            values = facts.distinct_count if facts is not None and facts.exact else None
            if not declared.declaration.unique or values in (None, sample.event_count):
                continue
            yield self.build_finding(
                f"fields.{name}.unique",
                f"{name} is declared as unique, but {pluralize(sample.event_count, 'event')} have "
                f"{pluralize(values, 'value')} of it",
                "Remove unique: a key of this field alone would keep the last event of each value.",
                value=name,
                field=name,
                values=values,
                events=sample.event_count,
            )
