"""The rule `uneven_regions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnevenRegions(Rule):
    """Regions that the servers do not divide.

    What it does: compares the number of regions that hold keys with the servers.

    Why it hurts: the balancer gives some servers one region more. Ten even regions on eight servers
    load two of them with 1.6 times the mean, and the table stands no more than those.

    Use instead: a multiple of the servers, twice as many at least, so that a further server changes
    little.

    Source: ceil(k / S) · S / k, the pigeonhole principle. Claims 10 and 14 ask for even regions:
    what must be even is the load of the servers.
    """

    name = "uneven_regions"
    code = "RK202"
    severity: ClassVar[Severity] = "info"
    claims = (10, 14)
    cause = "integer_imbalance"
    bad = """\
table  = "logs"
key    = "[bucket(host, 10)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    HARD = 1.5
    """Load of the busiest server over the mean, from which on it is a warning."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is not None and found.evidence["regions"] > subject.cluster.servers:
            yield self.finding(
                subject.nearest("splits") if subject.says("splits") else "key",
                found.message,
                found.remedy,
                severity="warning" if found.bound >= self.HARD else "info",
                verdict="As many prefixes as regions are even only where the servers divide them.",
                value=subject.words.get("splits"),
                **found.evidence,
            )
