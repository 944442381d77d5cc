"""The rule `row_too_wide`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import READ_ROW_BYTES_MOST
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class RowTooWide(Rule):
    """A row that many events share, with more cells than a row should have.

    What it does: where rate, length of the slice and number of entities are known, multiplies them
    to the cells of a row and its bytes.

    Why it hurts: a row is never split, and lies on one server. A read of it that exceeds 1 GiB is
    refused, and a million cells are read to find one.

    Use instead: a shorter slice, so that a row has thousands of cells; rows rather than columns.

    Source: claim 41, OpenTSDB's rows of an hour, 3,600 cells of a second each; claim 46, up to a
    million columns, where the book prefers rows. hbase.table.max.rowsize, 1 GiB.
    """

    name = "row_too_wide"
    code = "RK504"
    severity: ClassVar[Severity] = "warning"
    claims = (41, 46)
    bad = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][time_slice(ts, 30d)]"
splits = "per_bucket"

[fields]
metric = { type = "u32", distinct = 100 }
ts     = "timestamp_ms"
value  = "float64"

[writes]
rate = "100/s"
"""
    good = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][time_slice(ts, 1h)]"
splits = "per_bucket"

[fields]
metric = { type = "u32", distinct = 100 }
ts     = "timestamp_ms"
value  = "float64"

[writes]
rate = "100/s"
"""
    MANY = 1_000_000
    """Cells of a row from which it is said. Source: claim 46."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        rate, rests = subject.design.writes.rate, subject.key.rests()
        if rate is None or len(rests) != 1 or rests[0].resolution is None:
            return
        entities = 1
        for name in subject.key.fields:
            if name not in rests[0].fields:
                entities *= subject.distinct(name) or 0
        if not entities:
            return
        events = rate * rests[0].resolution / 1_000_000_000 / entities
        cells = events * len(subject.cells)
        size = events * subject.event_bytes
        if cells >= self.MANY or size >= READ_ROW_BYTES_MOST:
            yield self.finding(
                "key",
                f"a row gathers about {cells:,.0f} cells, {size / 2**20:,.0f} MiB: it cannot be "
                "split",
                "Take a shorter slice, of thousands of cells.",
                severity="error" if size >= READ_ROW_BYTES_MOST else None,
                value=round(cells),
                bytes=round(size),
            )
