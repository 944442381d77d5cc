"""The rule `large_value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.lint.subject import LARGE_VALUE_BYTES

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LargeValue(Rule):
    """Values of hundreds of kilobytes are stored among ordinary cells, or small ones in files.

    What it does: looks for columns with a mean value of 100 kB or more, by `mean_bytes` or a
    sample, in a family without `mob`, or with a `mob_threshold` above this mean; and in one with
    `mob` for columns with a smaller mean that is above `mob_threshold`.

    Why it hurts: every compaction reads and writes each value again, several times in its life. A
    few such values fill a memstore or a block cache that could serve thousands of rows. A small
    value in a file of its own costs each read of it a second lookup, in another file.

    Use instead: a separate family for them with `mob = true`: values above its threshold are stored
    in files that compactions do not rewrite. Leave the threshold at its default.

    Source: HBase book, "Storing Medium-sized Objects (MOB)": for 100 kB to 10 MB; HBASE-11339. The
    threshold is 102,400 bytes: ColumnFamilyDescriptorBuilder.DEFAULT_MOB_THRESHOLD.
    """

    name = "large_value"
    code = "RK510"
    severity: ClassVar[Severity] = "info"
    bad_design = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }
"""
    good_design = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }

[families.d]
mob = true
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each column whose mean value is in the wrong kind of files."""
        for cell in subject.cells:
            family = subject.families[cell.family]
            for name in cell.fields:
                mean = subject.find_facts(name).mean_bytes
                if mean is None:
                    continue
                if family.mob and family.mob_threshold < mean < LARGE_VALUE_BYTES:
                    yield self.build_finding(
                        subject.format_path("families", cell.family, "mob_threshold"),
                        f"{name} has {mean:,.0f} bytes on average, more than mob_threshold, so "
                        "most of its values lie in MOB files, in which a read looks them up "
                        "one by one",
                        f"Set it to {LARGE_VALUE_BYTES:,}, which is the default.",
                        severity="warning",
                        value=family.mob_threshold,
                        family=cell.family,
                    )
                if family.mob and LARGE_VALUE_BYTES <= mean < family.mob_threshold:
                    yield self.build_finding(
                        subject.format_path("families", cell.family, "mob_threshold"),
                        f"{name} has {mean:,.0f} bytes on average, less than mob_threshold, so "
                        f"most of its values lie among ordinary cells, and each compaction of "
                        f"family {cell.family} rewrites them",
                        f"Set it to {LARGE_VALUE_BYTES:,}, which is the default.",
                        severity="warning",
                        value=family.mob_threshold,
                        family=cell.family,
                    )
                if name not in subject.large_fields:
                    continue
                beside = {
                    one
                    for other in subject.cells
                    if other.family == cell.family
                    for one in other.fields
                }
                is_apart = len(subject.families) > 1 and beside <= set(subject.large_fields)
                path = subject.find_nearest_path("fields", name, "mean_bytes")
                remedy = f"Put {name} into a family with mob = true."
                if is_apart:
                    path = subject.find_family_path(cell.family)
                    remedy = "Declare mob = true."
                yield self.build_finding(
                    path,
                    f"{name} has {mean:,.0f} bytes on average, and each compaction of family "
                    f"{cell.family} rewrites these values",
                    remedy,
                    value=mean,
                    family=cell.family,
                )
