"""The rule `events_in_one_cell`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.array_libraries import pa
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import format_number, pluralize
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class EventsInOneCell(Rule):
    """Different events of a row write the same cell.

    What it does: counts the events of the sample whose key and qualifier occurred before; without a
    sample, compares the rate of an entity with the unit of the time that a slice leaves to the
    qualifier.

    Why it hurts: a cell that is written again becomes another version, and one version is kept by
    default. The earlier event is lost without an error.

    Use instead: `at = "qualifier"` on the field that distinguishes the events, or a time with a
    finer unit.

    Source: HBase book, "Versions"; claim 8, the same key overwrites, holds for a cell. Claim 41
    puts the rest of a time slice into the qualifier.
    """

    name = "events_in_one_cell"
    code = "RK508"
    looks_at_sample = True
    severity: ClassVar[Severity] = "error"
    claims = (8, 41)
    bad_design = """\
table  = "taps"
key    = "[bucket(gate, 16)][gate][time_slice(ts, 10m)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
gate = { type = "u32", distinct = 1000 }
card = "u64"

[families.d]
ttl = "1h"

[writes]
rate = "5000/s"
"""
    good_design = """\
table  = "taps"
key    = "[bucket(gate, 16)][gate][time_slice(ts, 10m)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
gate = { type = "u32", distinct = 1000 }
card = { type = "u64", at = "qualifier" }

[families.d]
ttl = "1h"

[writes]
rate = "5000/s"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if different events of a shared row overwrite each other's cells."""
        layout = subject.design.layout
        if not layout.has_shared_rows or layout.cell_timestamp is not None or subject.key.is_salted:
            return
        if subject.sample is not None:
            yield from self._check_sample(subject, list(layout.identity_fields))
        else:
            yield from self._check_rate(subject)

    def _check_sample(self, subject: LintSubject, names: list[str]) -> Iterator[Finding]:
        """Yield a finding if sampled events write the same cell."""
        assert subject.sample is not None
        rows = subject.sample.rows
        if not set(names) <= set(rows.schema.names):
            return
        repeats = rows.num_rows - count_distinct_events(rows, names)
        if repeats:
            yield self.build_finding(
                "key",
                f"{repeats:,} of {pluralize(rows.num_rows, 'event')} have the same "
                f"{', '.join(names)} as an earlier event of the sample, so they overwrite its "
                "cells",
                self._format_remedy(subject),
                severity="info" if repeats < MAX_STRAY_SHARE * rows.num_rows else "warning",
                value=str(subject.key),
                repeats=repeats,
                events=rows.num_rows,
            )

    def _check_rate(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the declared rate puts several events into one cell."""
        remainders = subject.design.layout.time_remainders
        opening = subject.design.layout.qualifier_prefix
        if len(remainders) != 1 or opening is None or opening.fields:
            return
        time = remainders[0].field
        other_fields = [name for name in subject.key.fields if name != time]
        counts = [subject.count_distinct(name) for name in other_fields]
        rate, tick = subject.design.writes.rate, subject.design.fields[time].type.unit_ns
        if rate is None or tick is None or not all(counts):
            return
        each = rate / prod(n for n in counts if n) * tick / NANOSECONDS["s"]
        if each > 1:
            yield self.build_finding(
                "key",
                f"{format_number(each)} events with the same {', '.join(other_fields) or 'row key'}"
                f" arrive within one unit of {time}, so they write the same cell and all but "
                "the last are lost",
                self._format_remedy(subject),
                value=str(subject.key),
                each=each,
            )

    @staticmethod
    def _format_remedy(subject: LintSubject) -> str:
        """Return the remedy: a field that tells events apart, or a finer time if there is one."""
        fields = subject.design.fields
        names = subject.design.layout.identity_fields
        has_time = any(fields[name].type.unit_ns is not None for name in names)
        finer = ", or use a finer time unit" if has_time else ""
        return f'Set at = "qualifier" on a field that distinguishes these events{finer}.'


def count_distinct_events(rows: pa.RecordBatch, names: list[str]) -> int:
    """Count the distinct combinations of some fields among sampled events."""
    events = pa.Table.from_batches([rows.select(names)])
    return int(events.group_by(names).aggregate([]).num_rows)
