"""The rule `repeated_field`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class RepeatedField(Rule):
    """A field that stands whole in the key more than once.

    What it does: counts the parts from which a field can be read back, by itself.

    Why it hurts: the second one tells nothing, and its bytes are in every cell of the row. Which of
    the two a reader looks at is left to chance.

    Use instead: one of them: the first, where the field spreads or narrows; the second, if what
    stands in front is only there to spread, and then a digest or a bucket of it.

    Source: KeyValue.java, every cell repeats the key; claims 6 and 22 agree that it costs MemStore.
    """

    name = "repeated_field"
    code = "RK120"
    severity: ClassVar[Severity] = "info"
    claims = (6, 22)
    bad = """\
table  = "orders"
key    = "[reverse(order)][shop][order]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""
    good = """\
table  = "orders"
key    = "[reverse(order)][shop]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name in subject.key.fields:
            whole = [
                (shown, part)
                for shown, part in subject.parts()
                if name in part.fields and part.residue(name).nothing
            ]
            for shown, part in whole[1:]:
                yield self.finding(
                    "key",
                    f"{shown} repeats {name}, which {whole[0][0]} holds whole",
                    "Leave one of the two out.",
                    value=shown,
                    field=name,
                    least=part.framing.least,
                )
