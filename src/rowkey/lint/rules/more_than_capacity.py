"""The rule `more_than_capacity`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class MoreThanCapacity(Rule):
    """More writes than the servers stand.

    What it does: compares the declared rate with the capacity of the servers, all together, and
    with that of the one that the largest foreseen cause of heat loads most.

    Why it hurts: a queue that is filled faster than it is emptied grows until clients are refused.
    A skew of 8 on 8 servers leaves the table one server's capacity.

    Use instead: more servers where the load is even; another key where it is not.

    Source: claim 75 trades more regions for writes against fewer for scans. The load of the busiest
    server is rate × skew / servers.
    """

    name = "more_than_capacity"
    code = "RK801"
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
capacity = "10/s"

[writes]
rate = "100/s"
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
capacity = "20/s"

[writes]
rate = "100/s"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        rate, capacity = subject.design.writes.rate, subject.cluster.capacity
        if rate is None or capacity is None:
            return
        servers = subject.cluster.servers
        cause = max(subject.causes.values(), key=lambda one: one.bound, default=None)
        skew = max(cause.bound, 1.0) if cause is not None else 1.0
        busiest = rate * skew / servers
        if busiest <= capacity:
            return
        is_skew = rate <= capacity * servers
        why = f", for {cause.code.replace('_', ' ')}" if is_skew and cause is not None else ""
        yield self.finding(
            subject.at("writes", "rate"),
            f"the busiest of {servers} servers is given {busiest:,.0f} writes a second{why}, and "
            f"stands {capacity:,.0f}",
            "Mend the skew first: servers do not help it."
            if is_skew
            else f"Take {-(-int(rate) // int(capacity)):,} servers or more.",
            value=rate,
            busiest=busiest,
            capacity=capacity,
        )
