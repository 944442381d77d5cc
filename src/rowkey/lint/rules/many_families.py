"""The rule `many_families`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ManyFamilies(Rule):
    """More than two column families.

    What it does: counts the families.

    Why it hurts: each family of a region has a MemStore and files of its own, so memory is divided
    by their number and files, compactions and open readers are multiplied by it. A read of a whole
    row asks every one, and all of them split where the largest does.

    Use instead: one family; a second one for columns that are read without the others, or kept
    for another time.

    Source: HBase book, "On the number of column families" and "Table Schema Rules of Thumb": one to
    three, ten at the outside; claim 16 says the same. Since HBASE-10201 a flush need not take all
    families; what a family costs besides has stayed.
    """

    name = "many_families"
    code = "RK301"
    severity: ClassVar[Severity] = "warning"
    claims = (16,)
    bad = """\
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
    good = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
name  = { type = "text", max_bytes = 40 }
token = "u64"
phone = { type = "text", max_bytes = 16 }
"""
    FEW = 2
    """Families up to which nothing is said, as the verdict on claim 16 has it."""
    MOST = 10
    """Families above which it cannot go well. Source: the same verdict, from the book's "ten"."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        names = list(subject.families)
        count = len(names)
        if count <= self.FEW:
            return
        yield self.finding(
            subject.family_path(names[self.FEW]),
            f"{count} families: a region has {count} MemStores and at least {count} files, and a "
            "read of a whole row opens them all",
            "Put columns that are read together and kept as long into one family.",
            severity="error" if count > self.MOST else "warning",
            value=count,
            families=names,
        )
