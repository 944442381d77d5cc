"""The rule `repeated_field`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class RepeatedField(Rule):
    """The key contains the same field more than once.

    What it does: counts the parts from which a field can be read back completely.

    Why it hurts: the second one adds nothing, and its bytes are stored in every cell of the row.

    Use instead: one of them: the first, if it spreads or narrows; the second, if the first only
    spreads rows, and then with a digest or a bucket of it in front.

    Source: KeyValue.java, every cell repeats the key; claims 6 and 22 agree that it costs MemStore.
    """

    name = "repeated_field"
    code = "RK120"
    severity: ClassVar[Severity] = "info"
    claims = (6, 22)
    bad_design = """\
table  = "orders"
key    = "[reverse(order)][shop][order]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""
    good_design = """\
table  = "orders"
key    = "[reverse(order)][shop]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field that the key contains more than once."""
        for name in subject.key.fields:
            complete_parts = [
                (notation, part)
                for notation, part in subject.iter_parts()
                if name in part.fields and part.residue(name).is_empty
            ]
            for notation, part in complete_parts[1:]:
                yield self.build_finding(
                    "key",
                    f"{notation} stores {name} again, which {complete_parts[0][0]} already holds",
                    "Remove one of the two parts.",
                    value=notation,
                    field=name,
                    least=part.framing.min_bytes,
                )
