"""The rule `time_only_bucket`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import format_number

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TimeOnlyBucketRule(Rule):
    """The bucket is computed from the time alone.

    What it does: looks for a leading part that depends only on times and does not keep their order:
    a remainder, a hash or a reversal of the time. If times come in steps, it counts the values they
    reach: n / gcd(step, n).

    Why it hurts: all events of one moment have the same time, so they go to the same region.
    Timestamps in whole seconds, counted in milliseconds, reach one of 100 remainders.

    Use instead: a bucket of a field that differs between the events of one moment, such as the
    entity.

    Source: claim 37 has `ts % n`, which uses n / gcd(step, n) buckets; a bucket of time alone has
    the skew of one server in every window shorter than its resolution.
    """

    name = "time_only_bucket"
    code = "RK102"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (37,)
    cause = "time_only_bucket"
    bad_design = """\
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
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    FEW_NUMBERS_VERDICT = (
        "Times that come in steps reach only n / gcd(step, n) of the n remainders modulo n."
    )
    SAME_MOMENT_VERDICT = (
        "A bucket of the time spreads different moments, not the events of one moment."
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the bucket is computed from the time alone."""
        cause = subject.causes.get(self.cause)
        if cause is None:
            return
        place = next(
            notation for notation, part in subject.iter_parts() if part is subject.leading_part
        )
        reached, buckets = cause.evidence["reached"], cause.evidence["buckets"]
        is_short = reached is not None and buckets is not None and reached < buckets
        verdict = self.FEW_NUMBERS_VERDICT if is_short else self.SAME_MOMENT_VERDICT
        events_per_step = self._estimate_events_per_step(subject, cause.evidence["step_s"])
        is_rare = events_per_step is not None and events_per_step < 1 and not is_short
        remark = (
            f" On average {format_number(events_per_step, 2)} events arrive in one such step of "
            "time."
            if events_per_step is not None and is_rare
            else ""
        )
        yield self.build_finding(
            "key",
            f"{cause.message}{remark}",
            cause.remedy,
            severity="info" if is_rare else None,
            value=place,
            verdict=verdict,
            together=events_per_step,
            needs_key=cause.needs_key,
            **cause.evidence,
        )

    @staticmethod
    def _estimate_events_per_step(subject: LintSubject, step_s: float) -> float | None:
        """Estimate the events that arrive within one step of the time; None if unknown."""
        time, sample = subject.design.writes.time, subject.sample
        if sample is None or sample.is_thin or time is None or time.name not in subject.facts:
            rate = subject.design.writes.rate
            return None if rate is None else rate * step_s
        facts, tick = subject.find_facts(time.name), time.type.unit_ns or 1
        if facts.minimum is None or facts.maximum is None:
            return None
        units = time.type.to_internal(facts.maximum) - time.type.to_internal(facts.minimum)
        moments = units * tick / 1_000_000_000 / step_s
        return float(sample.event_count / max(moments, 1.0))
