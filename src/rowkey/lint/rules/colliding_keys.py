"""The rule `colliding_keys`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


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
        losses = subject.properties.losses
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
                    f"Add {name} itself to the key, after that part.",
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
