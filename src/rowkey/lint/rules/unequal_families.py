"""The rule `unequal_families`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnequalFamilies(Rule):
    """One family is used by few rows and another by most.

    What it does: counts in a sample how many events write a cell of each family, and compares each
    family with the one that most events write.

    Why it hurts: a region splits by its largest store, so the rows of the small family are
    scattered over as many regions as the large one needs. A scan of the small family alone opens
    all of them, for a few rows each.

    Use instead: a separate table for the columns that few rows have, or the family that every row
    has: an absent cell takes no space.

    Source: HBase book, "Cardinality of ColumnFamilies"; claim 19 gives a million rows against a
    billion, and its verdict warns from 10 to 100 times on.
    """

    name = "unequal_families"
    code = "RK303"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (19,)
    bad_design = """\
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
    good_design = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order    = "u64"
total    = "u32"
returned = { type = "u32", nullable = true }
"""
    sample_csv = "order,total,returned\n" + "".join(
        f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**63},{n % 97},{n if n % 40 == 0 else ''}\n"
        for n in range(1_200)
    )
    INFO_RATIO = 10
    """Ratio of rows from which it is reported. Source: verdict on claim 19."""
    WARNING_RATIO = 100
    """Ratio of rows from which it is a warning. Source: the same."""
    MIN_EVENTS = 1_000
    """Events that are needed to measure a share of one in a hundred."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that far fewer rows use than another."""
        if (
            subject.sample is None
            or subject.sample.event_count < self.MIN_EVENTS
            or len(subject.families) < 2
        ):
            return
        shares: dict[str, list[float]] = {name: [] for name in subject.families}
        for cell in subject.cells:
            if not subject.sample.facts.keys() >= set(cell.fields):
                return
            shares[cell.family].append(cell.event_share)
        # At least the share of its most frequent cell, at most the sum over its cells.
        fullest = max(shares, key=lambda name: max(shares[name], default=0.0))
        largest = max(shares[fullest])
        for name in subject.families:
            share = max(min(sum(shares[name]), 1.0), 1 / subject.sample.event_count)
            if largest / share < self.INFO_RATIO:
                continue
            yield self.build_finding(
                subject.find_family_path(name),
                f"of {pluralize(subject.sample.event_count, 'event')}, {largest:.2%} write family "
                f"{fullest} and {share:.2%} write {name}, {largest / share:,.0f} times fewer rows "
                "in the same regions",
                f"Give {name} a table of its own, or put its columns into {fullest}.",
                severity="warning" if largest / share > self.WARNING_RATIO else "info",
                value=name,
                ratio=largest / share,
                fullest=fullest,
            )
