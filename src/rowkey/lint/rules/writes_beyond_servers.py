"""The rule `writes_beyond_servers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.workload import DEFAULT_CAPACITY_PER_S, POOR_UTILIZATION

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class WritesBeyondServers(Rule):
    """The servers cannot take the declared writes: always, in a burst, or because of skew.

    What it does: compares the write rate with nine tenths of the capacity of all servers, of which
    a peak or the failure of a server needs the rest; then the load of the busiest server under the
    largest predicted cause of a hot spot; then each burst. A server for which the file declares no
    capacity is taken to bear 10,000 operations a second, as in the verdict, of which a large event
    takes several; then only the rate is compared.

    Why it hurts: request queues fill, memstores reach their limit and block, clients wait and give
    up. A skew of 8 on 8 servers leaves the table the capacity of one.

    Use instead: another key if skew is the reason: servers do not help against it. Otherwise more
    servers; several events in a row, or in one cell; a queue that levels bursts.

    Source: the load of the busiest server is rate · skew / servers; claim 75 asks for more regions
    for more throughput: beyond the servers they give none. hbase.regionserver.global.memstore.size.
    """

    name = "writes_beyond_servers"
    code = "RK706"
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
servers  = 16
capacity = "20000/s"

[writes]
rate = "200000/s"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the servers cannot take the declared writes."""
        cluster, writes = subject.cluster, subject.design.writes
        if writes.rate is None:
            return
        capacity, assumption = subject.server_events_per_s * cluster.servers, ""
        if cluster.capacity_per_s is None:
            assumption = f", at an assumed {DEFAULT_CAPACITY_PER_S:,.0f} operations/s of each,"
        if writes.rate > POOR_UTILIZATION * capacity:
            yield self._build_rate_finding(
                "writes.rate", "", writes.rate, capacity, subject, assumption
            )
            return
        if cluster.capacity_per_s is None:
            return
        cause = max(subject.causes.values(), key=lambda one: one.explained_skew, default=None)
        if cause is not None and writes.rate * cause.explained_skew > capacity:
            busiest = writes.rate * cause.explained_skew / cluster.servers
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
            return
        for index, burst in enumerate(writes.bursts):
            if writes.rate * burst.rate_factor > capacity:
                lasting = f", for {(burst.stop_ms - burst.start_ms) / 1000:,g} s"
                path = subject.format_path("writes", "bursts")
                rate = writes.rate * burst.rate_factor
                yield self._build_rate_finding(
                    path, f" in burst {index + 1}{lasting}", rate, capacity, subject
                )

    def _build_rate_finding(
        self,
        path: str,
        when: str,
        rate: float,
        capacity: float,
        subject: LintSubject,
        assumption: str = "",
    ) -> Finding:
        """Return the finding that a write rate exceeds the capacity of all servers."""
        servers, needed = subject.cluster.servers, subject.count_needed_servers(rate)
        regions = len(subject.boundaries) if subject.boundaries is not None else 0
        division = f"which divide the {regions:,} regions evenly"
        if regions % needed:
            division = "and a multiple of that in regions"
        return self.build_finding(
            path,
            f"the writes are {pluralize(round(rate), 'event')} a second{when}: "
            f"{rate / capacity:.0%} of the {capacity:,.0f} that "
            f"{pluralize(servers, 'server')} can take{assumption} even if spread evenly",
            f"Use {needed:,} servers or more, {division}, or put fewer and larger rows.",
            severity="warning" if when or assumption or rate <= capacity else None,
            value=rate,
            rate=rate,
            capacity=capacity,
            servers=servers,
        )
