"""The rule `field_stored_twice`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class FieldStoredTwice(Rule):
    """A field is stored in the key and in a column as well.

    What it does: looks for fields that can be read back from the key and that `family`, `qualifier`
    or `pack` put into a cell as well.

    Why it hurts: the cell adds nothing, repeats the whole key, and may come to differ from it.

    Use instead: remove those options. A field that the key holds only as a digest or in part is
    stored in a column automatically.

    Source: KeyValue.java, 20 bytes and the key, family and qualifier a cell; claim 5 counts the key
    by row, where cells count.
    """

    name = "field_stored_twice"
    code = "RK512"
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, qualifier = "h" }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field that is stored both in the key and in a column."""
        if not subject.properties.can_decode:
            return
        for cell in subject.cells:
            for name in cell.fields:
                field = subject.design.fields[name]
                if name not in subject.properties.recovered_fields:
                    continue
                words = ("pack", "qualifier", "family")
                word = next(one for one in words if getattr(field.declaration, one) is not None)
                yield self.build_finding(
                    subject.format_path("fields", name, word),
                    f"the key holds all of {name}, which is stored again in the cell "
                    f"{cell.title} of every event",
                    f"Remove {word} from the field, so that the key alone stores it.",
                    value=getattr(field.declaration, word),
                )
