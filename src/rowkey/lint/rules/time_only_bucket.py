"""The rule `time_only_bucket`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TimeOnlyBucket(Rule):
    """A key whose spread is computed from time alone.

    What it does: looks for a leading part that times alone decide and that does not follow their
    order: a remainder, a hash or a reversal of the time. If times come in steps, it counts the
    numbers they reach: n / gcd(step, n).

    Why it hurts: events of one moment have one time, so they meet in one place, one moment here and
    the next there. Stamps in whole seconds counted in milliseconds reach one of 100 remainders.

    Use instead: a bucket of what differs between events of one moment, such as the entity.

    Source: claim 37 has `ts % n`, which uses n / gcd(step, n) buckets; a bucket of time alone has
    the skew of one server in every window shorter than its resolution.
    """

    name = "time_only_bucket"
    code = "RK102"
    severity: ClassVar[Severity] = "warning"
    claims = (37,)
    cause = "time_only_bucket"
    bad = """\
table  = "logs"
key    = "[mod(ts, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[writes]
rate = "50/s"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    SHORT = "A remainder by n uses n / gcd(step, n) numbers, not n."
    MEETING = "What the time alone decides spreads moments, and not the events of one moment."

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is None:
            return
        place = next(shown for shown, part in subject.parts() if part is subject.leading)
        reached, buckets = found.evidence["reached"], found.evidence["buckets"]
        is_short = reached is not None and buckets is not None and reached < buckets
        verdict = self.SHORT if is_short else self.MEETING
        together = self._together(subject, found.evidence["step_s"])
        is_rare = together is not None and together < 1 and not is_short
        said = f" Here {together:.2g} events come in such a moment." if is_rare else ""
        yield self.finding(
            "key",
            f"{found.message}{said}",
            found.remedy,
            severity="info" if is_rare else None,
            value=place,
            verdict=verdict,
            together=together,
            **found.evidence,
        )

    @staticmethod
    def _together(subject: Subject, step_s: float) -> float | None:
        """Events that come within a step of the time, on average, if their rate is known."""
        time, seen = subject.design.writes.time, subject.seen
        if seen is None or seen.is_thin or time is None or time.name not in subject.facts:
            rate = subject.design.writes.rate
            return None if rate is None else rate * step_s
        known, tick = subject.fact(time.name), time.type.tick or 1
        if known.least is None or known.greatest is None:
            return None
        units = time.type.hold(known.greatest) - time.type.hold(known.least)
        moments = units * tick / 1_000_000_000 / step_s
        return float(seen.events / max(moments, 1.0))
