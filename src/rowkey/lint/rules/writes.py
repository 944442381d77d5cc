"""Rules on writes and imports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rowkey.array_libraries import np
from rowkey.cells import FOREVER_S
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize
from rowkey.schema import NANOSECONDS
from rowkey.workload import DEFAULT_CAPACITY_PER_S, FAIR_UTILIZATION, POOR_UTILIZATION

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.lint.subject import LintSubject


class SortedImport(Rule):
    """The rows are imported in the order of their keys.

    What it does: looks for `arrival = "bulk_sorted"` where no salt spreads the rows.

    Why it hurts: all clients write to the same region at the same time and move on to the next one
    together. One server works, whatever the key.

    Use instead: the rows shuffled, with a different part for each client; or HFiles that are
    bulk-loaded.

    Source: HBase book, "Lock-step import": claim 79 randomises the order, which is right.
    """

    name = "sorted_import"
    code = "RK701"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "bulk_sorted"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[writes]
arrival = "random"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows are imported in the order of their keys."""
        cause = subject.causes.get("moving_front")
        if cause is not None and subject.design.writes.arrival == "bulk_sorted":
            yield self.build_finding(
                subject.find_nearest_path("writes", "arrival"),
                cause.message,
                cause.remedy,
                value=subject.design.writes.arrival,
            )


class GroupedImport(Rule):
    """The sample's rows are grouped by the field that decides their region.

    What it does: looks whether, in the order of the sample's file, the values of the one field in
    the leading hash or reversal only rise, with many rows for each value.

    Why it hurts: the key spreads the rows, but not at any one time. While the rows of one value are
    loaded, one region takes all writes; several writers that read in the same order move from
    region to region in step.

    Use instead: the same rows in another order: shuffled, or by time. If they arrive by time and
    only the file is grouped, write `sort = true` under `[writes]`.

    Source: claim 79, the order of an import is randomised against lock-step: HBase book, "Import in
    Lock-step". An import in the order of the keys themselves is sorted-import.
    """

    name = "grouped_import"
    code = "RK702"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (79,)
    bad_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"
"""
    good_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = "u32"
ts    = "timestamp_s"
value = "float64"

[writes]
sort = true
"""
    sample_csv = "meter,ts,value\n" + "".join(
        f"{n // 100},{1_767_225_600 + n % 100 * 60},{n % 7}.5\n" for n in range(7_000)
    )
    MIN_RISING_SHARE = 0.99
    """Share of rows in ascending order from which the rows count as grouped."""
    MIN_ROWS_PER_VALUE = 100
    """Rows per value from which a client's batch holds few values."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the sample is grouped by the field that decides the region."""
        part, sample, writes = subject.leading_part, subject.sample, subject.design.writes
        if part is None or sample is None or writes.is_sorted or len(part.fields) != 1:
            return
        [name] = part.fields
        facts = subject.find_facts(name)
        is_time = subject.design.fields[name].type.unit_ns is not None
        if (
            is_time
            or part.order.is_ascending
            or part.order.is_descending
            or not facts.distinct_count
        ):
            return
        each = sample.event_count / facts.distinct_count
        if (facts.rising_share or 0.0) < self.MIN_RISING_SHARE or each < self.MIN_ROWS_PER_VALUE:
            return
        yield self.build_finding(
            "key",
            f"the rows of the sample are grouped by {name}, with "
            f"{pluralize(round(each), 'row')} for each value, and {name} alone decides the "
            "region, so one region takes all writes during each group",
            "Load the rows shuffled or by time, or set [writes] sort = true if they arrive by "
            "time.",
            value=name,
            rising=facts.rising_share,
            distinct=facts.distinct_count,
            rows_each=each,
        )


class TtlFromWriting(Rule):
    """The time to live counts from the import, not from the event.

    What it does: looks for a time to live where old events are written, by `arrival` random or
    bulk_sorted, and cells get the time of writing as their timestamp. The time of an event is one
    in the key, or the one that `[writes]` names beside a unique field in the key: without either,
    rows may be written again, and their time may be that of the last change.

    Why it hurts: an event of last year that is imported today expires one time to live from today.
    Until then the table holds more than the time to live suggests.

    Use instead: `at = "timestamp"` on the event time, if each row is written once.

    Source: HBase book, "Time To Live": counted from the cell's timestamp; claim 28.
    """

    name = "ttl_from_writing"
    code = "RK703"
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

[families.d]
ttl = "30d"

[writes]
arrival = "random"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each ttl that counts from the import, not from the event."""
        writes = subject.design.writes
        if writes.has_advancing_time or writes.time is None:
            return
        is_named = subject.design.declaration.writes.time is not None
        is_unique = any(one.declaration.unique for one in subject.key.fields.values())
        if not (is_named and is_unique) and writes.time.name not in subject.key.fields:
            return
        if subject.design.layout.cell_timestamp is not None:
            return
        for name, family in subject.families.items():
            if _measure_expired_share(subject, writes.time, family.ttl_s):
                continue  # at the time of the event they would be gone when they are written
            if family.ttl_s != FOREVER_S and subject.is_declared("families", name, "ttl"):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"old events are imported, but their ttl of {family.ttl_s:,} s counts from "
                    f"the write and not from {writes.time.name}, so they are kept too long",
                    f'Declare {writes.time.name} with at = "timestamp", if each row is written '
                    "once.",
                    value=family.ttl_s,
                )


class LateBeyondTtl(Rule):
    """Some events arrive after their time to live has ended.

    What it does: compares the longest delay with the time to live of each family, where the event
    time is the timestamp of the cells. Of an import, by `arrival` random or bulk_sorted, it takes
    the events of the sample that are older than the newest by the time to live.

    Why it hurts: a cell's age counts from its timestamp. An event that arrives later than the time
    to live is accepted, acknowledged and never visible; no call reports the loss.

    Use instead: a longer time to live; or the time in the key or in a column, so that cells get the
    time at which they are written.

    Source: claim 28, a family's time to live is in seconds, HBase book, "Time To Live"; claim 30,
    that of a cell in milliseconds and not beyond it. Both count from the timestamp: ScanInfo.
    """

    name = "late_beyond_ttl"
    code = "RK704"
    severity: ClassVar[Severity] = "error"
    claims = (28, 30)
    bad_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = { type = "timestamp_ms", at = "timestamp" }
state  = "u8"

[families.d]
versions = 10
ttl      = "1h"

[writes]
late = { share = 0.02, upto = "6h" }
"""
    good_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = { type = "timestamp_ms", at = "timestamp" }
state  = "u8"

[families.d]
versions = 10
ttl      = "30d"

[writes]
late = { share = 0.02, upto = "6h" }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose ttl ends before late events arrive."""
        writes = subject.design.writes
        if subject.design.layout.cell_timestamp is None:
            return
        for name in dict.fromkeys(cell.family for cell in subject.cells):
            ttl_s = subject.families[name].ttl_s
            yield from self._find_expired_imports(subject, name, ttl_s)
            if writes.late_ms and ttl_s != FOREVER_S and writes.late_ms >= 1_000 * ttl_s:
                late_s = writes.late_ms / 1_000
                yield self.build_finding(
                    "writes.late.upto",
                    f"{writes.late_share:.1%} of the events arrive up to {late_s:,g} s late, "
                    f"but family {name} keeps cells only for {ttl_s:,} s from the event's "
                    "time, so some cells are expired on arrival",
                    f"Give family {name} a longer ttl, or store the event time in the key.",
                    value=writes.late_ms,
                    family=name,
                    ttl_s=ttl_s,
                    late_ms=writes.late_ms,
                    share=writes.late_share,
                )

    def _find_expired_imports(
        self, subject: LintSubject, name: str, ttl_s: int
    ) -> Iterator[Finding]:
        """Yield a finding if events of an import are older than a family keeps their cells."""
        if subject.design.writes.has_advancing_time:
            return
        time = subject.design.fields[subject.design.layout.placed_fields["timestamp"][0]]
        share = _measure_expired_share(subject, time, ttl_s)
        if share:
            yield self.build_finding(
                subject.format_path("families", name, "ttl"),
                f"{share:.1%} of the events of the import are older than the newest by more than "
                f"{ttl_s:,} s, for which family {name} keeps cells from the event's time, so their "
                "cells are expired when they are written",
                f"Give family {name} a longer ttl, or declare {time.name} without "
                'at = "timestamp".',
                severity="info" if share < MAX_STRAY_SHARE else None,
                value=ttl_s,
                family=name,
                ttl_s=ttl_s,
                share=share,
            )


def _measure_expired_share(subject: LintSubject, time: Field, ttl_s: int) -> float:
    """Return the share of sampled events that are older than the newest by a time to live."""
    sample, unit_ns = subject.sample, time.type.unit_ns
    if sample is None or unit_ns is None or time.name not in sample.rows.schema.names:
        return 0.0
    times = time.type.to_internal_batch(sample.rows.column(time.name).drop_null())
    if not len(times):
        return 0.0
    return float(np.mean((times.max() - times) * (unit_ns / NANOSECONDS["s"]) >= ttl_s))


class LateHidesNewer(Rule):
    """Late events overwrite newer ones of the same row.

    What it does: looks for late events in a table whose rows are updated in place, such as the
    state of a device: the time is neither in the key, nor in a qualifier, nor the timestamp of
    cells.

    Why it hurts: a read returns the cell that was written last. An event that arrives ten minutes
    late replaces the newest state by that of ten minutes ago.

    Use instead: `at = "timestamp"` on the time: then the cell with the greatest timestamp is the
    newest, whatever the order of arrival. Or the time in the key, which makes each event a row.

    Source: HBase book, "Versions": the greatest timestamp wins, and without one the server takes
    its own clock. Claim 8, a put of the same key hides what was there.
    """

    name = "late_hides_newer"
    code = "RK705"
    severity: ClassVar[Severity] = "error"
    claims = (8,)
    bad_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = "timestamp_ms"
state  = "u8"

[families.d]
versions = 1

[writes]
late = { share = 0.02, upto = "10m" }
"""
    good_design = """\
table  = "states"
key    = "[bucket(device, 16)][device]"
splits = "per_bucket"

[fields]
device = "u32"
ts     = { type = "timestamp_ms", at = "timestamp" }
state  = "u8"

[families.d]
versions = 1

[writes]
late = { share = 0.02, upto = "10m" }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if late events overwrite newer events of the same row."""
        writes, layout = subject.design.writes, subject.design.layout
        time = writes.time
        if time is None or not writes.late_ms or layout.cell_timestamp is not None:
            return
        if time.name in layout.identity_fields or subject.key.is_salted:
            return
        yield self.build_finding(
            "writes.late",
            f"{writes.late_share:.1%} of the events arrive late, and HBase orders cells by "
            f"arrival and not by {time.name}, so a late event overwrites a newer event of its "
            "row",
            f'Declare {time.name} with at = "timestamp", or put {time.name} into the key.',
            value=time.name,
            share=writes.late_share,
            late_ms=writes.late_ms,
        )


class _DeclaredLoad(NamedTuple):
    """A declared rate of writes.

    Args:
        path: where it is declared.
        when: the burst that has it, as a phrase; empty for the rate of all time.
        rate: events a second.
    """

    path: str
    when: str
    rate: float


class WritesBeyondServers(Rule):
    """The servers cannot take the declared writes: always, in a burst, or because of skew.

    What it does: compares the write rate, or that of the strongest burst, with the capacity of all
    servers: above half of it is a remark, as a verdict is then fair; above nine tenths a warning,
    as a peak or the failure of a server needs the rest. Then it compares the load of the busiest
    server under the largest predicted cause of a hot spot, where the file declares a capacity. Else
    a server is taken to bear 10,000 operations a second, of which a large event takes several.

    Why it hurts: request queues fill, memstores reach their limit and block, clients wait and give
    up. A skew of 8 on 8 servers leaves the table the capacity of one.

    Use instead: another key if skew is the reason: servers do not help against it. Otherwise more
    servers; several events in a row, or in one cell; a queue that levels bursts.

    Source: the load of the busiest server is rate · skew / servers; claim 75 asks for more regions
    for more throughput: beyond the servers they give none. hbase.regionserver.global.memstore.size.
    """

    name = "writes_beyond_servers"
    code = "RK706"
    announced_codes = ("RK205",)
    measured_by = "writes"
    severity: ClassVar[Severity] = "error"
    claims = (75,)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[writes]
rate = "200000/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[cluster]
servers  = 8
capacity = "20000/s"

[writes]
rate = "50000/s"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the servers cannot take the declared writes."""
        cluster, writes = subject.cluster, subject.design.writes
        if writes.rate is None:
            return
        capacity = subject.server_events_per_s * cluster.servers
        load = self._find_strongest(subject)
        cause = max(subject.causes.values(), key=lambda one: one.explained_skew, default=None)
        skew = 1.0 if cause is None else cause.explained_skew
        is_declared = cluster.capacity_per_s is not None
        is_beyond = load.rate > POOR_UTILIZATION * capacity
        if cause is not None and is_declared and not is_beyond and writes.rate * skew > capacity:
            busiest = writes.rate * skew / cluster.servers
            yield self.build_finding(
                "writes.rate",
                f"the busiest of {pluralize(cluster.servers, 'server')} gets "
                f"{pluralize(round(busiest), 'event')} per second because of the hot spot "
                f"{cause.code.replace('_', '-')}, but can take {cluster.capacity_per_s:,.0f}",
                "Fix the hot spot first: more servers do not help against it.",
                value=writes.rate,
                rate=writes.rate,
                busiest=busiest,
                capacity=cluster.capacity_per_s,
                servers=cluster.servers,
            )
        elif load.rate > FAIR_UTILIZATION * capacity:
            yield self._build_rate_finding(load, capacity, subject)

    @staticmethod
    def _find_strongest(subject: LintSubject) -> _DeclaredLoad:
        """Return the strongest burst, or the declared rate where no burst is stronger."""
        writes = subject.design.writes
        rate = writes.rate or 0.0
        loads = [_DeclaredLoad("writes.rate", "", rate)]
        for index, burst in enumerate(writes.bursts):
            when = f" in burst {index + 1}, for {(burst.stop_ms - burst.start_ms) / 1000:,g} s"
            path = subject.format_path("writes", "bursts")
            loads.append(_DeclaredLoad(path, when, rate * burst.rate_factor))
        return max(loads, key=lambda one: one.rate)

    def _build_rate_finding(
        self, load: _DeclaredLoad, capacity: float, subject: LintSubject
    ) -> Finding:
        """Return the finding that a write rate takes more than half of all servers' capacity.

        It is info up to 90 % of the capacity and a warning above; an error if a declared rate is
        above a declared capacity.
        """
        servers, rate = subject.cluster.servers, load.rate
        needed = subject.count_needed_servers()
        regions = len(subject.boundaries) if subject.boundaries is not None else 0
        division = "and a multiple of that in regions"
        if regions and regions % needed == 0:
            division = f"which divide the {regions:,} regions evenly"
        measured = subject.measured_writes
        is_measured = measured is not None and measured.needed_servers is not None
        alone = "" if is_measured or subject.counts_all_reads else " for the writes alone"
        is_assumed = subject.cluster.capacity_per_s is None
        assumption = (
            f", at an assumed {DEFAULT_CAPACITY_PER_S:,.0f} operations/s of each,"
            if is_assumed
            else ""
        )
        severity: Severity = "error"
        if load.when or is_assumed or rate <= capacity:
            severity = "warning" if rate > POOR_UTILIZATION * capacity else "info"
        return self.build_finding(
            load.path,
            f"the writes are {pluralize(round(rate), 'event')} a second{load.when}: "
            f"{rate / capacity:.0%} of the {capacity:,.0f} that "
            f"{pluralize(servers, 'server')} can take{assumption} even if spread evenly",
            f"Use {needed:,} servers or more{alone}, {division}, or put fewer and larger rows.",
            severity=severity,
            value=rate,
            rate=rate,
            capacity=capacity,
            servers=servers,
        )
