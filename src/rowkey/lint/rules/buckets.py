"""Rules on buckets and salts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rowkey.design import count_combined_values
from rowkey.findings import Finding, Severity
from rowkey.keys import Determinant
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize
from rowkey.proposals import BUCKETS_PER_SERVER, has_enough_values, has_only_times
from rowkey.workload import FORESEEN_GROWTH

if TYPE_CHECKING:
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


class RandomSalt(Rule):
    """The key contains a random salt, and single rows are read or written again.

    What it does: looks for a random part, counts the keys or ranges that each declared read tries
    because of it, and counts the events of a sample whose row, without the salt, was written
    before: with n salts, 1 - 1/n of them draw another salt. Below one event in a thousand that is
    a remark: recordings often hold a few events twice.

    Why it hurts: a client cannot know where a row is. A get becomes n gets. A row that is put twice
    may be stored twice, under two salts: reads merge the copies, but other clients see both.
    Increments and check-and-put are impossible.

    Use instead: a bucket of fields that the reads give: it spreads as well and can be computed.
    Keep a salt if rows are only appended and read as ranges, or for the flood of one value.

    Source: claims 14 and 78 salt by a random prefix, claim 15 by a hash, which lets a get work;
    claim 21 lists one row under two prefixes, as happens. Claim 87: n salts give at most n times
    the writes. HBase book, "Salting" and "Hashing".
    """

    name = "random_salt"
    code = "RK118"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (14, 15, 21, 78, 87)
    bad_design = """\
table  = "orders"
key    = "[salt(16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key contains a random salt."""
        if not subject.key.is_salted:
            return
        salts = subject.key.salt_count or 1
        notation = next(
            s for s, part in subject.iter_parts() if part.determined_by is Determinant.CHANCE
        )
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        remarks = (
            f"; the read '{gets[0].read.name}' tries {pluralize(salts, 'key')} for one row"
            if gets
            else ""
        )
        sample = subject.sample
        repeats = (sample.repeat_count or 0) if sample is not None else 0
        are_rows_rewritten = sample is not None and repeats >= MAX_STRAY_SHARE * sample.event_count
        duplicates = repeats * (1 - 1 / salts)
        if repeats:
            remarks += (
                f"; {pluralize(repeats, 'event')} of the sample write{'s' * (repeats == 1)} a row "
                f"again, and about {duplicates:,.0f} of these rows are stored twice"
            )
        remedy = "Replace the salt by a bucket of the fields that reads give."
        if names := _list_ungiven_names(subject):
            bucket = f"[bucket({', '.join(names)}, {notation.removeprefix('[salt(')}"
            remedy = (
                "Replace the salt by a bucket of the other fields of the key, for no read asks for "
                f"single values: {bucket}."
            )
        verdict = "A bucket spreads as evenly, and a get finds its row."
        if not _can_have_bucket(subject):
            remedy = (
                "Keep it, or add a field to the key that differs between the events of one moment, "
                "and use a bucket of that field."
            )
            verdict = "No bucket of the fields in this key would spread the events of one moment."
        yield self.build_finding(
            "key",
            f"{notation} is random, so a get must try every salt, and a second put of a row may "
            "store a second copy under another salt; reads merge the copies, other clients see both"
            f"{remarks}",
            remedy,
            severity="warning" if gets or (repeats and are_rows_rewritten) else "info",
            value=notation,
            verdict=verdict,
            salts=salts,
            repeats=repeats,
            duplicates=duplicates,
            gets=[one.read.name for one in gets],
        )


def _can_have_bucket(subject: LintSubject) -> bool:
    """Return whether a bucket of key fields can spread the rows of a moment, as the salt does."""
    design = subject.design
    names = tuple(design.key.fields)
    values = count_combined_values(design.fields, subject.facts, names)
    return not has_only_times(design.fields, names) and has_enough_values(
        values, design.cluster.servers
    )


def _list_ungiven_names(subject: LintSubject) -> Sequence[str]:
    """Return the fields of the key if there are reads and none gives one of them; else nothing."""
    names = subject.design.key.fields
    given = {name for one in subject.reads for name in one.read.equality_fields}
    return [] if not subject.reads or given & {*names} else list(names)


class TooManyBuckets(Rule):
    """A read has to ask more buckets than the servers need.

    What it does: for each declared read that asks every bucket, or every salt, compares their
    number with the servers; with one server, where ten times the declared rate of the writes, at
    the peak of the sample, and the reads, would do no harm on it.

    Why it hurts: each bucket is a separate range to open, read and merge: 100 buckets are 100 scans
    for one answer. More than one or two for each server spread no better, and few writes need no
    spreading.

    Use instead: one or two buckets for each server; a bucket of what the read gives, so that it
    asks only one; none for few writes.

    Source: claim 38, 100 buckets are 100 scans, is right; claim 14 takes as many prefixes as
    regions: servers are what counts. In practice 2 to 4 a server are found.
    """

    name = "too_many_buckets"
    code = "RK123"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 38, 69)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 100)][ts][host]"
splits = { algorithm = "uniform", regions = 16, first = "\\\\x00", last = "\\\\x63" }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    MAX_BUCKETS_PER_SERVER = 4
    """Buckets per server above which it is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if a read must query more buckets than the servers need."""
        buckets, servers = subject.bucket_count, subject.cluster.servers
        is_needless = subject.needs_no_spreading
        max_buckets = self.MAX_BUCKETS_PER_SERVER * (1 if is_needless else servers)
        reads = [
            one
            for one in subject.reads
            if one.plan is not None and buckets and one.plan.fan_out >= buckets
        ]
        if buckets is None or buckets <= max_buckets or not reads:
            return
        cut = (
            "" if subject.design.splits.algorithm == "per_bucket" else ', and splits = "per_bucket"'
        )
        held = f"for {pluralize(servers, 'server')}"
        remedy = f"Use {2 * servers}, two for each server{cut}."
        verdict = "Choose the number of buckets by the number of servers, not of regions."
        if is_needless:
            held = f"where one server bears {FORESEEN_GROWTH} times the writes"
            remedy = "Leave them out of the key."
            verdict = "So few writes need no spreading."
        yield self.build_finding(
            "key",
            f"the key has {pluralize(buckets, 'bucket')} {held}, so each answer of the read "
            f"'{reads[0].read.name}' is merged from at least {pluralize(buckets, 'range')}",
            remedy,
            value=buckets,
            verdict=verdict,
            reads=[one.read.name for one in reads],
        )


class TooFewBuckets(Rule):
    """There are fewer buckets than servers.

    What it does: compares the number of buckets or salts with the servers, where the field after
    them rises with time.

    Why it hurts: a bucket whose keys rise with time is written only at its end. Four buckets keep
    four servers busy, however many there are.

    Use instead: at least as many buckets as servers, and a multiple of them.

    Source: claim 87, 4 salts give 4 times the writes at most, agrees; claim 14.
    """

    name = "too_few_buckets"
    code = "RK124"
    measured_by = "writes"
    severity: ClassVar[Severity] = "warning"
    claims = (14, 87)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 4)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 8)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if there are fewer buckets than servers."""
        buckets, servers = subject.bucket_count, subject.cluster.servers
        if buckets is None or buckets >= servers or not subject.writes_at_the_end_of_buckets:
            return
        target = BUCKETS_PER_SERVER * servers
        yield self.build_finding(
            "key",
            f"the key has only {pluralize(buckets, 'bucket')} for "
            f"{pluralize(servers, 'server')}, and each bucket is written at its end, so at "
            f"most {pluralize(buckets, 'server')} at a time "
            f"{'takes' if buckets == 1 else 'take'} writes",
            f"Use {target}, two for each server{subject.format_fan_out_change(target)}.",
            value=buckets,
            verdict="Choose the number of buckets by the number of servers, not of regions.",
            servers=servers,
        )
