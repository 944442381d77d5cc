"""The rule `slice_length`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.cells import MAX_READ_ROW_BYTES
from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SliceLength(Rule):
    """A time slice puts too many cells, or a single event, into a row.

    What it does: divides the rate by the number of values of the key's other fields, or takes the
    declared period of arrival, and counts the events of one slice and their cells.

    Why it hurts: a row is read and cached as a whole and cannot be split: with more than an hour of
    seconds every get is slow, and beyond a million cells or 1 GB it fails. A slice with one event
    has the cost of a wide row without its benefit.

    Use instead: a slice that holds tens to thousands of events; an hour for one event a second.

    Source: OpenTSDB's row of one hour, 3,600 points at most in seconds; claim 41 agrees. Claim 46
    has a million columns at most; hbase.table.max.rowsize, 1 GB.
    """

    name = "slice_length"
    code = "RK505"
    severity: ClassVar[Severity] = "info"
    claims = (41, 46)
    bad_design = """\
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
    good_design = """\
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
    INFO_ABOVE_CELLS = 3_600
    """Cells up to which nothing is reported, as many as in OpenTSDB's rows. Source: verdict on
    claim 41."""
    WARNING_ABOVE_CELLS = 1_000_000
    """Cells above which it is a warning. Source: verdict on claim 46."""
    MIN_EVENTS_PER_ROW = 1.5
    """Events below which most rows have one."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if a time slice puts too many or too few events into a row."""
        remainders = [
            part.time_remainder for part in subject.key.parts if part.time_remainder is not None
        ]
        if len(remainders) != 1 or subject.key.is_salted:
            return
        tick = subject.design.fields[remainders[0].field].type.unit_ns or 0
        length_s = remainders[0].length_units * tick / NANOSECONDS["s"]
        other_fields = [name for name in subject.key.fields if name != remainders[0].field]
        each = self.estimate_events_per_second(subject, other_fields)
        if each is None:
            return
        events = each * length_s
        cells = events * sum(cell.event_share for cell in subject.cells)
        size = events * subject.event_bytes
        figures: dict[str, Any] = {
            "events": events,
            "cells": cells,
            "row_bytes": size,
            "seconds": length_s,
        }
        if cells > self.INFO_ABOVE_CELLS:
            is_huge, is_refused = cells > self.WARNING_ABOVE_CELLS, size > MAX_READ_ROW_BYTES
            yield self.build_finding(
                "key",
                f"{pluralize(round(events), 'event')} fall into one time slice of "
                f"{length_s:,.0f} s, which makes a row of {cells:,.0f} cells and about "
                f"{size / 2**20:,.1f} MB that cannot be split",
                "Shorten the time slice in the key.",
                severity="error" if is_refused else "warning" if is_huge else "info",
                value=str(subject.key),
                **figures,
            )
        # With several fields, far fewer combinations may occur than are possible.
        if events < self.MIN_EVENTS_PER_ROW and len(other_fields) == 1:
            yield self.build_finding(
                "key",
                f"on average {format_number(events, 2)} events with the same {other_fields[0]} "
                f"fall into one time slice of {length_s:,.0f} s, so most rows hold one event",
                "Lengthen the time slice, or put the time itself into the key.",
                value=str(subject.key),
                **figures,
            )

    @staticmethod
    def estimate_events_per_second(subject: LintSubject, names: list[str]) -> float | None:
        """Estimate the events per second with the same values of some fields; None if unknown."""
        writes = subject.design.writes
        rate, counted_fields = writes.rate, names
        if writes.period_ms is not None and writes.entity in names:
            rate, counted_fields = (
                1_000 / writes.period_ms,
                [n for n in names if n != writes.entity],
            )
        counts = [subject.count_distinct(name) for name in counted_fields]
        if rate is None:
            return None
        return rate / prod(n for n in counts if n) if all(counts) else None
