"""The rule `family_seldom_written`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FamilySeldomWritten(Rule):
    """Families of which one has many more cells than the other.

    What it does: where the sample tells how often fields are absent, compares the cells that an
    event writes into each family.

    Why it hurts: regions split by the large family, so that the rows of the small one are strewn
    over as many regions; a scan of it opens them all for a few cells each.

    Use instead: a table of its own for what few rows have, under the same key.

    Source: HBase book, "Cardinality of ColumnFamilies", with a million rows beside a thousand
    million; claim 19 agrees.
    """

    name = "family_seldom_written"
    code = "RK303"
    severity: ClassVar[Severity] = "warning"
    claims = (19,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u32"
name  = { type = "text", max_bytes = 200, family = "d" }
claim = { type = "text", max_bytes = 200, family = "c", nullable = true }

[families.d]
[families.c]
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u32"
name  = { type = "text", max_bytes = 200 }
claim = { type = "text", max_bytes = 200, nullable = true }
"""
    data = "user,name,claim\n" + "".join(
        f"{n * 7919 % 99991},n{n},{'yes' if n % 100 == 7 else ''}\n" for n in range(600)
    )
    also = ("RK304",)
    RATIO = 10
    """Times as many rows in one family from which it is said; 100 is the book's own example."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if subject.seen is None or len(subject.families) < 2:
            return
        shares = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            shares[cell.family] = max(shares[cell.family], cell.share)
        most = max(shares, key=lambda name: shares[name])
        for name, share in shares.items():
            if share * self.RATIO <= shares[most]:
                yield self.finding(
                    subject.nearest("families", name),
                    f"family {name} is in {share:.1%} of the rows, family {most} in "
                    f"{shares[most]:.0%}, and both split where {most} is full",
                    f"Keep {name} in a table of its own, under the same key.",
                    value=name,
                    share=share,
                    others=shares[most],
                )
