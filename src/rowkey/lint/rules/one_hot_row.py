"""The rule `one_hot_row`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class OneHotRow(Rule):
    """One row takes many of the writes.

    What it does: multiplies the shares of the most frequent value of each field of the key, where
    all are known, for the least share of events that must meet in one row.

    Why it hurts: a row is in one region, on one server, and no key, split or server spreads it.
    Puts to the same row wait for each other.

    Use instead: several rows in place of the one, summed when they are read, or a further field in
    the key that distinguishes the events.

    Source: HBase book, "Hotspotting"; a row is locked while it is written.
    """

    name = "one_hot_row"
    code = "RK105"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    cause = "hot_row"
    bad_design = """\
table  = "likes"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 100, draw = { kind = "hotspot", values = 0.01, events = 0.5 } }
likes = "u64"
"""
    good_design = """\
table  = "likes"
key    = "[bucket(page, user, 16)][page][user]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 10000 }
user  = "u32"
likes = "u64"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if one row takes many of the writes."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            yield self.build_finding(
                "key", cause.message, cause.remedy, value=str(subject.key), **cause.evidence
            )
