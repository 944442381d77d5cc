"""The rule `long_family_name`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import format_number

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LongFamilyName(Rule):
    """A family's name is longer than one letter.

    What it does: looks at the bytes of each family's name.

    Why it hurts: every cell contains the name of its family: in requests, in the memstore and,
    without a block encoding, in the files. The name cannot be changed later.

    Use instead: one letter: `d` for data, `m` for metadata.

    Source: HBase book, "Try to minimize row and column sizes"; claim 20 agrees. A name has 127
    bytes at most: KeyValue.java keeps its length in one signed byte.
    """

    name = "long_family_name"
    code = "RK302"
    severity: ClassVar[Severity] = "info"
    claims = (20, 22)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.information]
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
"""
    WARNING_ABOVE_BYTES = 8
    """Bytes above which it is a warning. Source: verdict on claim 20."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose name has more than one letter."""
        for name in subject.families:
            length = len(name.encode())
            if length <= 1:
                continue
            cells = sum(cell.event_share for cell in subject.cells if cell.family == name)
            yield self.build_finding(
                subject.find_family_path(name),
                f"the family name {name[:40]} has {length} bytes and is stored in every cell; "
                f"a name of one letter would save {format_number((length - 1) * cells)} bytes "
                "for each event",
                "Rename the family to one letter before the table is created.",
                severity="warning" if length > self.WARNING_ABOVE_BYTES else "info",
                value=name,
                bytes=length,
                cells=cells,
            )
