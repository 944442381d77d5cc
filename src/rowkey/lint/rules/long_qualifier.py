"""The rule `long_qualifier`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import format_number
from rowkey.rows import format_qualifier

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LongQualifier(Rule):
    """Long column names take much of the space of short values.

    What it does: takes the mean length of the qualifiers that an event writes, and their share of
    its bytes; a field's name is its qualifier unless `qualifier` sets another.

    Why it hurts: every cell contains its qualifier: in requests, in the memstore and in the files.
    Block encodings save what a cell shares with the previous one, which is the row and not the name
    of the next column.

    Use instead: a short `qualifier`; the field keeps its name in the design, in reads and in
    programs. Or `pack`, which uses numbers instead of names.

    Source: HBase book, "Try to minimize row and column sizes"; claim 22 agrees. From 8 bytes on, as
    the verdict on claim 20 has it for families.
    """

    name = "long_qualifier"
    code = "RK501"
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad_design = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = "float32"
relative_humidity   = "float32"
"""
    good_design = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = { type = "float32", qualifier = "t" }
relative_humidity   = { type = "float32", qualifier = "h" }
"""
    MAX_MEAN_BYTES = 8
    """Mean bytes up to which nothing is reported. Source: verdict on claim 20, on family names."""
    MAX_SHARE = 0.1
    """Share of an event's bytes up to which nothing is reported: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if column names take much of the stored bytes."""
        data_cells = [cell for cell in subject.cells if cell.fields and cell.event_share]
        count = sum(cell.event_share for cell in data_cells)
        spent = sum(len(cell.qualifier) * cell.event_share for cell in data_cells)
        if not count or spent / count <= self.MAX_MEAN_BYTES:
            return
        share = spent / subject.event_bytes
        if share <= self.MAX_SHARE:
            return
        longest = max(data_cells, key=lambda cell: len(cell.qualifier))
        name = format_qualifier(longest.qualifier)
        yield self.build_finding(
            subject.format_path("fields", longest.fields[0]),
            f"column names take {format_number(spent)} bytes of each event ({share:.0%}), "
            f"{format_number(spent / count)} in each cell; the longest, {name[:60]}, has "
            f"{len(longest.qualifier)} bytes",
            'Set a short column name, such as qualifier = "t"; the field keeps its name.',
            value=name[:200],
            mean=spent / count,
            spent=spent,
            share=share,
        )
