"""Rules on what row keys begin with, which decides where the load goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject


class MonotoneLead(Rule):
    """The key starts with a value that rises with time, so one server takes all writes.

    What it does: looks at the first part that is not the same in all keys, and reports a time, or a
    number that rises as rows arrive, in either direction. A sample tells this by its values;
    without one, `[writes]` does.

    Why it hurts: at any moment one region, so one server, takes all writes. More regions or servers
    change nothing, and every region that was filled stays half full after its split.

    Use instead: a bucket of the entity before the time, or the entity itself if there are many and
    none is heavy. A read that gives only a time range then asks every bucket.

    Source: HBase book, "Monotonically Increasing Row Keys/Timeseries Data"; claims 11, 49 and 80
    agree. OpenTSDB's metric in front helps only with many metrics: OpenTSDB issue 991.
    """

    name = "monotone_lead"
    code = "RK101"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (10, 11, 49, 80)
    cause = "moving_front"
    bad_design = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key starts with a value that rises with time."""
        cause = subject.causes.get(self.cause)
        if cause is None or cause.evidence.get("field") is None:
            return  # another rule reports an import in the order of the keys
        yield self.build_finding(
            "key",
            cause.message,
            cause.remedy,
            value=str(subject.key),
            needs_key=cause.needs_key,
            **cause.evidence,
        )


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


class FewLeadingValues(Rule):
    """The key starts with too few different values to fill the regions.

    What it does: compares the number of values of the fields that decide the region, from a sample
    or as declared, with the regions they can reach.

    Why it hurts: all rows of a value are in one region, so some regions stay empty, with or without
    a hash, and the busiest server holds several values while others hold none.

    Use instead: a bucket over more fields, or a salt if no fields distinguish the events.

    Source: claims 39 and 80 put the host or the metric first and hold only for many of them;
    OpenTSDB issue 991 has a cluster that was hot with few. Below four values a region, chance alone
    leaves the fullest of 16 at more than twice its share.
    """

    name = "few_leading_values"
    code = "RK104"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (39, 51, 80)
    cause = "few_entities"
    bad_design = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10 }
value  = "float64"
"""
    good_design = """\
table  = "metrics"
key    = "[bucket(metric, 16)][metric][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
metric = { type = "text", max_bytes = 16, distinct = 10000 }
value  = "float64"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key starts with too few different values for the regions."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            figures = dict(cause.evidence)
            yield self.build_finding(
                "key",
                cause.message,
                cause.remedy,
                value=figures.pop("values"),
                needs_key=cause.needs_key,
                **figures,
            )


class OneHotRow(Rule):
    """One row takes many of the writes.

    What it does: multiplies the shares of the most frequent value of each field of the key, where
    all are known, for the least share of events that must meet in one row.

    Why it hurts: a row is in one region, on one server, and no key, split or server spreads it.
    Puts to the same row wait for each other.

    Use instead: several rows in place of the one, summed when they are read, or a further field in
    the key that distinguishes the events.

    Source: HBase book, "Hotspotting"; a row is locked while it is written.
    """

    name = "one_hot_row"
    code = "RK105"
    looks_at_sample = True
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    cause = "hot_row"
    bad_design = """\
table  = "likes"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 100, draw = { kind = "hotspot", values = 0.01, events = 0.5 } }
likes = "u64"
"""
    good_design = """\
table  = "likes"
key    = "[bucket(page, user, 16)][page][user]"
splits = "per_bucket"

[fields]
page  = { type = "u32", distinct = 10000 }
user  = "u32"
likes = "u64"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if one row takes many of the writes."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            yield self.build_finding(
                "key", cause.message, cause.remedy, value=str(subject.key), **cause.evidence
            )


class ConstantInFront(Rule):
    """The key starts with bytes that are the same in every key.

    What it does: looks for a leading part with only one value: a constant, a choice of one, or a
    field with one value in the sample.

    Why it hurts: it distinguishes nothing and is stored in every cell. The splits must begin with
    it, or all rows are in one region.

    Use instead: nothing. A prefix for a later version of the key, or for other tenants, is worth
    its byte: then allow the finding and give that reason.

    Source: KeyValue.java; claim 59 keeps spare fields in the key: a version of one byte does that,
    or fields at the end that may be null.
    """

    name = "constant_in_front"
    code = "RK121"
    severity: ClassVar[Severity] = "info"
    claims = (51, 59)
    bad_design = """\
table  = "logs"
key    = "['log-'][bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for a constant at the front of the key."""
        for notation, part in subject.iter_parts():
            if part is subject.leading_part or part.framing.max_bytes == 0:
                return
            yield self.build_finding(
                "key",
                f"the key starts with {notation}, which is the same in every row and takes at "
                f"least {pluralize(part.framing.min_bytes, 'byte')} of every cell",
                "Remove the constant, unless it marks a version of the key format or "
                "separates tenants.",
                value=notation,
                verdict=(
                    "No bytes need to be reserved for later: a nullable field can be "
                    "added at the key's end."
                ),
                fields=part.fields,
            )


class NullsTogether(Rule):
    """The key starts with a field that is null in many rows.

    What it does: takes the share of nulls in the field of the leading part, from the sample.

    Why it hurts: all rows without a value start with the same byte 00, so they are in one region,
    and its server takes their whole share.

    Use instead: a leading field that every row has, or a bucket over more fields.

    Source: a null in the key is the byte 00 before where the value would stand, in this package's
    byte format.
    """

    name = "nulls_together"
    code = "RK122"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "clicks"
key    = "[bucket(user, 16)][user][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    good_design = """\
table  = "clicks"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    sample_csv = "user,page,state\n" + "".join(
        f"{n * 7919 % 5003 if n % 3 else ''},{n * 104729 % 99991},{n % 5}\n" for n in range(900)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key starts with a field that many rows lack."""
        part = subject.leading_part
        if part is None or len(part.fields) != 1:
            return
        [name] = part.fields
        share, servers = subject.find_facts(name).null_share, subject.cluster.servers
        if share * servers > 1:
            yield self.build_finding(
                subject.format_path("fields", name),
                f"the key starts with {name}, which is null in {share:.0%} of the rows; all of "
                f"these go to one region, {share * servers:.1f} times one server's fair share",
                "Start the key with a field that every row has, or with a bucket over more fields.",
                value=name,
                nulls=share,
            )
