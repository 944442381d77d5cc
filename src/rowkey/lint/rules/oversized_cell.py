"""The rule `oversized_cell`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import CELL_BYTES_MOST
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class OversizedCell(Rule):
    """A value that may be larger than a cell can be.

    What it does: compares `max_bytes` of a column, or the longest value of a sample, with the
    10 MB that a server takes by default.

    Why it hurts: the put of such a cell is refused, and with it the whole row. It is the odd one,
    long after the table went live.

    Use instead: the value in pieces, a cell each; or in a file system, with its path in the table.

    Source: hbase.server.keyvalue.maxsize and hbase.client.keyvalue.maxsize, 10,485,760 bytes for
    all parts of a cell.
    """

    name = "oversized_cell"
    code = "RK509"
    severity: ClassVar[Severity] = "warning"
    bad = """\
table  = "films"
key    = "[bucket(film, 16)][film]"
splits = "per_bucket"

[fields]
film    = "u64"
trailer = { type = "bytes", max_bytes = 50000000 }
"""
    good = """\
table  = "films"
key    = "[bucket(film, 16)][film]"
splits = "per_bucket"

[fields]
film    = "u64"
trailer = { type = "text", max_bytes = 200 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for cell in subject.cells:
            most = {name: self._most(subject, name) for name in cell.fields}
            total = sum(most.values())
            if total <= CELL_BYTES_MOST:
                continue
            name = max(most, key=lambda one: most[one])
            is_seen = (subject.fact(name).bytes_most or 0) > CELL_BYTES_MOST
            yield self.finding(
                subject.nearest("fields", name, "max_bytes"),
                f"{name} {'has' if is_seen else 'may have'} {most[name]:,} bytes, and a cell has "
                f"at most {CELL_BYTES_MOST:,}, its key included",
                "Store the value in pieces, or elsewhere with its path here.",
                severity="error" if is_seen else "warning",
                value=most[name],
                bytes=total,
            )

    @staticmethod
    def _most(subject: Subject, name: str) -> int:
        """The longest value seen or declared; 0 where nobody knows."""
        declared = subject.design.fields[name].words.max_bytes or 0
        return max(declared, subject.fact(name).bytes_most or 0)
