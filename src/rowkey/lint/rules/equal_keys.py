"""Rules on events whose row keys are equal."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.design import count_combined_values, find_losses
from rowkey.findings import Finding, Severity
from rowkey.hotspots import COUNTER_TYPE, MIN_GROWTH, count_repeated_rows
from rowkey.keys import FieldPart, Key
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize
from rowkey.plan import count_spreading_parts
from rowkey.proposals import format_row_division, is_spreading_term
from rowkey.workload import count_key_values

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject
    from rowkey.workload import SampleSummary


MIN_EVENTS_PER_KEY = 2
"""Events written for each key from which on at least half of them overwrite another one."""


class OverwrittenRows(Rule):
    """Events overwrite rows of earlier events.

    What it does: counts the keys of the sample that occurred before, and the values of fields that
    are declared as unique. Below one in a thousand keys it is a remark: recordings often hold a few
    events twice. From there on it is an error where the key, or the order of a read, names a time:
    then each event is to be a row of its own, and is lost. Elsewhere rows may be those of entities
    that later events change, which only a comment in the file can tell: a warning. Events that are
    equal in every field lose nothing. Under a random salt a row of the sample is not overwritten
    but stored twice, which random-salt reports. Without repeated keys in a sample it compares the
    events of the declared rate in the time to live with the keys that the fields of a key with the
    time can take then, if two events or more share each; a remark if all other fields may be
    counters.

    Why it hurts: a put of the same row, family and qualifier is a further version, and one version
    is kept by default. The earlier event is lost without an error.

    Use instead: a further field in the key that distinguishes the events, or the event time as the
    timestamp of the cells with as many versions as wanted. If rows are meant to be updated, allow
    the finding.

    Source: HBase book, "Versions"; claim 8 agrees, and asks to look for duplicates.
    """

    name = "overwritten_rows"
    code = "RK108"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (8, 64)
    bad_design = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day][order]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    sample_csv = "customer,day,order\n" + "".join(
        f"{n * 7919 % 301},2026-01-{1 + n // 450:02d},{n * 6007 % 9001}\n" for n in range(1_800)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if sampled events overwrite the rows of earlier events."""
        sample = subject.sample
        if sample is None or not sample.repeat_count:
            yield from self._find_few_keys(subject)
        if sample is None:
            return
        yield from self._find_repeated_values(subject, sample)
        if not sample.repeat_count or subject.key.is_salted:
            return
        share = sample.repeat_count / sample.event_count
        copies = self._measure_copies(subject, sample)
        lost_share = share * (1 - copies)
        what = (
            f"{sample.repeat_count:,} of {pluralize(sample.event_count, 'event')} ({share:.1%}) "
            f"overwrite{'s' * (sample.repeat_count == 1)} the row of an earlier event"
        )
        if copies >= 0.001:
            what += f", {copies:.1%} of them one that is equal in every field"
        part = subject.design.sample_share if subject.design.sample_part == "events" else None
        if part is not None:  # the chance that a sample has the earlier event too
            lost_share /= part
            if part * MIN_GROWTH <= 1:
                what += f"; in the table more do, for the sample has only {part:.2%} of its events"
        severity = self._choose_severity(subject, lost_share)
        yield self.build_finding(
            "key",
            what,
            "Add a field to the key that distinguishes these events; or allow this rule, if the "
            "last event should win.",
            severity=severity,
            value=str(subject.key),
            needs_key=severity == "error",
            repeats=sample.repeat_count,
            events=sample.event_count,
        )

    @staticmethod
    def _choose_severity(subject: LintSubject, lost_share: float) -> Severity:
        """Return how much it hurts that a share of the events is overwritten by others."""
        if lost_share < MAX_STRAY_SHARE:
            return "info"
        return "error" if subject.design.has_event_rows else "warning"

    @staticmethod
    def _measure_copies(subject: LintSubject, sample: SampleSummary) -> float:
        """Return the share of the overwriting events that equal an earlier one; 0 if unknown."""
        rows, keys = sample.keyed_events.rows, sample.keyed_events.keys
        repeats = len(keys) - len(set(keys))
        if not repeats or not set(subject.design.fields) <= set(rows.schema.names):
            return 0.0
        return count_repeated_rows(rows, rows.schema.names) / repeats

    def _find_few_keys(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key can take far fewer values than events are written."""
        design = subject.design
        rate, time = design.writes.rate, design.writes.time
        if rate is None or time is None or time.name not in design.layout.identity_fields:
            return
        if design.layout.has_shared_rows:  # then events-in-one-cell reports it
            return
        if max(one.versions for one in design.families.values()) > 1:
            return
        kept_s = max(family.ttl_s for family in design.families.values())
        counts = count_key_values(design.layout, design.families, design.writes, 1)
        keys, events = prod(counts.values()), rate * kept_s
        if subject.key.is_salted:
            keys *= subject.key.salt_count
        if keys == inf or events < MIN_EVENTS_PER_KEY * keys:
            return
        values = [
            one for name, one in design.fields.items() if name not in design.layout.identity_fields
        ]
        division = ""
        if self._has_busy_rows(subject, rate) and not _is_divided(design.key):
            division = format_row_division(design, subject.facts)
        rows = f"several rows, which a read adds up: {division}" if division else "one row"
        are_counters = bool(values) and all(one.type.name == COUNTER_TYPE for one in values)
        names = " and ".join(one.name for one in values)
        yield self.build_finding(
            "key",
            f"{events:,.0f} events are written in the time to live at {rate:,g}/s, but the key can "
            f"take {keys:,.0f} values in it: each row is written {events / keys:,.0f} times",
            f"Write {names} by increments: of puts, the last one wins."
            if are_counters
            else "Add a field to the key that distinguishes these events, or count them with "
            f"increments of {rows}; or allow this rule, if the last event should win.",
            severity="info" if are_counters else self.severity,
            value=str(subject.key),
            keys=keys,
            events=events,
            division=division,
        )

    @staticmethod
    def _has_busy_rows(subject: LintSubject, rate: float) -> bool:
        """Return whether a row that is written at a time gets more than a server easily bears."""
        fields = subject.design.fields
        names = [name for name in subject.key.fields if fields[name].type.unit_ns is None]
        values = count_combined_values(fields, subject.facts, names) if names else 1
        return values is not None and not subject.can_write_to_one_server(rate / max(values, 1))

    def _find_repeated_values(
        self, subject: LintSubject, sample: SampleSummary
    ) -> Iterator[Finding]:
        """Yield a finding for each field that is declared as unique and repeats its values."""
        for name, declared in subject.design.fields.items():
            facts = sample.facts.get(name)
            values = facts.distinct_count if facts is not None and facts.exact else None
            if not declared.declaration.unique or values in (None, sample.event_count):
                continue
            yield self.build_finding(
                subject.format_path("fields", name, "unique"),
                f"{name} is declared as unique, but {pluralize(sample.event_count, 'event')} have "
                f"{pluralize(values, 'value')} of it",
                "Remove unique: a key of this field alone would keep the last event of each value.",
                value=name,
                field=name,
                values=values,
                events=sample.event_count,
            )


def _is_divided(key: Key) -> bool:
    """Return whether a bucket over a further field divides what would be one row."""
    return count_spreading_parts(key) == 0 and any(map(is_spreading_term, key.terms))


class AmbiguousKey(Rule):
    """The key contains a part whose end cannot be found, followed by another part.

    What it does: looks for parts, except the last, whose bytes do not show where they end.

    Why it hurts: user 1 with product 23 and user 12 with product 3 get the same key, so one put
    hides the other. Keys cannot be decoded, so rows cannot be read back.

    Use instead: the default encoding, which ends a text with the byte 00, or a fixed width.

    Source: claim 58 has user, product and time side by side without widths or ends; the rows that
    meet are versions of one row, of which `versions` are kept: HBase book, "Versions".
    """

    name = "ambiguous_key"
    code = "RK109"
    severity: ClassVar[Severity] = "error"
    claims = (58,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user:raw][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each key part whose end cannot be found in a row key."""
        ambiguous = iter(subject.ambiguities)
        for notation, part in list(subject.iter_parts())[:-1]:
            if not part.framing.is_self_delimiting:
                yield self.build_finding(
                    "key",
                    next(ambiguous),
                    "Use an encoding with a terminator or a fixed width for this part.",
                    value=notation,
                    verdict=(
                        "The order of the fields is right, but a key needs terminators or "
                        "fixed widths to be decoded."
                    ),
                    fields=part.fields,
                )


class CollidingKeys(Rule):
    """Different rows may get the same key, because the key loses what distinguishes them.

    What it does: looks at each field of the key that can be read back neither from the key nor from
    a qualifier. For a digest it computes the odds that two of n values collide: n² / 2^(bits + 1).
    No rows collide if the key holds a field that is declared as unique; and it is only a remark if
    no two events of a sample share a key.

    Why it hurts: rows with the same key are versions of one row, so the later put hides the earlier
    one.

    Use instead: the field itself after the digest; 8 bytes of digest for millions of values, 16 for
    any number; the whole time after a time bucket.

    Source: the birthday bound. Claim 40 hashes to "8 or 16 bits" where the book has bytes: 8 bits
    collide at 20 values. HBase book, "Rowkeys and Column Families": MD5 of 16 bytes, or 8.
    """

    name = "colliding_keys"
    code = "RK110"
    severity: ClassVar[Severity] = "warning"
    claims = (40, 53)
    bad_design = """\
table  = "users"
key    = "[digest(mail, 4)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
mail = { type = "text", max_bytes = 200, distinct = 1000000 }
name = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "users"
key    = "[digest(mail, 16)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
mail = { type = "text", max_bytes = 200, distinct = 1000000 }
name = { type = "text", max_bytes = 200 }
"""
    MIN_ODDS = 1e-6
    """Probability from which a collision is reported: one table in a million."""
    UNKNOWN_COUNT_NOTE = "; the number of values is assumed, because it is not declared"
    ASSUMED_VALUES = 1_000_000
    """Values that are assumed if their number is unknown; the message says so."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each key field whose different values may share a row key."""
        losses = find_losses(subject.design, subject.facts)
        if any(
            subject.design.fields[name].declaration.unique and name not in losses
            for name in subject.key.fields
        ):
            return  # no two rows differ in other fields only
        sample, part = subject.sample, subject.design.sample_part
        # Of some of all events, those that share a key with another one may be missing.
        are_distinct = sample is not None and sample.repeat_count == 0 and part != "events"
        seen = f", though no two of {pluralize(sample.event_count, 'event')} do" if sample else ""
        for name in losses:
            holding = [part for part in subject.key.parts if name in part.fields]
            space = max((p.cardinality or 0 for p in holding), default=0)
            if not subject.key.part_sequence.residue(name).is_total or space <= 1 << 16:
                yield self.build_finding(
                    "key",
                    f"rows that differ only in {name} may share a key: "
                    f"{losses[name]}{seen if are_distinct else ''}",
                    self._format_remedy(subject, name),
                    severity="info" if are_distinct else self.severity,
                    value=name,
                    field=name,
                )
                continue
            known_count = subject.count_distinct(name)
            values, bits = known_count or self.ASSUMED_VALUES, (space - 1).bit_length()
            odds = min(values * values / (2 * space), 1.0)
            if odds >= self.MIN_ODDS:
                yield self.build_finding(
                    "key",
                    f"with {bits // 8} bytes of digest, some two of "
                    f"{pluralize(values, 'value')} of {name} share a row key with a "
                    f"probability of {odds:.2g}{'' if known_count else self.UNKNOWN_COUNT_NOTE}",
                    f"Use a longer digest, or add {name} itself to the key, after the digest.",
                    severity="warning" if odds > 0.001 else "info",
                    value=name,
                    verdict=(
                        "The length of a digest is in bytes, not bits: 8 bits collide "
                        "from about 20 values on."
                    ),
                    field=name,
                    values=values,
                    bits=bits,
                    odds=odds,
                )

    @staticmethod
    def _format_remedy(subject: LintSubject, name: str) -> str:
        """Return how to keep a field whole: without the encoding that cuts it, or once more."""
        for notation, part in subject.iter_parts():
            if isinstance(part, FieldPart) and part.field.name == name:
                return f"Write [{name}] instead of {notation}."
        return f"Add {name} itself to the key, after that part."
