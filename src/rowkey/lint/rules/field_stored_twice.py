"""The rule `field_stored_twice`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FieldStoredTwice(Rule):
    """A field of the key that is stored in a column as well.

    What it does: looks for fields that the key holds whole and that `family`, `qualifier` or `pack`
    put into a cell besides.

    Why it hurts: the value can be read back from the key. Its cell repeats the whole key, and the
    two may come to differ.

    Use instead: leave those words out. A field that the key holds as a digest or in part is stored
    by itself, unasked.

    Source: KeyValue.java, 20 bytes and the key, family and qualifier a cell; claim 5 counts the key
    by row, where cells count.
    """

    name = "field_stored_twice"
    code = "RK512"
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, qualifier = "h" }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if not subject.properties.decodes:
            return
        for cell in subject.cells:
            for name in cell.fields:
                field = subject.design.fields[name]
                if name not in subject.properties.recovered:
                    continue
                words = ("pack", "qualifier", "family")
                word = next(one for one in words if getattr(field.words, one) is not None)
                yield self.finding(
                    subject.at("fields", name, word),
                    f"{name} stands whole in the key, and in the cell {cell.family}:"
                    f"{cell.qualifier.decode()} of every event again",
                    f"Leave out {word}.",
                    value=getattr(field.words, word),
                )
