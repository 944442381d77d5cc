"""The rule `uneven_rows`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import MAX_READ_ROW_BYTES
from rowkey.lint.contract import Rule
from rowkey.messages import format_days, pluralize
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject

GIB = 1 << 30
YEAR_S = 365 * 86_400


class UnevenRows(Rule):
    """One row holds a hundred times the events of the others.

    What it does: counts the events of each row in a sample, where rows hold many events. It is an
    error if the declared rate lets the row grow above the 1 GiB that a read returns at most, within
    its time to live or a year.

    Why it hurts: what is sized for the usual row fails on that one. A scan needs as much memory as
    its widest row, and the row cannot be split.

    Use instead: a limit for every row: a `time_slice` or `time_bucket` in the key, or the
    qualifier's field in the key. Or a separate table for the few known heavy entities.

    Source: verdict on claim 46: a row cannot be split, and a get of more than 1 GB fails. HBase
    book, "Rows vs. Columns".
    """

    name = "uneven_rows"
    code = "RK507"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad_design = """\
table  = "follows"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = { type = "u64", at = "qualifier" }
since    = "date"
"""
    good_design = """\
table  = "follows"
key    = "[bucket(user, follower, 16)][user][follower]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = "u64"
since    = "date"
"""
    sample_csv = "user,follower,since\n" + "".join(
        f"{7 if n % 25 == 0 else n * 7919},{n * 6007},2026-01-{1 + n % 28:02d}\n"
        for n in range(1, 5_001)
    )
    MIN_TIMES_MEAN = 100
    """Multiple of the mean from which a row is reported: our choice, two orders of magnitude."""
    MIN_EVENTS_PER_ROW = 200
    """Sampled events of a row below which it is not reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if one row holds far more events than the others."""
        sample = subject.sample
        if sample is None or not subject.design.layout.has_shared_rows or subject.key.is_salted:
            return
        rows = [(sum(1 for _ in group), key) for key, group in groupby(sample.keys)]
        if not rows:
            return
        largest, key = max(rows)
        mean = len(sample.keys) / len(rows)
        if largest < self.MIN_EVENTS_PER_ROW or largest < self.MIN_TIMES_MEAN * mean:
            return
        share = largest / len(sample.keys)
        kept_s = max((subject.families[cell.family].ttl_s for cell in subject.cells), default=0)
        rate, row_seconds = subject.design.writes.rate or 0.0, self._find_row_seconds(subject)
        seconds = min(kept_s, YEAR_S, row_seconds)
        grown_bytes = share * rate * seconds * subject.event_bytes
        is_too_large = grown_bytes > MAX_READ_ROW_BYTES
        growth = (
            f"; at the declared rate it gets {grown_bytes / GIB:,.0f} GiB in "
            f"{_format_time(seconds)}, and a read of a row above 1 GiB fails"
        )
        limit = "Add a field to the key that limits the row"
        if row_seconds < math.inf:
            limit = "Shorten the time step in the key"
        yield self.build_finding(
            "key",
            f"the row {subject.key.format_prefix(key)[:80]} has {largest:,} of "
            f"{pluralize(len(sample.keys), 'event')} ({share:.2%}), {largest / mean:,.0f} times "
            f"the mean of {pluralize(len(rows), 'row')}{growth if is_too_large else ''}",
            f"{limit}, or give heavy entities a separate table.",
            severity="error" if is_too_large else None,
            value=str(subject.key),
            events=largest,
            mean=mean,
            share=share,
        )

    @staticmethod
    def _find_row_seconds(subject: LintSubject) -> float:
        """Return the seconds in which the largest row gets its share of all events.

        They are infinite without a time in the key; a row of a step of time gets no event of
        another step, but its share was counted in the whole sample.
        """
        time = subject.design.writes.time
        if time is None:
            return math.inf
        steps = [
            part.resolution_ns
            for part in subject.key.parts
            if part.fields == (time.name,) and part.resolution_ns
        ]
        facts = subject.find_facts(time.name)
        known = [] if facts.minimum is None else [facts.minimum, facts.maximum]
        ticks = [time.type.to_internal(value) for value in known] or [0]
        sample_ns: int = (ticks[-1] - ticks[0]) * (time.type.unit_ns or 0)
        return max(min(steps, default=math.inf), sample_ns) / NANOSECONDS["s"]


def _format_time(seconds: float) -> str:
    """Return a length of time in days, or in hours below two days.

    >>> _format_time(30 * 86_400), _format_time(5_400)
    ('30 days', '1.5 h')
    """
    days = seconds / 86_400
    return format_days(days)
