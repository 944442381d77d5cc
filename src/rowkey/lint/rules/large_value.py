"""The rule `large_value`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LargeValue(Rule):
    """Values of hundreds of kilobytes among ordinary cells.

    What it does: looks for columns whose values have 100 kB on average, by `mean_bytes` or a
    sample, in a family that does not keep large values apart.

    Why it hurts: every compaction reads and writes each value again, several times in its life; a
    few of them fill a MemStore and a block cache that thousands of rows could have used.

    Use instead: a family of its own for them with `mob = true`: values above its threshold then lie
    in files that compactions leave alone.

    Source: HBase book, "Storing Medium-sized Objects (MOB)": for 100 kB to 10 MB; HBASE-11339. The
    threshold is 102,400 bytes: ColumnFamilyDescriptorBuilder.DEFAULT_MOB_THRESHOLD.
    """

    name = "large_value"
    code = "RK510"
    severity: ClassVar[Severity] = "info"
    bad = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }
"""
    good = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }

[families.d]
mob = true
"""
    MEDIUM = 102_400
    """Mean bytes from which it is told: HBase's own threshold of a large value."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for cell in subject.cells:
            if subject.families[cell.family].mob:
                continue
            for name in cell.fields:
                mean = subject.fact(name).bytes_mean
                if mean is None or mean < self.MEDIUM:
                    continue
                yield self.finding(
                    subject.nearest("fields", name, "mean_bytes"),
                    f"{name} has {mean:,.0f} bytes on average, and each compaction of family "
                    f"{cell.family} writes all of them again",
                    "Put it into a family with mob = true.",
                    value=mean,
                    family=cell.family,
                )
