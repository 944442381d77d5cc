"""The rule `single_copy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SingleCopy(Rule):
    """HDFS keeps only one copy of a family's files.

    What it does: looks for `dfs_replication = 1`.

    Why it hurts: one lost disk is lost data. A region with a missing block does not open, so its
    other families are unavailable as well.

    Use instead: nothing, which keeps the file system's own setting, usually 3. For data that can be
    produced again, allow the finding and say so.

    Source: ColumnFamilyDescriptorBuilder, DFS_REPLICATION; HDFS dfs.replication, 3 by default.
    """

    name = "single_copy"
    code = "RK415"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
dfs_replication = 1
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family of which HDFS keeps only one copy."""
        for name, family in subject.families.items():
            if family.dfs_replication == 1:
                yield self.build_finding(
                    subject.format_path("families", name, "dfs_replication"),
                    f"HDFS keeps only one copy of family {name}, so a lost disk loses data",
                    "Remove dfs_replication, which keeps the file system's setting.",
                    value=1,
                )
