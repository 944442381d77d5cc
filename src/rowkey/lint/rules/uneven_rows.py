"""The rule `uneven_rows`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import MAX_READ_ROW_BYTES
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        rate, seconds = subject.design.writes.rate or 0.0, min(kept_s, YEAR_S)
        grown_bytes = share * rate * seconds * subject.event_bytes
        is_too_large = grown_bytes > MAX_READ_ROW_BYTES
        growth = (
            f"; at the declared rate it gets {grown_bytes / GIB:,.0f} GiB in "
            f"{seconds / 86_400:,.3g} days, and a read of a row above 1 GiB fails"
        )
        yield self.build_finding(
            "key",
            f"the row {subject.key.format_prefix(key)[:80]} has {largest:,} of "
            f"{pluralize(len(sample.keys), 'event')} ({share:.2%}), {largest / mean:,.0f} times "
            f"the mean of {pluralize(len(rows), 'row')}{growth if is_too_large else ''}",
            "Add a field to the key that limits the row, or give heavy entities a separate table.",
            severity="error" if is_too_large else None,
            value=str(subject.key),
            events=largest,
            mean=mean,
            share=share,
        )
