"""The rule `unequal_families`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnequalFamilies(Rule):
    """A family that few rows have beside one that most have.

    What it does: counts in a sample how many events write a cell of each family, and compares each
    family with the fullest.

    Why it hurts: a region splits by its largest store, so the rows of the small family are
    scattered over as many regions as the large one needs. A scan of the small family alone opens
    all of them, for a few rows each.

    Use instead: a table of its own for what few rows have, or its columns in the family that every
    row has: a cell that is absent takes no room.

    Source: HBase book, "Cardinality of ColumnFamilies"; claim 19 gives a million rows against a
    billion, and its verdict warns from 10 to 100 times on.
    """

    name = "unequal_families"
    code = "RK303"
    severity: ClassVar[Severity] = "info"
    claims = (19,)
    bad = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order    = "u64"
total    = "u32"
returned = { type = "u32", nullable = true, family = "r" }

[families.d]

[families.r]
versions = 3
"""
    good = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order    = "u64"
total    = "u32"
returned = { type = "u32", nullable = true }
"""
    data = "order,total,returned\n" + "".join(
        f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**63},{n % 97},{n if n % 40 == 0 else ''}\n"
        for n in range(1_200)
    )
    MANY = 10
    """Times as many rows from which it is told. Source: verdict on claim 19."""
    HUGE = 100
    """Times as many from which it is a warning. Source: the same."""
    ENOUGH = 1_000
    """Events below which a share of one in a hundred is chance."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if subject.seen is None or subject.seen.events < self.ENOUGH or len(subject.families) < 2:
            return
        shares: dict[str, list[float]] = {name: [] for name in subject.families}
        for cell in subject.cells:
            if not subject.seen.facts.keys() >= set(cell.fields):
                return
            shares[cell.family].append(cell.share)
        # At least as many events as its commonest cell has, at most as many as all together.
        fullest = max(shares, key=lambda name: max(shares[name], default=0.0))
        most = max(shares[fullest])
        for name in subject.families:
            few = max(min(sum(shares[name]), 1.0), 1 / subject.seen.events)
            if most / few < self.MANY:
                continue
            yield self.finding(
                subject.family_path(name),
                f"family {fullest} has cells of {most:.2%} of "
                f"{counted(subject.seen.events, 'event')}, "
                f"{name} of {few:.2%}: {most / few:,.0f} times fewer rows, over the same regions",
                f"Give {name} a table of its own, or put its columns into {fullest}.",
                severity="warning" if most / few > self.HUGE else "info",
                value=name,
                ratio=most / few,
                fullest=fullest,
            )
