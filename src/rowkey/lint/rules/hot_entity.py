"""The rule `hot_entity`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class HotEntityRule(Rule):
    """One value takes much of the load, and all its rows are in one region.

    What it does: takes the share of the most frequent value, from a sample or from the declared
    distribution, where a single field decides the region.

    Why it hurts: the server that holds the region takes that share of all events, however many
    servers there are. A hash only moves the hot spot: all rows of the value still share one prefix.

    Use instead: list the value as `heavy` and write `bucket(field, others, n, m)`: its rows are
    spread over m buckets, those of other values stay in one.

    Source: claim 50 advises MD5 of a device's id against hot devices, which does not help. A load
    of S · p on S servers follows from a share p.
    """

    name = "hot_entity"
    code = "RK103"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (50,)
    cause = "hot_entity"
    bad_design = """\
table  = "measurements"
key    = "[bucket(device, 16)][device][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
device = { type = "u32", distinct = 100, draw = { kind = "hotspot", values = 0.01, events = 0.4 } }
value  = "float64"
"""
    good_design = """\
table  = "measurements"
key    = "[bucket(device, ts, 16, 8)][device][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
device = { type = "u32", distinct = 10000, heavy = [0] }
value  = "float64"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for the value that overloads one region."""
        cause = subject.causes.get(self.cause)
        if cause is None:
            return
        [name, *_] = cause.evidence["fields"]
        hashed = subject.leading_part is not None and subject.leading_part.residue(name).is_total
        yield self.build_finding(
            subject.format_path("fields", name),
            cause.message,
            cause.remedy,
            value=cause.evidence["value"],
            verdict="A hash moves the hot spot and does not spread it." if hashed else "",
            share=cause.evidence["share"],
            bound=cause.bound,
            needs_key=cause.needs_key,
        )
