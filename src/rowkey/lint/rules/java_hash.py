"""The rule `java_hash`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class JavaHash(Rule):
    """The key uses Java's byte hash for buckets, which can leave buckets empty.

    What it does: looks for the hash java31, 31 h + byte. With a sample it counts how full the
    buckets become; without one it reports the bucket counts for which the hash is known to be bad.

    Why it hurts: 31 is 1 less than 32, so modulo 2, 4, 8, 16 or 32 the hash is an alternating sum
    of the bytes, and modulo 31 it is little more than the last byte. A number that rises by one
    each day uses one of 31 buckets; ids in steps of 11 use 4 of 16.

    Use instead: murmur3, the default, or crc32. Keep java31 only to share rows with Phoenix or
    OpenTSDB.

    Source: HBaseWD, Phoenix's SaltingUtil and OpenTSDB use it; the figures are computed for such
    keys, crc32 stays below 1.2 times the mean. Claim 68 hashes so, and forgets that it is negative.
    """

    name = "java_hash"
    code = "RK117"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (68,)
    bad_design = """\
table  = "days"
key    = "[bucket(shop, 16, hash=java31)][shop][ts]"
splits = "per_bucket"

[fields]
shop  = "u32"
ts    = "timestamp_ms"
sales = "u32"
"""
    good_design = """\
table  = "days"
key    = "[bucket(shop, 16)][shop][ts]"
splits = "per_bucket"

[fields]
shop  = "u32"
ts    = "timestamp_ms"
sales = "u32"
"""
    HARMFUL_SKEW = 1.5
    """Load of the fullest bucket over the mean, from which the skew is harmful; crc32 has 1.2."""
    MIN_KEYS_PER_BUCKET = 50
    """Keys per bucket that are needed: with fewer, chance alone gives such a skew."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each bucket that is computed with Java's byte hash."""
        for notation, part in subject.iter_transforms():
            n = part.cardinality or 0
            if part.arguments.get("hash") != "java31":
                continue
            keys = subject.sample.keys if subject.sample is not None else ()
            is_first = part is subject.leading_part and len(keys) >= self.MIN_KEYS_PER_BUCKET * n
            bucket_sizes = (
                Counter(key[: part.framing.min_bytes] for key in keys) if is_first else Counter()
            )
            fullest = max(bucket_sizes.values()) * n / len(keys) if bucket_sizes else 0.0
            is_weak_modulus = n % 31 == 0 or n in (2, 4, 8, 16, 32)
            if bucket_sizes:
                what = (
                    f": only {len(bucket_sizes)} of {n} buckets are used, and the fullest has "
                    f"{fullest:.1f} times the mean"
                )
            else:
                what = (
                    (
                        ", which leaves buckets empty if the keys are regular, such as numbers "
                        "in steps"
                    )
                    if is_weak_modulus
                    else ""
                )
            yield self.build_finding(
                "key",
                f"{notation} computes the bucket with Java's byte hash modulo {n}{what}",
                "Use the default hash, unless the row keys must match Phoenix or OpenTSDB.",
                severity="warning"
                if (fullest >= self.HARMFUL_SKEW or (is_weak_modulus and not bucket_sizes))
                else "info",
                value=notation,
                verdict=(
                    "Java's Math.abs leaves one hash in 2^32 negative, so such code needs "
                    "Math.floorMod."
                ),
                used=len(bucket_sizes) or None,
                fullest=fullest or None,
            )
