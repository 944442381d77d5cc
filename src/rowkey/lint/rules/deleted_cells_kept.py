"""The rule `deleted_cells_kept`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class DeletedCellsKept(Rule):
    """Deleted cells are kept without a limit.

    What it does: looks for `keep_deleted = "TRUE"` without a time to live.

    Why it hurts: deleted cells stay in the files, and each read skips over them. Only newer
    versions remove them, and a deleted row gets none.

    Use instead: `keep_deleted = "TTL"` with a time to live, if the past must stay readable for that
    long; otherwise leave the option out.

    Source: HBase book, "Keeping Deleted Cells"; KeepDeletedCells.
    """

    name = "deleted_cells_kept"
    code = "RK413"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
keep_deleted = "TRUE"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
keep_deleted = "TTL"
ttl          = "90d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps deleted cells for ever."""
        for name, family in subject.families.items():
            if family.keep_deleted == "TRUE" and family.ttl_s == FOREVER_S:
                yield self.build_finding(
                    subject.format_path("families", name, "keep_deleted"),
                    "the family keeps deleted cells for ever, because it has no ttl",
                    'Set a ttl and keep_deleted = "TTL", or remove keep_deleted.',
                    value=family.keep_deleted,
                )
