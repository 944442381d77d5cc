"""The rule `one_hot_row`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class OneHotRow(Rule):
    """One row that takes many of the writes.

    What it does: multiplies the shares of the most frequent value of each field of the key, where
    all are known, and looks at the least that must meet in one row.

    Why it hurts: a row lies in one region, on one server, and no key, split or server spreads it.
    Puts of one row wait for each other.

    Use instead: several rows for the one, summed when they are read, or what tells the events apart
    in the key.

    Source: HBase book, "Hotspotting"; a row is locked while it is written.
    """

    name = "one_hot_row"
    code = "RK105"
    severity: ClassVar[Severity] = "warning"
    cause = "hot_row"
    bad = """\
table  = "likes"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 100, draw = { kind = "hotspot", values = 0.01, events = 0.5 } }
likes = "u64"
"""
    good = """\
table  = "likes"
key    = "[bucket(page, user, 16)][page][user]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 10000 }
user  = "u32"
likes = "u64"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is not None:
            yield self.finding(
                "key", found.message, found.remedy, value=str(subject.key), **found.evidence
            )
