"""The rule `java_hash`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class JavaHash(Rule):
    """Java's hash of bytes for buckets, which leaves some of them empty.

    What it does: looks for the hash java31, 31 h + byte. With a sample it counts how full the
    buckets become; else it tells the numbers of buckets for which it is known to be bad.

    Why it hurts: 31 is 1 less than 32, so by 2, 4, 8, 16 or 32 the hash is an alternating sum of
    the bytes, and by 31 it is little more than the last byte. One number a day over 31 buckets
    uses one of them; ids in steps of 11 use 4 of 16.

    Use instead: murmur3, the default, or crc32. Keep java31 only to read and write what Phoenix or
    OpenTSDB wrote.

    Source: HBaseWD, Phoenix's SaltingUtil and OpenTSDB use it; the figures are computed for such
    keys, crc32 stays below 1.2 times the mean. Claim 68 hashes so, and forgets that it is negative.
    """

    name = "java_hash"
    code = "RK117"
    severity: ClassVar[Severity] = "info"
    claims = (68,)
    bad = """\
table  = "days"
key    = "[bucket(shop, 16, hash=java31)][shop][ts]"
splits = "per_bucket"

[fields]
shop  = "u32"
ts    = "timestamp_ms"
sales = "u32"
"""
    good = """\
table  = "days"
key    = "[bucket(shop, 16)][shop][ts]"
splits = "per_bucket"

[fields]
shop  = "u32"
ts    = "timestamp_ms"
sales = "u32"
"""
    FULL = 1.5
    """Times the mean in the fullest bucket, from which on a sample shows harm; crc32 has 1.2."""
    ENOUGH = 50
    """Keys a bucket below which chance alone fills the fullest so much."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for shown, part in subject.transforms():
            n = part.cardinality or 0
            if part.arguments.get("hash") != "java31":
                continue
            keys = subject.seen.keys if subject.seen is not None else ()
            is_first = part is subject.leading and len(keys) >= self.ENOUGH * n
            used = Counter(key[: part.framing.least] for key in keys) if is_first else Counter()
            fullest = max(used.values()) * n / len(keys) if used else 0.0
            known = n % 31 == 0 or n in (2, 4, 8, 16, 32)
            if used:
                what = f": {len(used)} of {n} came, the fullest {fullest:.1f} times the mean"
            else:
                what = ", for which it is known to leave buckets empty" if known else ""
            yield self.finding(
                "key",
                f"{shown} takes Java's hash modulo {n}{what}",
                "Take the default hash, unless the rows must match Phoenix's or OpenTSDB's.",
                severity="warning" if (fullest >= self.FULL or (known and not used)) else "info",
                value=shown,
                verdict="Dropped before dividing, the sign of one hash in 2^32 stays.",
                used=len(used) or None,
                fullest=fullest or None,
            )
