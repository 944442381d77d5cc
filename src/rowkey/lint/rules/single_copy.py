"""The rule `single_copy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SingleCopy(Rule):
    """A family of which the file system keeps one copy.

    What it does: looks for `dfs_replication = 1`.

    Why it hurts: the loss of one disk is the loss of its blocks. A region with a missing block does
    not open, so that its other families are out of reach as well.

    Use instead: nothing, which leaves the file system's own number, usually 3. For data that can be
    made anew, allow it and say so.

    Source: ColumnFamilyDescriptorBuilder, DFS_REPLICATION; HDFS dfs.replication, 3 by default.
    """

    name = "single_copy"
    code = "RK415"
    severity: ClassVar[Severity] = "warning"
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
dfs_replication = 1
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            if family.dfs_replication == 1:
                yield self.finding(
                    subject.at("families", name, "dfs_replication"),
                    f"one copy of family {name} is kept: a lost disk is lost data",
                    "Leave it out, which keeps as many copies as the file system's setting.",
                    value=1,
                )
