"""The rule `many_families`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ManyFamilies(Rule):
    """More column families than a table stands.

    What it does: counts the declared families.

    Why it hurts: each region has a MemStore and files for each family, which split at one point,
    and a scan of a row opens all of them. Three families have a third of the memory each, and
    flush files a third as large.

    Use instead: one family; a second one only for columns that are read by themselves.

    Source: HBase book, "On the number of column families": 1 to 3, and think well beyond about 10;
    claim 16 agrees.
    """

    name = "many_families"
    code = "RK301"
    severity: ClassVar[Severity] = "warning"
    claims = (16,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 200, family = "a" }
photo = { type = "bytes", max_bytes = 50000, family = "b" }
notes = { type = "text", max_bytes = 2000, family = "c" }

[families.a]
[families.b]
[families.c]
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 200 }
notes = { type = "text", max_bytes = 2000 }
"""
    SOME, MANY = 3, 10
    """Families from which it is a warning, and above which it is an error, as the book has it."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        count = len(subject.families)
        if count >= self.SOME:
            yield self.finding(
                subject.nearest("families", list(subject.families)[self.SOME - 1]),
                f"{count} families: each region has {count} MemStores, and files for each",
                "Keep together what is read together, in one family or two.",
                severity="error" if count > self.MANY else "warning",
                value=count,
            )
