"""The rule `writes_beyond_servers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class WritesBeyondServers(Rule):
    """More events a second than the servers take, always, in a burst, or for a skew.

    What it does: where the file tells what a server takes, compares the rate of the writes with
    what all servers take together; else that of the server which the largest foreseen cause of heat
    loads most; else that of each burst.

    Why it hurts: the queues of the servers fill, MemStores reach their limit and block, clients
    wait and give up. A skew of 8 on 8 servers leaves the table one server's capacity.

    Use instead: another key where it is the skew: servers do not help it. Else more servers;
    several events in a row, or in one cell; a queue in front that levels bursts.

    Source: the load of the busiest server is rate · skew / servers; claim 75 asks for more regions
    for more throughput: beyond the servers they give none. hbase.regionserver.global.memstore.size.
    """

    name = "writes_beyond_servers"
    code = "RK706"
    severity: ClassVar[Severity] = "error"
    claims = (75,)
    bad = """\
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
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        cluster, writes = subject.cluster, subject.design.writes
        if cluster.capacity is None or writes.rate is None:
            return
        most = cluster.capacity * cluster.servers
        if writes.rate > most:
            yield self._found("writes.rate", "", writes.rate, most, subject)
            return
        cause = max(subject.causes.values(), key=lambda one: one.bound, default=None)
        if cause is not None and writes.rate * cause.bound > most:
            busiest = writes.rate * cause.bound / cluster.servers
            yield self.finding(
                "writes.rate",
                f"the busiest of {counted(cluster.servers, 'server')} is given "
                f"{counted(round(busiest), 'event')} a "
                f"second, for {cause.code.replace('_', ' ')}, and takes {cluster.capacity:,.0f}",
                "Mend the skew first: more servers do not help it.",
                value=writes.rate,
                rate=writes.rate,
                busiest=busiest,
                capacity=cluster.capacity,
                servers=cluster.servers,
            )
            return
        for index, burst in enumerate(writes.bursts):
            if writes.rate * burst.times > most:
                lasting = f", for {(burst.stop_ms - burst.start_ms) / 1000:,g} s"
                path = subject.at("writes", "bursts")
                rate = writes.rate * burst.times
                yield self._found(path, f" in burst {index + 1}{lasting}", rate, most, subject)

    @staticmethod
    def _enough(subject: Subject, least: int) -> str:
        """So many servers as take the load and divide the regions, if there are regions enough."""
        count = len(subject.boundaries) if subject.boundaries is not None else 0
        fitting = next((n for n in range(least, count + 1) if count % n == 0), None)
        if fitting is not None:
            return f"{fitting:,} servers, among which the {count:,} regions divide"
        return f"{least:,} servers or more, with regions that divide among them"

    def _found(self, path: str, when: str, rate: float, most: float, subject: Subject) -> Finding:
        servers = subject.cluster.servers
        enough = -(-rate * servers // most)
        return self.finding(
            path,
            f"{counted(round(rate), 'event')} come a second{when}, and "
            f"{counted(servers, 'server')} take {most:,.0f}, were "
            "they spread evenly",
            f"Take {self._enough(subject, int(enough))}, or put fewer and larger rows.",
            severity="warning" if when else None,
            value=rate,
            rate=rate,
            capacity=most,
            servers=servers,
        )
