"""The rule `packed_history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class PackedHistory(Rule):
    """Several versions of a cell that holds many fields.

    What it does: looks for packed cells in families that keep more than one version.

    Why it hurts: a version of the cell is a copy of all its fields. One field that changes takes as
    much room as if all had, and which of them changed has to be found by comparing.

    Use instead: one version; or a cell of its own, in that family, for the field whose history is
    wanted.

    Source: claim 45 packs fixed columns; its verdict names versions among what is lost. HBase book,
    "Versions": kept by cell.
    """

    name = "packed_history"
    code = "RK504"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
phone = { type = "text", max_bytes = 16, pack = "p" }
town  = { type = "text", max_bytes = 40, pack = "p" }

[families.d]
versions = 10
"""
    good = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
phone = { type = "text", max_bytes = 16 }
town  = { type = "text", max_bytes = 40 }

[families.d]
versions = 10
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for cell in subject.cells:
            versions = subject.families[cell.family].versions
            if versions == 1 or len(cell.fields) < 2:
                continue
            yield self.finding(
                subject.nearest("families", cell.family, "versions"),
                f"{versions} versions of {cell.family}:{cell.qualifier.decode()} are as many "
                f"copies of its {len(cell.fields)} fields, whichever of them changed",
                "Keep one version of it, or give the field whose history matters its own cell.",
                value=versions,
                fields=list(cell.fields),
            )
