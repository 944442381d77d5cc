"""The rule `uneven_rows`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnevenRows(Rule):
    """A row with a hundred times the events of others.

    What it does: counts the events of each row in a sample, where rows hold many events.

    Why it hurts: what is sized for the usual row fails on that one. A scan takes as much memory as
    its widest row, the row cannot be split, and its region is moved, cached and compacted with it.

    Use instead: a bound on every row: a `time_slice` or `time_bucket` in the key, or the field of
    the qualifier itself. Or the few known heavy entities in a table of their own.

    Source: verdict on claim 46: a row cannot be split, and a get of more than 1 GB fails. HBase
    book, "Rows vs. Columns".
    """

    name = "uneven_rows"
    code = "RK507"
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad = """\
table  = "follows"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = { type = "u64", at = "qualifier" }
since    = "date"
"""
    good = """\
table  = "follows"
key    = "[bucket(user, follower, 16)][user][follower]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = "u64"
since    = "date"
"""
    data = "user,follower,since\n" + "".join(
        f"{7 if n % 25 == 0 else n * 7919},{n * 6007},2026-01-{1 + n % 28:02d}\n"
        for n in range(1, 5_001)
    )
    TIMES = 100
    """Times the mean from which a row is told: a choice of ours, two orders of size."""
    ENOUGH = 200
    """Events of a row in the sample below which it is not told."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        seen = subject.seen
        if seen is None or not subject.design.layout.shares_rows or subject.key.is_salted:
            return
        rows = [(sum(1 for _ in same), key) for key, same in groupby(seen.keys)]
        if not rows:
            return
        most, key = max(rows)
        mean = len(seen.keys) / len(rows)
        if most < self.ENOUGH or most < self.TIMES * mean:
            return
        share = most / len(seen.keys)
        yield self.finding(
            "key",
            f"the row {subject.key.show(key)[:80]} has {most:,} of "
            f"{counted(len(seen.keys), 'event')} "
            f"({share:.2%}), {most / mean:,.0f} times the mean of {counted(len(rows), 'row')}",
            "Bound the row by a field more in the key, or keep heavy entities in a table apart.",
            value=str(subject.key),
            events=most,
            mean=mean,
            share=share,
        )
