"""Rules on what reads cost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.plan import count_spreading_parts
from rowkey.proposals import ANOTHER_KEY
from rowkey.schema import NANOSECONDS, Equal, Range
from rowkey.workload import DEFAULT_CAPACITY_PER_S, POOR_WASTE

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject, PlannedRead


class GrowingAnswer(Rule):
    """The answer of a read without a limit grows for as long as the table exists, or its ttl.

    What it does: looks for reads with neither a limit nor both ends of a time range, where the
    event time is in the key, so that each event is a row, and rows are kept for ever. Where a ttl
    deletes them, it divides the events of that time at the declared rate by the `distinct` values
    of the fields that the read gives, and reports 100,000 rows and more, as a warning if the
    read runs once a second or more often.

    Why it hurts: it is fast on the first day. A year later the same call returns a year of rows, 2
    MiB a request, and a client that collects them in a list runs out of memory.

    Use instead: a limit with an order; a time range; or a ttl, or a shorter one, on the family.

    Source: hbase.client.scanner.max.result.size, 2 MiB an answer, and no limit of rows: a scan
    without one goes on to the end of its range. HBase book, "Time To Live"; claim 28.
    """

    name = "growing_answer"
    code = "RK608"
    severity: ClassVar[Severity] = "info"
    claims = (28,)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a host"
where = "host = ?"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "lines of a host"
where = "host = ?"
limit = 1000
"""

    MIN_ROWS = 100_000
    """Rows of an answer from which they are many for one that expires: our choice."""
    MIN_RATE = 1.0
    """Reads a second from which they are no export, so that such an answer is a warning."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose answer grows with the table."""
        time = subject.design.writes.time
        if time is None or time.name not in subject.key.fields:
            return
        is_kept = all(family.ttl_s == FOREVER_S for family in subject.families.values())
        for one in subject.reads:
            plan, bound = one.plan, one.bounds.get(time.name)
            if plan is None or one.read.limit is not None or plan.is_full_scan or plan.is_point:
                continue
            is_open = isinstance(bound, Range) and (bound.low is None or bound.high is None)
            if bound is not None and not is_open:
                continue
            rows = 0.0 if is_kept else self._estimate_rows(subject, one)
            if not is_kept and rows < self.MIN_ROWS:
                continue
            time_phrase = f"only one end of {time.name}" if is_open else f"no {time.name}"
            growth = "and rows are never deleted, so its answer grows with the table"
            if rows:
                growth = f"so an answer has about {rows:,.0f} rows once the oldest expire"
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' gives {time_phrase} and no limit, {growth}",
                "Give the read a limit or a time range, or the family a "
                f"{'shorter ' if rows else ''}ttl.",
                severity="warning" if rows and (one.read.rate or 0) >= self.MIN_RATE else None,
                value=one.read.name,
                field=time.name,
                rows=rows,
            )

    @staticmethod
    def _estimate_rows(subject: LintSubject, one: PlannedRead) -> float:
        """Estimate the rows of a read with the oldest that a ttl keeps; 0 if unknown."""
        rate = subject.design.writes.rate or 0.0
        counts = [subject.design.fields[name].declaration.distinct for name in one.bounds]
        if not all(isinstance(bound, Equal) for bound in one.bounds.values()) or None in counts:
            return 0.0
        kept_s = max(family.ttl_s for family in subject.families.values())
        return rate * kept_s / prod(filter(None, counts))


class ReadsBeyondServers(Rule):
    """The reads open more ranges a second than the servers can serve.

    What it does: multiplies the rate of each read by its ranges, adds the rate of the writes, and
    compares the sum with the capacity of the servers, where the file declares all of these.

    Why it hurts: each range is at least one request. A read over 16 buckets makes 16, so a load
    that looked like a tenth of the capacity exceeds it.

    Use instead: a bucket of fields that the read gives, so that it asks one; fewer buckets; more
    servers.

    Source: claim 38, n buckets are n scans; claim 75, scans ask for fewer regions and writes for
    more, is the same trade. A scan of one region is an RPC at the least: ScanRequest.
    """

    name = "reads_beyond_servers"
    code = "RK610"
    measured_by = "reads"
    severity: ClassVar[Severity] = "error"
    claims = (38, 75, 78)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[[reads]]
name  = "a moment"
where = "ts >= ? and ts < ?"
span  = "1s"
limit = 100
rate  = "15000/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[[reads]]
name  = "a moment"
where = "ts >= ? and ts < ?"
span  = "1s"
limit = 100
rate  = "1500/s"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if reads and writes exceed the capacity of the servers."""
        cluster, writes = subject.cluster, subject.design.writes.rate or 0.0
        if cluster.capacity_per_s is None:
            return
        capacity, reads = cluster.capacity_per_s * cluster.servers, subject.reads
        rates = [
            (one.read.rate * one.plan.fan_out, index)
            for index, one in enumerate(reads)
            if one.plan is not None and one.read.rate is not None and one.plan.fan_out
        ]
        total = sum(rate for rate, _ in rates) + writes
        if not rates or total <= capacity or writes > capacity:
            return
        heaviest, index = max(rates)
        one = reads[index]
        ranges = 1 if one.plan is None else one.plan.fan_out
        yield self.build_finding(
            f"{one.path}.rate",
            f"reads and writes make {total:,.0f} requests per second, but "
            f"{pluralize(cluster.servers, 'server')} can serve {capacity:,.0f}; the read "
            f"'{one.read.name}' alone makes {heaviest:,.0f}, {ranges:,} for each answer",
            "Let this read scan fewer ranges, or use more servers.",
            value=one.read.name,
            requests=total,
            capacity=capacity,
            heaviest=heaviest,
            ranges=ranges,
        )


class ReadAsksEveryBucket(Rule):
    """A read gives part of the bucket's fields, so it must ask every bucket.

    What it does: looks for reads that fix some, but not all, of the fields a bucket is computed
    from. If the given fields have too few values to fill the buckets by themselves, nothing is
    reported: a bucket of more fields is then right.

    Why it hurts: each answer is merged from all buckets, although the rows of the entity could be
    in one. It is a warning where, at the read's rate, the needless ranges take more than a tenth of
    what all servers can do: a verdict on the read is then poor.

    Use instead: a bucket of the fields that the reads give; or the third number of a bucket, which
    spreads only the heavy values over several buckets.

    Source: claim 86 hashes so that chosen rows share a region, by hashing the entity: agrees. Claim
    38: n buckets are n scans.
    """

    name = "read_asks_every_bucket"
    code = "RK611"
    measured_by = "reads"
    severity: ClassVar[Severity] = "info"
    claims = (38, 69, 86)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, ts, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""

    MIN_VALUES_PER_BUCKET = 4
    """Values a bucket below which some stay empty. Source: the cause `few_entities`."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that must query every bucket for a missing field."""
        spread = subject.key.parts[: count_spreading_parts(subject.key)]
        bucket_fields = {name for part in spread for name in part.fields}
        for one in subject.reads:
            single_value_fields = {
                name for name, bound in one.bounds.items() if isinstance(bound, Equal)
            }
            missing_fields = bucket_fields - single_value_fields
            buckets = subject.bucket_count
            if one.plan is None or buckets is None or not missing_fields:
                continue
            if one.plan.is_full_scan or one.plan.fan_out < buckets:
                continue
            hashed = [
                name for name in subject.key.fields if name in bucket_fields & single_value_fields
            ]
            pinned = hashed or self._list_leading_fields(subject, single_value_fields)
            if not pinned:
                continue
            counts = [subject.count_distinct(name) for name in pinned]
            is_known = all(counts)
            if is_known and prod(n for n in counts if n) < self.MIN_VALUES_PER_BUCKET * buckets:
                continue
            if not hashed and not is_known:
                continue  # a bucket of other fields may be there because these have few values
            names = ", ".join(pinned)
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' gives {names} but not "
                f"{' and '.join(sorted(missing_fields))}, from which the bucket is computed"
                f"{' too' if hashed else ''}, "
                f"so it scans {pluralize(one.plan.fan_out, 'range')}",
                ANOTHER_KEY,
                severity="warning" if self._is_wasteful(subject, one) else None,
                value=one.read.name,
                fan_out=one.plan.fan_out,
                lacking=sorted(missing_fields),
                needs_key=True,
            )

    @staticmethod
    def _is_wasteful(subject: LintSubject, planned: PlannedRead) -> bool:
        """Return whether the needless ranges take so much that a verdict on the read is poor."""
        if planned.read.rate is None or planned.plan is None:
            return False
        capacity = subject.cluster.capacity_per_s or DEFAULT_CAPACITY_PER_S
        waste = planned.read.rate * (planned.plan.fan_out - 1)
        return waste > POOR_WASTE * capacity * subject.cluster.servers

    @staticmethod
    def _list_leading_fields(subject: LintSubject, single_value_fields: set[str]) -> list[str]:
        """Return the given fields that follow the bucket in the key."""
        rest = subject.key.parts[count_spreading_parts(subject.key) :]
        leading = takewhile(lambda part: single_value_fields.issuperset(part.fields), rest)
        return [name for part in leading for name in part.fields]


_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
"""Seconds of each unit, the largest first, as design files spell it."""


class ReadBeyondTtl(Rule):
    """A declared read asks for a longer time than the rows are kept.

    What it does: compares the span of each read with the longest time to live of the families.

    Why it hurts: what is older than the time to live is gone. The read answers without an error,
    with only the newest rows of the span.

    Use instead: a time to live as long as the span of the longest read; or a shorter span.

    Source: claim 28, a family's time to live is in seconds. HBase book, "Time To Live": cells are
    deleted once the time is reached.
    """

    name = "read_beyond_ttl"
    code = "RK612"
    severity: ClassVar[Severity] = "error"
    claims = (28,)
    bad_design = """\
table  = "audit"
key    = "[bucket(actor, 16)][actor][ts]"
splits = "per_bucket"

[fields]
actor = { type = "text", max_bytes = 16 }
ts    = "timestamp_ms"
entry = { type = "text", max_bytes = 500 }

[families.d]
ttl = "90d"

[[reads]]
name  = "a year of an actor"
where = "actor = ? and ts >= ? and ts < ?"
span  = "365d"
"""
    good_design = """\
table  = "audit"
key    = "[bucket(actor, 16)][actor][ts]"
splits = "per_bucket"

[fields]
actor = { type = "text", max_bytes = 16 }
ts    = "timestamp_ms"
entry = { type = "text", max_bytes = 500 }

[families.d]
ttl = "400d"

[[reads]]
name  = "a year of an actor"
where = "actor = ? and ts >= ? and ts < ?"
span  = "365d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read whose span is longer than every family keeps its rows."""
        names = list(dict.fromkeys(cell.family for cell in subject.cells))
        kept_s = max((subject.families[name].ttl_s for name in names), default=FOREVER_S)
        if kept_s == FOREVER_S or any(subject.families[name].min_versions for name in names):
            return
        for index, read in enumerate(subject.design.reads):
            span_s = 0.0 if read.span is None else read.span.nanoseconds / NANOSECONDS["s"]
            if span_s <= kept_s:
                continue
            yield self.build_finding(
                subject.format_path("reads", index, "span"),
                f"the read '{read.name}' asks for {read.span}, but rows are deleted after "
                f"{_format_seconds(kept_s)}",
                f"Give family {names[0]} a ttl of {read.span} or more, or shorten the span.",
                value=read.name,
                span_s=span_s,
                ttl_s=kept_s,
            )


def _format_seconds(seconds: int) -> str:
    """Return a number of seconds in the largest unit of which it is a whole number.

    >>> _format_seconds(600), _format_seconds(86_400 * 30), _format_seconds(90_061)
    ('10m', '30d', '90061s')
    """
    unit, size = next(one for one in _UNITS.items() if seconds % one[1] == 0)
    return f"{seconds // size}{unit}"
