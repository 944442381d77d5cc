"""The rule `oversized_cell`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import MAX_CELL_BYTES
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class OversizedCell(Rule):
    """A value may exceed the largest cell that HBase accepts.

    What it does: compares `max_bytes` of a column, or the longest value of a sample, with the 10 MB
    that a server accepts by default.

    Why it hurts: the server rejects the cell and with it the whole row. It happens to a rare value,
    long after the table went live.

    Use instead: the value in pieces, one cell each; or in a file system, with its path in the
    table.

    Source: hbase.server.keyvalue.maxsize and hbase.client.keyvalue.maxsize, 10,485,760 bytes for
    all parts of a cell.
    """

    name = "oversized_cell"
    code = "RK509"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "films"
key    = "[bucket(film, 16)][film]"
splits = "per_bucket"

[fields]
film    = "u64"
trailer = { type = "bytes", max_bytes = 50000000 }
"""
    good_design = """\
table  = "films"
key    = "[bucket(film, 16)][film]"
splits = "per_bucket"

[fields]
film    = "u64"
trailer = { type = "text", max_bytes = 200 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each column with values larger than HBase accepts."""
        for cell in subject.cells:
            max_sizes = {name: self._find_max_bytes(subject, name) for name in cell.fields}
            total = sum(max_sizes.values())
            if total <= MAX_CELL_BYTES:
                continue
            name = max(max_sizes, key=lambda one: max_sizes[one])
            is_seen = (subject.find_facts(name).max_bytes or 0) > MAX_CELL_BYTES
            yield self.build_finding(
                subject.find_nearest_path("fields", name, "max_bytes"),
                f"{name} {'has' if is_seen else 'may have'} {max_sizes[name]:,} bytes, but HBase "
                f"accepts at most {MAX_CELL_BYTES:,} for a cell with its key",
                "Store the value in pieces, or in a file whose path the column holds.",
                severity="error" if is_seen else "warning",
                value=max_sizes[name],
                bytes=total,
            )

    @staticmethod
    def _find_max_bytes(subject: LintSubject, name: str) -> int:
        """Return the longest sampled or declared value of a field; 0 if unknown."""
        declared = subject.design.fields[name].declaration.max_bytes or 0
        return max(declared, subject.find_facts(name).max_bytes or 0)
