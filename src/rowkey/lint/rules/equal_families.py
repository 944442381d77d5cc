"""The rule `equal_families`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.cells import Family
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EqualFamilies(Rule):
    """Families that differ in nothing but their names.

    What it does: compares the attributes of families, and the bytes that an event adds to them. A
    family ten times larger than another is left alone: it keeps the other quick to read.

    Why it hurts: a family costs a MemStore and files of its own in each region, and a read of a
    whole row asks both. That buys something only for reads of one family's columns alone.

    Use instead: one family. Where one is read without the other, allow it and say by which read.

    Source: HBase book, "On the number of column families": a second one only where access is
    column scoped; claims 18 and 42 agree.
    """

    name = "equal_families"
    code = "RK305"
    severity: ClassVar[Severity] = "info"
    claims = (18, 42)
    bad = """\
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
    good = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
name = { type = "text", max_bytes = 40 }
town = { type = "text", max_bytes = 40 }
"""
    SHOWN = 8
    """Names in the message."""
    LARGER = 10
    """Times the bytes from which a family is worth being kept apart from: a choice of ours, as a
    scan of the smaller then reads a tenth."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        sizes: dict[str, float] = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            sizes[cell.family] += cell.share * (subject.key_bytes + cell.value_bytes)
        alike: dict[Family, list[str]] = {}
        for name, family in subject.families.items():
            alike.setdefault(replace(family, name=""), []).append(name)
        for names in alike.values():
            of_these = [sizes[name] for name in names]
            if len(names) < 2 or max(of_these) >= self.LARGER * min(of_these):
                continue
            yield self.finding(
                subject.family_path(names[1]),
                f"families {', '.join(names[: self.SHOWN])} have the same attributes, so only a "
                "read of the columns of one of them gains by it",
                "Put their columns into one family, or allow it and name that read.",
                value=names[1],
                families=names,
            )
