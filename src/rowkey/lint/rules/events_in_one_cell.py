"""The rule `events_in_one_cell`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class EventsInOneCell(Rule):
    """Events of one row that write the same cell.

    What it does: counts events of the sample whose key and qualifier came before; without one,
    compares the rate of an entity with the unit of the time that a slice leaves to the qualifier.

    Why it hurts: a cell that is written again is another version of it, and one version is kept by
    default. The earlier event is lost without a word.

    Use instead: what tells the events apart with `at = "qualifier"`, or a finer unit of time.

    Source: HBase book, "Versions"; claim 8, the same key overwrites, holds for a cell. Claim 41
    puts the rest of a time slice into the qualifier.
    """

    name = "events_in_one_cell"
    code = "RK508"
    severity: ClassVar[Severity] = "error"
    claims = (8, 41)
    bad = """\
table  = "taps"
key    = "[bucket(gate, 16)][gate][time_slice(ts, 10m)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
gate = { type = "u32", distinct = 1000 }
card = "u64"

[families.d]
ttl = "1h"

[writes]
rate = "5000/s"
"""
    good = """\
table  = "taps"
key    = "[bucket(gate, 16)][gate][time_slice(ts, 10m)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
gate = { type = "u32", distinct = 1000 }
card = { type = "u64", at = "qualifier" }

[families.d]
ttl = "1h"

[writes]
rate = "5000/s"
"""

    REMEDY = 'Set at = "qualifier" on what tells them apart, or take a finer time.'

    def findings(self, subject: Subject) -> Iterator[Finding]:
        layout = subject.design.layout
        if not layout.shares_rows or layout.stamp is not None or subject.key.is_salted:
            return
        if subject.seen is not None:
            yield from self._seen(subject, list(layout.identity))
        else:
            yield from self._foreseen(subject)

    def _seen(self, subject: Subject, names: list[str]) -> Iterator[Finding]:
        """What the events kept of a sample show; where not all were kept, there are more."""
        assert subject.seen is not None
        rows = subject.seen.rows
        if not set(names) <= set(rows.schema.names):
            return
        repeats = rows.num_rows - different(rows, names)
        if repeats:
            yield self.finding(
                "key",
                f"{repeats:,} of {counted(rows.num_rows, 'event')} have the {', '.join(names)} "
                "of another, "
                "so they write its cells again and hide what was there",
                self.REMEDY,
                severity="warning",
                value=str(subject.key),
                repeats=repeats,
                events=rows.num_rows,
            )

    def _foreseen(self, subject: Subject) -> Iterator[Finding]:
        """What the rate of an entity and the unit of its time tell."""
        rests = subject.design.layout.rests
        opening = subject.design.layout.opening
        if len(rests) != 1 or opening is None or opening.fields:
            return
        others = [name for name in subject.key.fields if name != rests[0].field]
        counts = [subject.distinct(name) for name in others]
        rate, tick = subject.design.writes.rate, subject.design.fields[rests[0].field].type.tick
        if rate is None or tick is None or not all(counts):
            return
        each = rate / prod(n for n in counts if n) * tick / NANOSECONDS["s"]
        if each > 1:
            yield self.finding(
                "key",
                f"{each:,.3g} events of the same {', '.join(others) or 'row'} come within a unit "
                f"of {rests[0].field}, and all but the last are lost",
                self.REMEDY,
                value=str(subject.key),
                each=each,
            )


def different(rows: pa.RecordBatch, names: list[str]) -> int:
    """How many different events there are by some of their fields."""
    import pyarrow as pa

    events = pa.Table.from_batches([rows.select(names)])
    return int(events.group_by(names).aggregate([]).num_rows)
