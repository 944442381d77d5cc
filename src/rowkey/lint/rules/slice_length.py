"""The rule `slice_length`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.cells import READ_ROW_BYTES_MOST
from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SliceLength(Rule):
    """A time slice whose rows hold too many cells, or a single event.

    What it does: divides the rate by the values of the other fields of the key, or takes the period
    of arrival, and counts the events that fall into one slice, and their cells.

    Why it hurts: a row is read and cached as one, and cannot be split: past an hour of seconds
    every get of it is heavy, past a million cells or 1 GB it fails. A slice of one event has the
    cost of a wide row and nothing for it.

    Use instead: a slice in which some tens to thousands of events fall; an hour for an event a
    second.

    Source: OpenTSDB's row of one hour, 3,600 points at most in seconds; claim 41 agrees. Claim 46
    has a million columns at most; hbase.table.max.rowsize, 1 GB.
    """

    name = "slice_length"
    code = "RK505"
    severity: ClassVar[Severity] = "info"
    claims = (41, 46)
    bad = """\
table  = "meters"
key    = "[bucket(meter, 16)][meter][time_slice(ts, 30d)]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
meter = { type = "u32", distinct = 1000 }
value = "float64"

[families.d]
ttl = "1d"

[writes]
rate = "1000/s"
"""
    good = """\
table  = "meters"
key    = "[bucket(meter, 16)][meter][time_slice(ts, 1h)]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
meter = { type = "u32", distinct = 1000 }
value = "float64"

[families.d]
ttl = "1d"

[writes]
rate = "1000/s"
"""
    MANY = 3_600
    """Cells up to which a row is no wider than OpenTSDB's. Source: verdict on claim 41."""
    MOST = 1_000_000
    """Cells above which it is a warning. Source: verdict on claim 46."""
    ALONE = 1.5
    """Events below which most rows have one."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        rests = [part.rest for part in subject.key.parts if part.rest is not None]
        if len(rests) != 1 or subject.key.is_salted:
            return
        tick = subject.design.fields[rests[0].field].type.tick or 0
        length_s = rests[0].units * tick / NANOSECONDS["s"]
        others = [name for name in subject.key.fields if name != rests[0].field]
        each = self.per_second(subject, others)
        if each is None:
            return
        events = each * length_s
        cells = events * sum(cell.share for cell in subject.cells)
        size = events * subject.event_bytes
        figures: dict[str, Any] = {
            "events": events,
            "cells": cells,
            "row_bytes": size,
            "seconds": length_s,
        }
        if cells > self.MANY:
            is_huge, is_refused = cells > self.MOST, size > READ_ROW_BYTES_MOST
            yield self.finding(
                "key",
                f"{counted(round(events), 'event')} fall into one slice of {length_s:,.0f} s: a "
                "row of "
                f"{cells:,.0f} cells and about {size / 2**20:,.1f} MB, which cannot be split",
                "Shorten the slice.",
                severity="error" if is_refused else "warning" if is_huge else "info",
                value=str(subject.key),
                **figures,
            )
        # With several fields the combinations that come may be far fewer than there could be.
        if events < self.ALONE and len(others) == 1:
            yield self.finding(
                "key",
                f"on average {events:,.2g} of the events of a {others[0]} fall into one slice of "
                f"{length_s:,.0f} s, so most rows hold one event",
                "Lengthen the slice, or put the time itself into the key.",
                value=str(subject.key),
                **figures,
            )

    @staticmethod
    def per_second(subject: Subject, names: list[str]) -> float | None:
        """Events a second of one value of the fields, on average and at least; None if unknown."""
        writes = subject.design.writes
        rate, others = writes.rate, names
        if writes.period_ms is not None and writes.entity in names:
            rate, others = 1_000 / writes.period_ms, [n for n in names if n != writes.entity]
        counts = [subject.distinct(name) for name in others]
        if rate is None:
            return None
        return rate / prod(n for n in counts if n) if all(counts) else None
