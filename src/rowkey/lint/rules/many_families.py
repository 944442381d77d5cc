"""The rule `many_families`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ManyFamilies(Rule):
    """The table has more than two column families.

    What it does: counts the families.

    Why it hurts: each family of a region has its own memstore and files, so memory is divided by
    the number of families, and files, compactions and open readers are multiplied by it. A read of
    a whole row opens all of them, and all of them split where the largest does.

    Use instead: one family; a second one for columns that are read without the others, or kept for
    a different time.

    Source: HBase book, "On the number of column families" and "Table Schema Rules of Thumb": one to
    three, ten at the outside; claim 16 says the same. Since HBASE-10201 a flush need not take all
    families; what a family costs besides has stayed.
    """

    name = "many_families"
    code = "RK301"
    severity: ClassVar[Severity] = "warning"
    claims = (16,)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
name  = { type = "text", max_bytes = 40, family = "a" }
token = { type = "u64", family = "b" }
phone = { type = "text", max_bytes = 16, family = "c" }

[families.a]

[families.b]
ttl = "30d"

[families.c]
versions = 3
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
name  = { type = "text", max_bytes = 40 }
token = "u64"
phone = { type = "text", max_bytes = 16 }
"""
    WARNING_ABOVE_COUNT = 2
    """Families up to which nothing is reported. Source: verdict on claim 16."""
    ERROR_ABOVE_COUNT = 10
    """Families above which it is an error. Source: the same verdict, from the book's "ten"."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table has more than two column families."""
        names = list(subject.families)
        count = len(names)
        if count <= self.WARNING_ABOVE_COUNT:
            return
        yield self.build_finding(
            subject.find_family_path(names[self.WARNING_ABOVE_COUNT]),
            f"the table has {count} families, so each region has {count} memstores and at "
            f"least {count} files, and a read of a whole row opens all of them",
            "Put columns that are read together and have the same ttl into one family.",
            severity="error" if count > self.ERROR_ABOVE_COUNT else "warning",
            value=count,
            families=names,
        )
