"""Rules on the ranges and the order that reads need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.explanations import explain_read
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.plan import BoundRead, DeclaredRead, count_spreading_parts
from rowkey.proposals import ANOTHER_KEY
from rowkey.schema import Equal, OneOf, Ordering, Parameter, Range, StartsWith, find_field_refs
from rowkey.workload import DEFAULT_CAPACITY_PER_S, FAIR_WASTE, POOR_WASTE, count_read_operations

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject, PlannedRead


class FullScanRead(Rule):
    """A declared read scans the whole table.

    What it does: plans each declared read with example values, and reports those with conditions
    that still read every row of the table. The rate of the read decides how severe that is: an
    error if it wastes more than a tenth of all servers' capacity, or if no rate is declared; a
    warning if it wastes more than a hundredth, or asks for few rows; else a remark. A read of all
    rows, without a condition and a limit, is only a remark, and so is one that a declared
    companion serves whose own design does not declare it.

    Why it hurts: the cost grows with the table and not with the answer. Every region is opened and
    every block is read, which evicts the cache. A filter on the server saves what is sent, not what
    is read.

    Use instead: a key that starts, after the bucket or salt, with the fields that the read gives;
    or a second table with such a key.

    Source: the shares are those of the verdict, for the declared capacity or 10,000 operations a
    second of each server, and for the rows that size or rate imply, or the sample, or a million;
    claim 2, a table is read by get, by range or whole; claims 1 and 52, the key must serve
    the reads. HBase book, "Schema design": rows are found by their keys alone, and by no other
    index.
    """

    name = "full_scan_read"
    code = "RK601"
    measured_by = "reads"
    severity: ClassVar[Severity] = "error"
    claims = (2, 52)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    MAX_LIMIT_OF_POINT_READ = 10
    ASSUMED_ROWS = 1_000_000
    """Rows of a table of unknown size."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each declared read that scans the whole table."""
        for one in subject.reads:
            if one.plan is None or not one.plan.is_full_scan:
                continue
            read = one.read
            is_only_reversed = all(  # then reversed-under-range reports it
                name in subject.unordered_fields and isinstance(bound, Range)
                for name, bound in one.bounds.items()
            )
            if one.bounds and not is_only_reversed:
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{read.name}' scans the whole table: it gives "
                    f"{' and '.join(one.bounds)}, which cannot narrow the scan with this key",
                    ANOTHER_KEY,
                    severity=self._choose_severity(subject, read),
                    value=read.name,
                    given=list(one.bounds),
                    needs_key=True,
                )
            elif not one.bounds and read.limit is None:
                yield self.build_finding(
                    one.path,
                    f"the read '{read.name}' has neither a condition nor a limit and scans the "
                    "whole table",
                    "Add a limit to the read, or read a snapshot of the table.",
                    severity="info",
                    value=read.name,
                )

        for one in subject.planned_reads:
            if not one.companion or one.plan is None or not one.plan.is_full_scan:
                continue
            declared = subject.design.companions[one.companion].reads
            wanted = one.read.conditions, one.read.order
            if wanted not in [(read.conditions, read.order) for read in declared]:
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' would scan the whole table, and the companion "
                    f"{one.companion} serves it",
                    f"Declare it in the design of {one.companion}, by whose key it is judged.",
                    severity="info",
                    value=one.read.name,
                    companion=one.companion,
                )

    def _choose_severity(self, subject: LintSubject, read: DeclaredRead) -> Severity:
        """Return how severe the scan of a read is, by its rate."""
        if read.rate is None:
            return "error"
        cluster = subject.cluster
        capacity = (cluster.capacity_per_s or DEFAULT_CAPACITY_PER_S) * cluster.servers
        regions = len(subject.boundaries) if subject.boundaries is not None else 1
        waste = read.rate * count_read_operations(regions, self._estimate_rows(subject)) / capacity
        if waste > POOR_WASTE:
            return "error"
        is_point_read = read.limit is not None and read.limit <= self.MAX_LIMIT_OF_POINT_READ
        return "warning" if waste > FAIR_WASTE or is_point_read else "info"

    def _estimate_rows(self, subject: LintSubject) -> float:
        """Return the rows that the table will have, or a million if nothing tells."""
        if subject.demand.plain_size and subject.event_bytes:
            return subject.demand.plain_size / subject.event_bytes
        return self.ASSUMED_ROWS if subject.sample is None else subject.sample.event_count


class UnservedOrder(Rule):
    """The key cannot return the rows of a read in the requested order.

    What it does: looks for reads that want another order than the key gives, forwards and
    backwards. Without a limit it is a remark, as all rows are wanted anyway. If the key holds the
    field reversed, reversed-under-range reports it; if nothing narrows the read, full-scan-read
    does.

    Why it hurts: all rows of the answer are read and sorted in memory before the first is returned.
    A limit does not help: the latest ten of a million cost a million.

    Use instead: the field of the order directly after the fields that the read fixes.

    Source: HBase stores rows in the order of their keys and knows no other: HBase book, "Sort
    Order". Claim 52, fields are ordered by their use: those with one value before the ordered one.
    """

    name = "unserved_order"
    code = "RK602"
    severity: ClassVar[Severity] = "warning"
    claims = (52,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][shop][time]"
splits = "per_bucket"

[fields]
user   = "u32"
shop   = "u32"
time   = "timestamp_ms"
amount = "u32"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "time desc"
limit = 20
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][desc(time)][shop]"
splits = "per_bucket"

[fields]
user   = "u32"
shop   = "u32"
time   = "timestamp_ms"
amount = "u32"

[[reads]]
name  = "latest orders of a user"
where = "user = ?"
order = "time desc"
limit = 20
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose order the key cannot give."""
        for one in subject.reads:
            plan, read = one.plan, one.read
            if plan is None or not plan.needs_sort or plan.is_point or not plan.fan_out:
                continue
            if plan.is_full_scan and one.bounds:
                continue  # full-scan-read reports it
            if any(order.field in subject.unordered_fields for order in read.order):
                continue  # reversed-under-range reports it
            spared = "" if read.limit is None else f", in spite of the limit of {read.limit:,}"
            comes = ", ".join(map(str, plan.row_order)) or "no field order"
            yield self.build_finding(
                f"{one.path}.order",
                f"the read '{read.name}' wants the order {', '.join(map(str, read.order))}, "
                f"but the key gives {comes}, so all rows of the answer are sorted in memory "
                f"before the first is returned{spared}",
                ANOTHER_KEY,
                severity="info" if read.limit is None else None,
                value=read.name,
                wanted=[str(o) for o in read.order],
                given=[name for name, bound in one.bounds.items() if isinstance(bound, Equal)],
                comes=[str(o) for o in plan.row_order],
                needs_key=True,
            )


_WHOLE_ROWS = ", and reads whole rows, because only a forward scan reads pages of their events"
_REVERSED_SCANS = "Since HBase 0.98 a reversed scan serves it without another key."


class LatestReadBackwards(Rule):
    """All reads want the opposite order of the one in which the key stores a field.

    What it does: looks for reads with a limit that scan backwards from the end of their ranges,
    where no declared read wants the same field forwards. Where events share rows it is a warning.

    Why it hurts: it works but costs more for each row: a reversed scan seeks to the previous row in
    every file, where a forward scan continues to the next.

    Use instead: `desc(field)`, which stores 2^63 - 1 minus the time, or all bits inverted: the
    latest row is then the first of its range.

    Source: claim 13 subtracts the time from Long.MAX_VALUE, as the HBase book does, "Reverse
    Timestamps"; since 0.98 a scan can be reversed instead, HBASE-4811; ReversedStoreScanner.
    """

    name = "latest_read_backwards"
    code = "RK603"
    severity: ClassVar[Severity] = "info"
    claims = (13, 66)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "latest lines of a host"
where = "host = ?"
order = "ts desc"
limit = 20
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "latest lines of a host"
where = "host = ?"
order = "ts desc"
limit = 20
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field that all reads want in the opposite order."""
        for one in subject.reads:
            if one.plan is None or not one.plan.is_backwards or one.read.limit is None:
                continue
            orderings = [o for o in one.read.order if self._has_several_values(one, o.field)]
            if one.plan.is_full_scan and one.bounds:
                continue
            if any(Ordering(o.field, not o.descending) in two.read.order
                   for two in subject.reads for o in orderings):  # fmt: skip
                continue
            first = orderings[0]
            is_shared = subject.design.layout.has_shared_rows
            yield self.build_finding(
                f"{one.path}.order",
                f"the read '{one.read.name}' wants the order {first}, but the key stores the "
                "opposite order, which no read wants, so every answer is scanned backwards"
                f"{_WHOLE_ROWS if is_shared else ''}",
                f"Store {first.field} in that order: {self._format_term(subject, first)}.",
                severity="warning" if is_shared else None,
                value=one.read.name,
                verdict="" if is_shared else _REVERSED_SCANS,
                field=first.field,
            )

    @staticmethod
    def _format_term(subject: LintSubject, ordering: Ordering) -> str:
        """Return the term of the key that stores a field in an order."""
        names = {ref.name: term for term in subject.key.terms for ref in find_field_refs(term)}
        term = str(names.get(ordering.field, ordering.field))
        if ordering.descending:
            return f"desc({term})"
        return term.removeprefix("desc(").removesuffix(")") if term.startswith("desc(") else term

    @staticmethod
    def _has_several_values(planned_read: PlannedRead, name: str) -> bool:
        """Return whether a field can differ between the rows of a read's answer."""
        return not isinstance(planned_read.bounds.get(name), Equal)


class WideFanOut(Rule):
    """A read opens many more ranges than there are servers.

    What it does: counts the ranges of each declared read, unless they are single rows or come from
    the buckets alone, which too-many-buckets reports.

    Why it hurts: each range is a separate scanner, opened, read in batches and merged with the
    others. More ranges than servers do not run at the same time: the answer is as slow as the
    busiest server, and the client holds a batch of each.

    Use instead: fewer values at a time; the listed field after the field with the range, tested row
    by row; or fewer buckets.

    Source: claim 38, 100 buckets are 100 scans, is right of everything that is listed; ranges
    multiply. In practice 2 to 4 a server are found; claim 69, they are merged.
    """

    name = "wide_fan_out"
    code = "RK604"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (38, 69)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][level][ts][host]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = "u8"
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "what went wrong in an hour"
where = "level in (3, 4, 5, 6) and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][level][ts][host]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = "u8"
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "what went wrong in an hour"
where = "level = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    MAX_RANGES_PER_SERVER = 4
    """Ranges per server above which it is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that opens many more ranges than there are servers."""
        servers = subject.cluster.servers
        max_ranges = self.MAX_RANGES_PER_SERVER * servers
        is_of_buckets = (subject.bucket_count or 0) > max_ranges
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_point or plan.is_full_scan or is_of_buckets:
                continue
            if plan.fan_out <= max_ranges:
                continue
            terms = zip(subject.key.terms, plan.pinned_values, strict=False)
            factors = [
                f"{len(points):,} values of [{term}]" for term, points in terms if len(points) > 1
            ]
            if len(plan.intervals) > 1:
                factors.append(f"{len(plan.intervals):,} ranges after them")
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' opens {pluralize(plan.fan_out, 'range')} on "
                f"{pluralize(servers, 'server')}: {' times '.join(factors)}",
                "Ask for fewer values in one read, or order the key so that the read lists "
                "fewer values.",
                value=one.read.name,
                ranges=plan.fan_out,
                servers=servers,
                factors=factors,
            )


class ValueBehindRange(Rule):
    """A read fixes a field that comes after the field of its range.

    What it does: looks for reads that the key narrows to a range of one field, while a later field,
    of which the read gives one value or a few, is tested row by row.

    Why it hurts: the rows of that value are scattered over the range, between those of all other
    values. With a thousand hosts after the time, one host's lines of an hour cost the lines of all
    hosts in that hour.

    Use instead: fields with one value before the field with a range. If another read asks for the
    range alone, use two tables.

    Source: claim 52, fields are ordered by their use: equality before the range. It follows from
    the order of the keys: a range is one prefix and one stretch behind it.
    """

    name = "value_behind_range"
    code = "RK605"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    MIN_VALUES_FOR_WARNING = 10
    """Values of the field below which it is only an info: at least one row in ten is returned."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that fixes a key field after the field of its range."""
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned_count >= len(subject.key.parts):
                continue
            ranged = [
                name
                for name in subject.key.parts[plan.pinned_count].fields
                if isinstance(one.bounds.get(name), Range | StartsWith)
            ]
            later_fields = {
                n for part in subject.key.parts[plan.pinned_count + 1 :] for n in part.fields
            }
            for name in [n for n in plan.residual_fields if ranged and n in later_fields]:
                if not isinstance(one.bounds[name], Equal | OneOf):
                    continue
                distinct = subject.count_distinct(name)
                value_phrase = (
                    "every value" if distinct is None else f"all {pluralize(distinct, 'value')}"
                )
                buckets = [
                    part.cardinality
                    for part in subject.key.parts[: plan.pinned_count]
                    if name in part.fields and part.cardinality
                ]
                if distinct is not None and buckets:  # the read knows where its values lie
                    in_bucket = -(-distinct // max(buckets))
                    value_phrase = f"about {in_bucket:,} of the {pluralize(distinct, 'value')}"
                    distinct = in_bucket
                is_few = distinct is not None and distinct < self.MIN_VALUES_FOR_WARNING
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' gives {name}, but the key has {ranged[0]} "
                    f"before it, so the read scans the rows of {value_phrase} of {name} within "
                    "that range",
                    f"Put {name} before {ranged[0]} in this key, or in the key of a second table.",
                    severity="info" if is_few else None,
                    value=one.read.name,
                    field=name,
                    behind=ranged[0],
                    distinct=distinct,
                )


class FilteredRead(Rule):
    """A read's filter discards most of the rows that are read for it.

    What it does: multiplies the shares of rows that pass the conditions tested row by row, where a
    sample or the file tells how many values the fields have and none of the fields is in the key,
    or opens the qualifiers, of which a read takes those that it asks for.

    Why it hurts: the filter runs on the server and saves network traffic, not disk reads. A read of
    one level out of 50 reads 50 rows for each that it returns, and a limit of 100 is reached after
    5,000.

    Use instead: the field in the key, before the field that the read restricts to a range; or a
    separate table for rows that are wanted often and occur rarely.

    Source: rows read for a row returned, the inverse of the share that passes, where conditions are
    independent. Claim 52, the key must serve the reads; claim 45, a packed cell loses filters too.
    """

    name = "filtered_read"
    code = "RK606"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (45, 52)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = { type = "u8", distinct = 50 }
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a level"
where = "host = ? and level = ?"
limit = 100
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][level][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
host  = { type = "text", max_bytes = 16 }
level = { type = "u8", distinct = 50 }
line  = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a level"
where = "host = ? and level = ?"
limit = 100
"""
    MIN_ROWS_FOR_INFO, MIN_ROWS_FOR_WARNING = 10, 100
    """Rows read for each returned row from which the read is reported, and from which as a
    warning."""
    MAX_EXPLAINED_RANGES = 1_000
    """Ranges above which a read is not explained, because the explanation lists them all."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose filter discards most of the scanned rows."""
        for one in subject.reads:
            plan = one.plan
            if (
                plan is None
                or plan.is_full_scan
                or not 0 < plan.fan_out <= self.MAX_EXPLAINED_RANGES
            ):
                continue
            tested = [name for name in plan.residual_fields if name not in subject.key.fields]
            if not tested or len(tested) < len(plan.residual_fields):
                continue
            if subject.design.layout.find_qualifier_range(one.bounds) != (b"", b""):
                continue  # a read of a part of the row
            explanation = explain_read(
                subject.key,
                BoundRead(one.bounds),
                facts=subject.facts,
            )
            if explanation.rows_read is None or explanation.rows_read < self.MIN_ROWS_FOR_INFO:
                continue
            rows = f"{pluralize(round(explanation.rows_read), 'row')} for each row it returns"
            if one.read.limit is not None:
                rows += f", {explanation.rows_read * one.read.limit:,.0f} to reach its limit"
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' tests {' and '.join(tested)} row by row, and "
                f"scans {rows}",
                f"Put {tested[0]} in the key, before any field with a range.",
                severity="warning"
                if explanation.rows_read >= self.MIN_ROWS_FOR_WARNING
                else "info",
                value=one.read.name,
                tested=tested,
                rows_read=explanation.rows_read,
            )


class GapBeforeField(Rule):
    """A read gives a field of the key but not the field before it.

    What it does: looks for reads that fix the first fields of the key but not the next one, while a
    later field of the key is tested row by row.

    Why it hurts: only a prefix of the key narrows a scan. With [tenant][host][ts], a read of one
    hour of a tenant reads all rows of all its hosts.

    Use instead: fields that reads always give before those they leave out; or a second table for
    this read, without the middle field. If the middle field has few values, list them: `field in
    (…)` reads one range for each.

    Source: claim 52, fields are ordered by their use. It follows from the order of the keys: only a
    prefix narrows. HBase's FuzzyRowFilter skips over such gaps row by row, a seek for each value.
    """

    name = "gap_before_field"
    code = "RK607"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad_design = """\
table  = "logs"
key    = "[bucket(tenant, 16)][tenant][host][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
tenant = "u32"
host   = { type = "text", max_bytes = 16 }
line   = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a tenant"
where = "tenant = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(tenant, 16)][tenant][ts][host]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
tenant = "u32"
host   = { type = "text", max_bytes = 16 }
line   = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a tenant"
where = "tenant = ? and ts >= ? and ts < ?"
span  = "1h"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that gives a key field but not the field before it."""
        parts, first = subject.key.parts, count_spreading_parts(subject.key)
        for one in subject.reads:
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned_count >= len(parts):
                continue
            missing_fields = [
                name for name in parts[plan.pinned_count].fields if name not in one.bounds
            ]
            earlier_fields = {
                name for part in parts[first : plan.pinned_count + 1] for name in part.fields
            }
            later_fields = {name for part in parts[plan.pinned_count + 1 :] for name in part.fields}
            filter_fields = [
                name for name in plan.residual_fields if name in later_fields - earlier_fields
            ]
            if not missing_fields or not filter_fields:
                continue
            gap = missing_fields[0]
            distinct = subject.count_distinct(gap)
            every = "every value" if distinct is None else f"all {pluralize(distinct, 'value')}"
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' gives {' and '.join(filter_fields)} but not {gap}, "
                f"which comes first in the key, so it scans the rows of {every} of {gap}",
                f"Put {filter_fields[0]} before {gap} in this key, or in the key of a second "
                "table.",
                value=one.read.name,
                missing=missing_fields,
                lost=filter_fields,
                distinct=distinct,
            )


class HandMadePrefix(Rule):
    """A range is written as a prefix search with a hand-made end.

    What it does: looks for ranges of a text, written in the read, whose end is the start with a
    character appended that is taken for the highest: `uid1~` and `uid1~~`.

    Why it hurts: keys compare as unsigned bytes. `~` is 7E, so every letter that is not ASCII sorts
    after that end: its rows are missing, without an error.

    Use instead: `field starts with 'uid1~'`. That range ends at the prefix with its last byte
    raised by one, after every key with the prefix.

    Source: claim 47 scans from "uid1~" to "uid1~~", which is wrong from 7E on. ClientUtil: the
    closest next row key for a prefix.
    """

    name = "hand_made_prefix"
    code = "RK609"
    severity: ClassVar[Severity] = "warning"
    claims = (47,)
    bad_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[[reads]]
name  = "clubs that a fan follows"
where = "fan = ? and star >= 'club~' and star < 'club~~'"
"""
    good_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[[reads]]
name  = "clubs that a fan follows"
where = "fan = ? and star starts with 'club~'"
"""

    HIGHEST_CHARACTERS = frozenset("~|{}z\x7f\xff\uffff\U0010ffff")
    """Characters that are used as the highest one in a hand-made range end."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each range that imitates a prefix with a hand-made end."""
        for one in subject.reads:
            for name, bound in one.bounds.items():
                if not isinstance(bound, Range) or not self._is_literal(one, name):
                    continue
                low, high = bound.low, bound.high
                if not isinstance(low, str) or not isinstance(high, str) or not low:
                    continue
                if (
                    high != low
                    and high.startswith(low)
                    and self.HIGHEST_CHARACTERS.issuperset(high[len(low) :])
                ):
                    yield self.build_finding(
                        f"{one.path}.where",
                        f"the read '{one.read.name}' asks for {name} from {low!r} to {high!r}, "
                        f"which misses the values that start with {low!r} but sort after "
                        f"{high!r}",
                        f"Write {name} starts with '{low}' if you mean the prefix.",
                        value=one.read.name,
                        verdict=(
                            "A prefix range ends at the prefix with its last byte raised by one."
                        ),
                        field=name,
                        low=low,
                        high=high,
                    )

    @staticmethod
    def _is_literal(planned_read: PlannedRead, name: str) -> bool:
        """Return whether all conditions of a read on one field have written-out values."""
        conditions = [each for each in planned_read.read.conditions if each.field == name]
        return not any(isinstance(o, Parameter) for each in conditions for o in each.operands)


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
