"""The rule `second_range`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SecondRange(Rule):
    """A read gives ranges of two fields of the key, of which only the first narrows the scan.

    What it does: looks for reads that the key narrows to a range of one field, while a range of a
    later field is tested row by row. A range of the time of events is usually the narrow one, and
    the finding then a remark.

    Why it hurts: a box of latitudes and longitudes reads all rows between the two latitudes, around
    the whole earth.

    Use instead: where both fields span a surface, the cell of a grid in the key, such as a geohash,
    of which a box is a few prefixes; else the field with the narrower range first.

    Source: it follows from the order of the keys: a range is one prefix and one stretch behind it.
    Sources of grids: GeoMesa's Z2 index and geohashes interleave the bits of both fields.
    """

    name = "second_range"
    code = "RK613"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "places"
key    = "[row][column][place]"
splits = ["\\\\x40", "\\\\x80", "\\\\xC0"]

[fields]
row    = "u32"
column = "u32"
place  = "u64"
name   = { type = "text", max_bytes = 60 }

[cluster]
servers = 4

[writes]
arrival = "random"

[[reads]]
name  = "places in a box"
where = "row >= ? and row < ? and column >= ? and column < ?"
limit = 100
"""
    good_design = """\
table  = "places"
key    = "[cell][place]"
splits = ["\\\\x40", "\\\\x80", "\\\\xC0"]

[fields]
row    = "u32"
column = "u32"
cell   = "u64"
place  = "u64"
name   = { type = "text", max_bytes = 60 }

[cluster]
servers = 4

[writes]
arrival = "random"

[[reads]]
name  = "places in a cell"
where = "cell >= ? and cell < ?"
limit = 100
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read with a range behind the range that narrows it."""
        time, parts = subject.design.writes.time, subject.key.parts
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned_count >= len(parts):
                continue
            ranged = [n for n, bound in one.bounds.items() if isinstance(bound, Range)]
            first = next((n for n in parts[plan.pinned_count].fields if n in ranged), None)
            later_fields = {n for part in parts[plan.pinned_count + 1 :] for n in part.fields}
            second = next(
                (n for n in plan.residual_fields if n in ranged and n in later_fields - {first}),
                None,
            )
            if first is None or second is None:
                continue
            has_time = time is not None and time.name in (first, second)
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' gives ranges of {first} and {second}, but a scan "
                f"follows one range: it reads every {second} within the range of {first}",
                f"Put the one with the narrower range first; if {first} and {second} span a "
                "surface, as latitude and longitude do, put the cell of a grid into the key, such "
                "as a geohash, and ask for the cells.",
                severity="info" if has_time else None,
                value=one.read.name,
                first=first,
                second=second,
            )
