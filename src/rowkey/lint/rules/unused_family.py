"""The rule `unused_family`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnusedFamily(Rule):
    """A declared family stores nothing.

    What it does: looks for families in which no event writes a cell.

    Why it hurts: every region has a memstore and a folder for it, and it takes its share of the
    memory.

    Use instead: nothing; a family can be added when it is needed.

    Source: HBase book, "Number of column families"; claim 18.
    """

    name = "unused_family"
    code = "RK307"
    severity: ClassVar[Severity] = "warning"
    claims = (18,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
[families.x]
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each declared family that stores no field."""
        used = {cell.family for cell in subject.cells}
        for name in subject.families:
            if name not in used:
                yield self.build_finding(
                    subject.format_path("families", name),
                    f"family {name} is declared, but no field is stored in it",
                    "Remove the family from the design; it can be added later.",
                    value=name,
                )
