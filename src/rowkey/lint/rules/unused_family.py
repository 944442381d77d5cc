"""The rule `unused_family`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnusedFamily(Rule):
    """A declared family in which nothing is stored.

    What it does: looks for families without a cell of any event.

    Why it hurts: every region has a MemStore and a folder for it, and it counts when a region's
    memory is divided.

    Use instead: nothing; it can be added when it is needed.

    Source: HBase book, "Number of column families"; claim 18.
    """

    name = "unused_family"
    code = "RK307"
    severity: ClassVar[Severity] = "warning"
    claims = (18,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
[families.x]
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        used = {cell.family for cell in subject.cells}
        for name in subject.families:
            if name not in used:
                yield self.finding(
                    subject.at("families", name),
                    f"no field is stored in family {name}",
                    "Leave it out; a family can be added later.",
                    value=name,
                )
