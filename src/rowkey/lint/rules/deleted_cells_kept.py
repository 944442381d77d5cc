"""The rule `deleted_cells_kept`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class DeletedCellsKept(Rule):
    """Deleted cells that are kept, and never end.

    What it does: looks for `keep_deleted = "TRUE"` without a time to live.

    Why it hurts: what was deleted stays in the files, and each read goes past it. Only newer
    versions push it out, which a deleted row does not get.

    Use instead: `keep_deleted = "TTL"` with a time to live, if the past must be readable so long;
    else nothing.

    Source: HBase book, "Keeping Deleted Cells"; KeepDeletedCells.
    """

    name = "deleted_cells_kept"
    code = "RK413"
    severity: ClassVar[Severity] = "warning"
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
keep_deleted = "TRUE"
"""
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            if family.keep_deleted == "TRUE" and family.ttl_s == FOREVER_S:
                yield self.finding(
                    subject.at("families", name, "keep_deleted"),
                    "deleted cells are kept, and no time to live ends them",
                    'Give a ttl and keep_deleted = "TTL", or leave it out.',
                    value=family.keep_deleted,
                )
