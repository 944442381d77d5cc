"""The rule `many_versions`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.lint.subject import MANY_VERSIONS

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ManyVersions(Rule):
    """A family keeps very many versions of each cell.

    What it does: reports `versions` of 100 or more.

    Why it hurts: versions stay in the store files until a major compaction removes them, and reads
    skip over all but the newest. One row grows without anybody noticing.

    Use instead: the time in the key, `[entity][desc(ts)]`, so that each version is a row that can
    be found, scanned as a range and split; or fewer versions.

    Source: HBase book, "Number of Versions": do not set it to hundreds; claims 25 and 66 agree.
    """

    name = "many_versions"
    code = "RK401"
    severity: ClassVar[Severity] = "warning"
    claims = (25, 66)
    bad_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
price = "u32"

[families.d]
versions = 1000
"""
    good_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item][desc(ts)]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = "timestamp_ms"
price = "u32"

[families.d]
versions = 1
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps very many versions."""
        for name, family in subject.families.items():
            if family.versions >= MANY_VERSIONS:
                yield self.build_finding(
                    subject.format_path("families", name, "versions"),
                    f"the family keeps {family.versions:,} versions of each cell, all in one row",
                    "Put the time into the key, so that each version is a row, and keep one "
                    "version.",
                    value=family.versions,
                )
