"""The rule `read_beyond_ttl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject

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
