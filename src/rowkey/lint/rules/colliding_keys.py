"""The rule `colliding_keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class CollidingKeys(Rule):
    """Different rows that may share a key, because the key loses what tells them apart.

    What it does: looks at each field of the key that cannot be read back from it and that no
    qualifier tells. For a digest it computes the odds that two of n values meet: n² / 2^(bits + 1).

    Why it hurts: rows that share a key are versions of one row, and the later put hides the
    earlier one.

    Use instead: the field itself behind the digest; 8 bytes of digest for millions of values, 16
    for any number; the whole time behind a bucket of time.

    Source: the birthday bound. Claim 40 hashes to "8 or 16 bits" where the book has bytes: 8 bits
    collide at 20 values. HBase book, "Rowkeys and Column Families": MD5 of 16 bytes, or 8.
    """

    name = "colliding_keys"
    code = "RK110"
    severity: ClassVar[Severity] = "warning"
    claims = (40, 53)
    bad = """\
table  = "users"
key    = "[digest(mail, 4)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
mail = { type = "text", max_bytes = 200, distinct = 1000000 }
name = { type = "text", max_bytes = 200 }
"""
    good = """\
table  = "users"
key    = "[digest(mail, 16)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
mail = { type = "text", max_bytes = 200, distinct = 1000000 }
name = { type = "text", max_bytes = 200 }
"""
    LIKELY = 1e-6
    """Odds from which a collision is worth a word: one table in a million."""
    UNKNOWN = "; how many values there are nothing tells"
    MANY = 1_000_000
    """Values that are taken where nobody says how many there are; told as such."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name in subject.properties.lossy:
            holding = [part for part in subject.key.parts if name in part.fields]
            space = max((p.cardinality or 0 for p in holding), default=0)
            if not subject.key.body.residue(name).everything or space <= 1 << 16:
                yield self.finding(
                    "key",
                    f"rows that differ in {name} alone may share a key: "
                    f"{subject.properties.lossy[name]}",
                    f"Put {name} behind it, whole.",
                    value=name,
                    field=name,
                )
                continue
            known = subject.distinct(name)
            values, bits = known or self.MANY, (space - 1).bit_length()
            odds = min(values * values / (2 * space), 1.0)
            if odds >= self.LIKELY:
                yield self.finding(
                    "key",
                    f"{bits // 8} bytes of digest keep {counted(values, 'value')} of {name} "
                    "apart with odds "
                    f"of {odds:.2g} that two meet{'' if known else self.UNKNOWN}",
                    f"Keep more bytes, or put {name} behind it, whole.",
                    severity="warning" if odds > 0.001 else "info",
                    value=name,
                    verdict="Lengths of digests are bytes; 8 bits collide at 20 values.",
                    field=name,
                    values=values,
                    bits=bits,
                    odds=odds,
                )
