"""The rule `overwritten_rows`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.hotspots import MIN_GROWTH, count_repeated_rows
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize
from rowkey.workload import count_key_values

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject
    from rowkey.workload import SampleSummary

MIN_EVENTS_PER_KEY = 10
"""Events written for each key from which on they are far more than keys."""


class OverwrittenRows(Rule):
    """Events overwrite rows of earlier events.

    What it does: counts the keys of the sample that occurred before, and the values of fields that
    are declared as unique. Below one in a thousand keys it is a remark: recordings often hold a few
    events twice. From there on it is an error where the key, or the order of a read, names a time:
    then each event is to be a row of its own, and is lost. Elsewhere rows may be those of entities
    that later events change, which only a comment in the file can tell: a warning. Events that are
    equal in every field lose nothing. Under a random salt such a row is not overwritten but stored
    twice, which random-salt reports. Without repeated keys in a sample it compares the events of
    the declared rate in the time to live with the keys that the fields of a key with the time can
    take then, if ten events or more share each.

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
        if sample is None or not sample.repeat_count:
            yield from self._find_few_keys(subject)
        if sample is None:
            return
        yield from self._find_repeated_values(subject, sample)
        if not sample.repeat_count or subject.key.is_salted:
            return
        share = sample.repeat_count / sample.event_count
        copies = self._measure_copies(subject, sample)
        lost_share = share * (1 - copies)
        what = (
            f"{sample.repeat_count:,} of {pluralize(sample.event_count, 'event')} ({share:.1%}) "
            f"overwrite{'s' * (sample.repeat_count == 1)} the row of an earlier event"
        )
        if copies >= 0.001:
            what += f", {copies:.1%} of them one that is equal in every field"
        part = subject.design.sample_share if subject.design.sample_part == "events" else None
        if part is not None:  # the chance that a sample has the earlier event too
            lost_share /= part
            if part * MIN_GROWTH <= 1:
                what += f"; in the table more do, for the sample has only {part:.2%} of its events"
        severity = self._choose_severity(subject, lost_share)
        yield self.build_finding(
            "key",
            what,
            "Add a field to the key that distinguishes these events; or allow this rule, if the "
            "last event should win.",
            severity=severity,
            value=str(subject.key),
            needs_key=severity == "error",
            repeats=sample.repeat_count,
            events=sample.event_count,
        )

    @staticmethod
    def _choose_severity(subject: LintSubject, lost_share: float) -> Severity:
        """Return how much it hurts that a share of the events is overwritten by others."""
        if lost_share < MAX_STRAY_SHARE:
            return "info"
        return "error" if subject.design.has_event_rows else "warning"

    @staticmethod
    def _measure_copies(subject: LintSubject, sample: SampleSummary) -> float:
        """Return the share of the overwriting events that equal an earlier one; 0 if unknown."""
        rows, keys = sample.keyed_events.rows, sample.keyed_events.keys
        repeats = len(keys) - len(set(keys))
        if not repeats or not set(subject.design.fields) <= set(rows.schema.names):
            return 0.0
        return count_repeated_rows(rows, rows.schema.names) / repeats

    def _find_few_keys(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key can take far fewer values than events are written."""
        design = subject.design
        rate, time = design.writes.rate, design.writes.time
        if rate is None or time is None or time.name not in design.layout.identity_fields:
            return
        if subject.key.is_salted or max(one.versions for one in design.families.values()) > 1:
            return
        kept_s = max(family.ttl_s for family in design.families.values())
        counts = count_key_values(design.layout, design.families, design.writes, 1)
        keys, events = prod(counts.values()), rate * kept_s
        if keys == inf or events < MIN_EVENTS_PER_KEY * keys:
            return
        yield self.build_finding(
            "key",
            f"{events:,.0f} events are written in the time to live at {rate:,g}/s, but the key can "
            f"take {keys:,.0f} values in it: each row is written {events / keys:,.0f} times",
            "Add a field to the key that distinguishes these events, or count them with increments "
            "of one row; or allow this rule, if the last event should win.",
            value=str(subject.key),
            keys=keys,
            events=events,
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
                subject.format_path("fields", name, "unique"),
                f"{name} is declared as unique, but {pluralize(sample.event_count, 'event')} have "
                f"{pluralize(values, 'value')} of it",
                "Remove unique: a key of this field alone would keep the last event of each value.",
                value=name,
                field=name,
                values=values,
                events=sample.event_count,
            )
