"""The rule `equal_families`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class EqualFamilies(Rule):
    """Several families have the same attributes.

    What it does: compares the attributes of families, and the bytes that an event adds to each. A
    family ten times larger than another is not reported: separating it keeps the other fast to
    read.

    Why it hurts: each family has its own memstore and files in every region, and a read of a whole
    row opens both. That pays off only for reads of one family's columns alone.

    Use instead: one family. If one of them is read without the other, allow the finding and name
    that read.

    Source: HBase book, "On the number of column families": a second one only where access is
    column scoped; claims 18 and 42 agree.
    """

    name = "equal_families"
    code = "RK305"
    severity: ClassVar[Severity] = "info"
    claims = (18, 42)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
name = { type = "text", max_bytes = 40, family = "n" }
town = { type = "text", max_bytes = 40, family = "t" }

[families.n]
[families.t]
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
name = { type = "text", max_bytes = 40 }
town = { type = "text", max_bytes = 40 }
"""
    MAX_NAMES_SHOWN = 8
    """Names in the message at most."""
    MIN_SIZE_RATIO = 10
    """Ratio of sizes from which two families are worth separating: our choice, because a scan of
    the smaller one then reads a tenth."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for families with the same attributes and similar sizes."""
        sizes: dict[str, float] = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            sizes[cell.family] += cell.event_share * (subject.key_bytes + cell.mean_value_bytes)
        names_by_attributes: dict[Family, list[str]] = {}
        for name, family in subject.families.items():
            names_by_attributes.setdefault(replace(family, name=""), []).append(name)
        for names in names_by_attributes.values():
            group_sizes = [sizes[name] for name in names]
            if len(names) < 2 or max(group_sizes) >= self.MIN_SIZE_RATIO * min(group_sizes):
                continue
            yield self.build_finding(
                subject.find_family_path(names[1]),
                f"families {', '.join(names[: self.MAX_NAMES_SHOWN])} have the same "
                "attributes; separate families help only reads that use the columns of one "
                "family",
                "Put their columns into one family, or allow this finding and give such a "
                "read as the reason.",
                value=names[1],
                families=names,
            )
