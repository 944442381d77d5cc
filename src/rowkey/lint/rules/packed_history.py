"""The rule `packed_history`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class PackedHistory(Rule):
    """Several versions are kept of a cell that holds many fields.

    What it does: looks for packed cells in families that keep more than one version.

    Why it hurts: each version of the cell is a copy of all its fields. A change of one field takes
    as much space as a change of all, and only a comparison shows which one changed.

    Use instead: one version; or a separate cell for the field whose history is wanted.

    Source: claim 45 packs fixed columns; its verdict names versions among what is lost. HBase book,
    "Versions": kept by cell.
    """

    name = "packed_history"
    code = "RK504"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each packed cell of which several versions are kept."""
        for cell in subject.cells:
            versions = subject.families[cell.family].versions
            if versions == 1 or len(cell.fields) < 2:
                continue
            yield self.build_finding(
                subject.find_nearest_path("families", cell.family, "versions"),
                f"each of the {versions} versions of {cell.title} "
                f"repeats all {len(cell.fields)} packed fields, even if only one of them "
                "changed",
                "Keep one version, or give the field whose history matters its own cell.",
                value=versions,
                fields=list(cell.fields),
            )
