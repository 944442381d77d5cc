"""Rules on the size of rows and cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from math import prod
from typing import Any, ClassVar

from rowkey.array_libraries import pa
from rowkey.cells import FOREVER_S, MAX_CELL_BYTES, MAX_READ_ROW_BYTES
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.lint.subject import LARGE_VALUE_BYTES, LintSubject
from rowkey.messages import format_days, format_number, pluralize
from rowkey.schema import NANOSECONDS

MAX_MEAN_CELLS = 3_600
"""Cells of a mean row up to which a time slice is short enough, as many as in OpenTSDB's rows.
Source: verdict on claim 41."""

SLICES = (("1d", 86_400), ("1h", 3_600), ("10m", 600), ("1m", 60), ("10s", 10), ("1s", 0))
"""Lengths of a time slice that are proposed, with their seconds; the last is for all rates."""


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
    WARNING_ABOVE_CELLS = 1_000_000
    """Cells above which it is a warning. Source: verdict on claim 46."""
    MIN_EVENTS_PER_ROW = 1.5
    """Events below which most rows have one."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if a time slice puts too many or too few events into a row."""
        remainders = [
            part.time_remainder for part in subject.key.parts if part.time_remainder is not None
        ]
        if len(remainders) != 1:
            return
        tick = subject.design.fields[remainders[0].field].type.unit_ns or 0
        length_s = remainders[0].length_units * tick / NANOSECONDS["s"]
        other_fields = [name for name in subject.key.fields if name != remainders[0].field]
        each = self.estimate_events_per_second(subject, other_fields)
        if each is None:
            return
        events = each * length_s / (subject.key.salt_count if subject.key.is_salted else 1)
        cells = events * sum(cell.event_share for cell in subject.cells)
        size = events * subject.event_bytes
        figures: dict[str, Any] = {
            "events": events,
            "cells": cells,
            "row_bytes": size,
            "seconds": length_s,
        }
        if cells > MAX_MEAN_CELLS:
            is_huge, is_refused = cells > self.WARNING_ABOVE_CELLS, size > MAX_READ_ROW_BYTES
            yield self.build_finding(
                "key",
                f"{pluralize(round(events), 'event')} fall into one time slice of "
                f"{length_s:,.0f} s, which makes a row of {cells:,.0f} cells and about "
                f"{size / 2**20:,.1f} MB that cannot be split",
                f"Shorten the time slice in the key to {_choose_slice(cells / length_s)}.",
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


class EndlessRow(Rule):
    """A row grows for as long as the table exists.

    What it does: looks at rows that many events share because a field is in the qualifier. If that
    field is a time and the key has none, only a `ttl` limits the row. From the rate and the value
    counts, where known, it computes when a row reaches a million cells. If it is no time, a row
    holds each of its values at most once: it is reported if the fullest row, by the declared shares
    of values, reaches a million cells within the `ttl` or a year.

    Why it hurts: a row is never split, so its region grows past every limit. A get of more than 1
    GB fails. The busiest entities get there first.

    Use instead: a `time_slice` or `time_bucket` of that time in the key, or the time itself, which
    makes each event a row. Or a `ttl`. What is no time goes into the key too.

    Source: HBase book, "Rows vs. Columns": rows rather than a million columns; claim 46 agrees with
    a million. hbase.table.max.rowsize, 1 GB: RowTooBigException.
    """

    name = "endless_row"
    code = "RK506"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad_design = """\
table  = "inbox"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = { type = "timestamp_ms", at = "qualifier" }
text = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "inbox"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
user = "u64"
ts   = "timestamp_ms"
text = { type = "text", max_bytes = 200 }
"""
    MAX_CELLS_PER_ROW = 1_000_000
    """Cells of a row. Source: verdict on claim 46."""
    DAY_S = 86_400

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows collect events without a limit."""
        opening = subject.design.layout.qualifier_prefix
        fields = subject.design.fields
        if opening is None or any(fields[n].type.unit_ns for n in subject.key.fields):
            return
        times = [field.name for field in opening.fields if field.type.unit_ns is not None]
        ttl = max(subject.families[cell.family].ttl_s for cell in subject.cells)
        speed = self.estimate_cells_per_second(subject)
        if not times:
            opening_names = [field.name for field in opening.fields]
            yield from self._find_full_rows(subject, opening_names, speed, min(ttl, YEAR_S))
            return
        if ttl != FOREVER_S and (speed is None or speed * ttl <= self.MAX_CELLS_PER_ROW):
            return
        names = ", ".join(subject.key.fields)
        length, _ = SLICES[0]
        what = f"all events with the same {names} share one row, which grows without limit"
        if ttl != FOREVER_S:
            what = f"one row holds all events of {ttl / self.DAY_S:,.1f} days with the same {names}"
        if speed is not None:
            days = self.MAX_CELLS_PER_ROW / speed / self.DAY_S
            what += f"; a mean row reaches a million cells after about {format_days(days)}"
            fullest = speed * self._compare_fullest_row(subject)
            if fullest * self.DAY_S > self.MAX_CELLS_PER_ROW:
                hours = self.MAX_CELLS_PER_ROW / fullest / 3_600
                what += f", the fullest of the sample after {format_number(hours, 2)} hours"
            length = _choose_slice(max(speed, fullest * MAX_MEAN_CELLS / self.MAX_CELLS_PER_ROW))
        yield self.build_finding(
            subject.format_path("fields", times[0], "at"),
            what,
            f"Put [time_slice({times[0]}, {length})] or {times[0]} itself into the key.",
            severity="info" if speed is None else "warning",
            value="qualifier",
            cells_per_day=None if speed is None else speed * self.DAY_S,
            ttl_s=ttl,
        )

    def _find_full_rows(
        self, subject: LintSubject, names: list[str], speed: float | None, seconds: int
    ) -> Iterator[Finding]:
        """Yield a finding if a row comes to hold very many values of fields that are no times.

        Args:
            subject: the design.
            names: the fields that open the qualifiers.
            speed: cells that an average row receives a second; None if unknown.
            seconds: how long it receives them.
        """
        counts = [subject.count_distinct(name) for name in names]
        if speed is None or not all(counts) or subject.sample is not None:
            return  # of a sample, another rule compares the rows
        heaviest = prod(
            max((subject.find_facts(name).heaviest_share or 0) * values, 1)
            for name in subject.key.fields
            if (values := subject.count_distinct(name))
        )
        each = sum(cell.event_share for cell in subject.cells)
        cells = min(speed * heaviest * seconds, prod(n for n in counts if n) * each)
        if cells <= self.MAX_CELLS_PER_ROW:
            return
        size = cells / each * subject.event_bytes
        yield self.build_finding(
            subject.format_path("fields", names[0], "at"),
            f"all events with the same {', '.join(subject.key.fields)} share one row, and the "
            f"fullest comes to hold about {cells:,.0f} cells and {size / 2**20:,.1f} MB that "
            "cannot be split",
            f"Put {' and '.join(names)} into the key, so that each event is a row.",
            severity="error" if size > MAX_READ_ROW_BYTES else "warning",
            value="qualifier",
            cells=cells,
            row_bytes=size,
        )

    @staticmethod
    def estimate_cells_per_second(subject: LintSubject) -> float | None:
        """Estimate the cells that an average row receives per second; None if unknown."""
        rate = subject.design.writes.rate
        counts = [subject.count_distinct(name) for name in subject.key.fields]
        if rate is None or not all(counts):
            return None
        return rate / prod(n for n in counts if n) * sum(cell.event_share for cell in subject.cells)

    @staticmethod
    def _compare_fullest_row(subject: LintSubject) -> float:
        """Return how many times the mean the fullest row of the sample holds; 1 if unknown."""
        sample = subject.sample
        if sample is None or subject.key.is_salted or not sample.keys:
            return 1.0
        counts = Counter(sample.keys).values()
        return max(counts) * len(counts) / sum(counts)


GIB = 1 << 30
YEAR_S = 365 * 86_400


class UnevenRows(Rule):
    """One row holds a hundred times the events of the others.

    What it does: counts the events of each row in a sample, where rows hold many events. It is an
    error if the declared rate lets the row grow above the 1 GiB that a read returns at most, within
    its time to live or a year.

    Why it hurts: what is sized for the usual row fails on that one. A scan needs as much memory as
    its widest row, and the row cannot be split.

    Use instead: a limit for every row: a `time_slice` or `time_bucket` in the key, or the
    qualifier's field in the key. Or a separate table for the few known heavy entities.

    Source: verdict on claim 46: a row cannot be split, and a get of more than 1 GB fails. HBase
    book, "Rows vs. Columns".
    """

    name = "uneven_rows"
    code = "RK507"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (46,)
    bad_design = """\
table  = "follows"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = { type = "u64", at = "qualifier" }
since    = "date"
"""
    good_design = """\
table  = "follows"
key    = "[bucket(user, follower, 16)][user][follower]"
splits = "per_bucket"

[fields]
user     = "u64"
follower = "u64"
since    = "date"
"""
    sample_csv = "user,follower,since\n" + "".join(
        f"{7 if n % 25 == 0 else n * 7919},{n * 6007},2026-01-{1 + n % 28:02d}\n"
        for n in range(1, 5_001)
    )
    MIN_TIMES_MEAN = 100
    """Multiple of the mean from which a row is reported: our choice, two orders of magnitude."""
    MIN_EVENTS_PER_ROW = 200
    """Sampled events of a row below which it is not reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if one row holds far more events than the others."""
        sample = subject.sample
        if sample is None or not subject.design.layout.has_shared_rows or subject.key.is_salted:
            return
        rows = [(sum(1 for _ in group), key) for key, group in groupby(sample.keys)]
        if not rows:
            return
        largest, key = max(rows)
        mean = len(sample.keys) / len(rows)
        if largest < self.MIN_EVENTS_PER_ROW or largest < self.MIN_TIMES_MEAN * mean:
            return
        share = largest / len(sample.keys)
        kept_s = max((subject.families[cell.family].ttl_s for cell in subject.cells), default=0)
        rate, row_seconds = subject.design.writes.rate or 0.0, self._find_row_seconds(subject)
        seconds = min(kept_s, YEAR_S, row_seconds)
        grown_bytes = share * rate * seconds * subject.event_bytes
        is_too_large = grown_bytes > MAX_READ_ROW_BYTES
        growth = (
            f"; at the declared rate it gets {grown_bytes / GIB:,.0f} GiB in "
            f"{_format_time(seconds)}, and a read of a row above 1 GiB fails"
        )
        limit = "Add a field to the key that limits the row"
        if row_seconds < math.inf:
            limit = "Shorten the time step in the key"
        yield self.build_finding(
            "key",
            f"the row {subject.key.format_prefix(key)[:80]} has {largest:,} of "
            f"{pluralize(len(sample.keys), 'event')} ({share:.2%}), {largest / mean:,.0f} times "
            f"the mean of {pluralize(len(rows), 'row')}{growth if is_too_large else ''}",
            f"{limit}, or give heavy entities a separate table.",
            severity="error" if is_too_large else None,
            value=str(subject.key),
            events=largest,
            mean=mean,
            share=share,
        )

    @staticmethod
    def _find_row_seconds(subject: LintSubject) -> float:
        """Return the seconds in which the largest row gets its share of all events.

        They are infinite without a time in the key; a row of a step of time gets no event of
        another step, but its share was counted in the whole sample.
        """
        time = subject.design.writes.time
        if time is None:
            return math.inf
        steps = [
            part.resolution_ns
            for part in subject.key.parts
            if part.fields == (time.name,) and part.resolution_ns
        ]
        facts = subject.find_facts(time.name)
        known = [] if facts.minimum is None else [facts.minimum, facts.maximum]
        ticks = [time.type.to_internal(value) for value in known] or [0]
        sample_ns: int = (ticks[-1] - ticks[0]) * (time.type.unit_ns or 0)
        return max(min(steps, default=math.inf), sample_ns) / NANOSECONDS["s"]


def _format_time(seconds: float) -> str:
    """Return a length of time in days, or in hours below two days.

    >>> _format_time(30 * 86_400), _format_time(5_400)
    ('30 days', '1.5 h')
    """
    days = seconds / 86_400
    return format_days(days)


class EventsInOneCell(Rule):
    """Different events of a row write the same cell.

    What it does: counts the events of the sample whose key and qualifier occurred before; without a
    sample, compares the rate of an entity with the unit of the time that a slice leaves to the
    qualifier.

    Why it hurts: a cell that is written again becomes another version, and one version is kept by
    default. The earlier event is lost without an error.

    Use instead: `at = "qualifier"` on the field that distinguishes the events, or a time with a
    finer unit.

    Source: HBase book, "Versions"; claim 8, the same key overwrites, holds for a cell. Claim 41
    puts the rest of a time slice into the qualifier.
    """

    name = "events_in_one_cell"
    code = "RK508"
    looks_at_sample = True
    severity: ClassVar[Severity] = "error"
    claims = (8, 41)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if different events of a shared row overwrite each other's cells."""
        layout = subject.design.layout
        if not layout.has_shared_rows or layout.cell_timestamp is not None or subject.key.is_salted:
            return
        if subject.sample is not None:
            yield from self._check_sample(subject, list(layout.identity_fields))
        else:
            yield from self._check_rate(subject)

    def _check_sample(self, subject: LintSubject, names: list[str]) -> Iterator[Finding]:
        """Yield a finding if sampled events write the same cell."""
        assert subject.sample is not None
        rows = subject.sample.rows
        if not set(names) <= set(rows.schema.names):
            return
        repeats = rows.num_rows - count_distinct_events(rows, names)
        if repeats:
            yield self.build_finding(
                "key",
                f"{repeats:,} of {pluralize(rows.num_rows, 'event')} have the same "
                f"{', '.join(names)} as an earlier event of the sample, so they overwrite its "
                "cells",
                self._format_remedy(subject),
                severity="info" if repeats < MAX_STRAY_SHARE * rows.num_rows else "warning",
                value=str(subject.key),
                repeats=repeats,
                events=rows.num_rows,
            )

    def _check_rate(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the declared rate puts several events into one cell."""
        remainders = subject.design.layout.time_remainders
        opening = subject.design.layout.qualifier_prefix
        if len(remainders) != 1 or opening is None or opening.fields:
            return
        time = remainders[0].field
        other_fields = [name for name in subject.key.fields if name != time]
        counts = [subject.count_distinct(name) for name in other_fields]
        rate, tick = subject.design.writes.rate, subject.design.fields[time].type.unit_ns
        if rate is None or tick is None or not all(counts):
            return
        each = rate / prod(n for n in counts if n) * tick / NANOSECONDS["s"]
        if each > 1:
            yield self.build_finding(
                "key",
                f"{format_number(each)} events with the same {', '.join(other_fields) or 'row key'}"
                f" arrive within one unit of {time}, so they write the same cell and all but "
                "the last are lost",
                self._format_remedy(subject),
                value=str(subject.key),
                each=each,
            )

    @staticmethod
    def _format_remedy(subject: LintSubject) -> str:
        """Return the remedy: a field that tells events apart, or a finer time if there is one."""
        fields = subject.design.fields
        names = subject.design.layout.identity_fields
        has_time = any(fields[name].type.unit_ns is not None for name in names)
        finer = ", or use a finer time unit" if has_time else ""
        return f'Set at = "qualifier" on a field that distinguishes these events{finer}.'


def count_distinct_events(rows: pa.RecordBatch, names: list[str]) -> int:
    """Count the distinct combinations of some fields among sampled events."""
    events = pa.Table.from_batches([rows.select(names)])
    return int(events.group_by(names).aggregate([]).num_rows)


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
            mean = subject.find_facts(name).mean_bytes or 0.0
            is_seen = max(subject.find_facts(name).max_bytes or 0, mean) > MAX_CELL_BYTES
            average = " on average" if max_sizes[name] == int(mean) else ""
            word = "mean_bytes" if average else "max_bytes"
            yield self.build_finding(
                subject.find_nearest_path("fields", name, word),
                f"{name} {'has' if is_seen else 'may have'} {max_sizes[name]:,} bytes{average}, "
                "but HBase "
                f"accepts at most {MAX_CELL_BYTES:,} for a cell with its key",
                "Store the value in pieces, or in a file whose path the column holds.",
                severity="error" if is_seen else "warning",
                value=max_sizes[name],
                bytes=total,
            )

    @staticmethod
    def _find_max_bytes(subject: LintSubject, name: str) -> int:
        """Return the longest sampled or declared value of a field, or the mean; 0 if unknown."""
        declared, facts = (
            subject.design.fields[name].declaration.max_bytes,
            subject.find_facts(name),
        )
        return max(declared or 0, facts.max_bytes or 0, int(facts.mean_bytes or 0))


class LargeValue(Rule):
    """Values of hundreds of kilobytes are stored among ordinary cells, or small ones in files.

    What it does: looks for columns with a mean value of 100 kB or more, by `mean_bytes` or a
    sample, in a family without `mob`, a warning from 1 MB on, or with a `mob_threshold` above this
    mean; and in one with `mob` for columns with a smaller mean that is above `mob_threshold`.

    Why it hurts: every compaction reads and writes each value again, several times in its life. A
    few such values fill a memstore or a block cache that could serve thousands of rows. A small
    value in a file of its own costs each read of it a second lookup, in another file.

    Use instead: a separate family for them with `mob = true`: values above its threshold are stored
    in files that compactions do not rewrite. Leave the threshold at its default.

    Source: HBase book, "Storing Medium-sized Objects (MOB)": for 100 kB to 10 MB; HBASE-11339. The
    threshold is 102,400 bytes: ColumnFamilyDescriptorBuilder.DEFAULT_MOB_THRESHOLD.
    """

    name = "large_value"
    code = "RK510"
    severity: ClassVar[Severity] = "info"
    bad_design = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }
"""
    good_design = """\
table  = "scans"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = "u64"
image = { type = "bytes", max_bytes = 4000000, mean_bytes = 300000 }

[families.d]
mob = true
"""

    WARNING_ABOVE_BYTES = 1_000_000
    """Mean bytes from which it is a warning: ten times as many as belong into MOB files."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each column whose mean value is in the wrong kind of files."""
        for cell in subject.cells:
            family = subject.families[cell.family]
            for name in cell.fields:
                mean = subject.find_facts(name).mean_bytes
                if mean is None:
                    continue
                if family.mob and family.mob_threshold < mean < LARGE_VALUE_BYTES:
                    yield self.build_finding(
                        subject.format_path("families", cell.family, "mob_threshold"),
                        f"{name} has {mean:,.0f} bytes on average, more than mob_threshold, so "
                        "most of its values lie in MOB files, in which a read looks them up "
                        "one by one",
                        f"Set it to {LARGE_VALUE_BYTES:,}, which is the default.",
                        severity="warning",
                        value=family.mob_threshold,
                        family=cell.family,
                    )
                if family.mob and LARGE_VALUE_BYTES <= mean < family.mob_threshold:
                    yield self.build_finding(
                        subject.format_path("families", cell.family, "mob_threshold"),
                        f"{name} has {mean:,.0f} bytes on average, less than mob_threshold, so "
                        f"most of its values lie among ordinary cells, and each compaction of "
                        f"family {cell.family} rewrites them",
                        f"Set it to {LARGE_VALUE_BYTES:,}, which is the default.",
                        severity="warning",
                        value=family.mob_threshold,
                        family=cell.family,
                    )
                if family.mob or name not in subject.large_fields:
                    continue
                beside = {
                    one
                    for other in subject.cells
                    if other.family == cell.family
                    for one in other.fields
                }
                is_apart = len(subject.families) > 1 and beside <= set(subject.large_fields)
                path = subject.find_nearest_path("fields", name, "mean_bytes")
                remedy = f"Put {name} into a family with mob = true."
                if is_apart:
                    path = subject.find_family_path(cell.family)
                    remedy = "Declare mob = true."
                yield self.build_finding(
                    path,
                    f"{name} has {mean:,.0f} bytes on average, and each compaction of family "
                    f"{cell.family} rewrites these values",
                    remedy,
                    severity="warning" if mean >= self.WARNING_ABOVE_BYTES else None,
                    value=mean,
                    family=cell.family,
                )


def _choose_slice(cells_per_second: float) -> str:
    """Return the longest usual time slice in which a mean row has few enough cells."""
    return next(text for text, seconds in SLICES if cells_per_second * seconds <= MAX_MEAN_CELLS)
