"""The rule `read_asks_every_bucket`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.plan import count_spreading_parts
from rowkey.proposals import ANOTHER_KEY
from rowkey.schema import Equal

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ReadAsksEveryBucket(Rule):
    """A read gives part of the bucket's fields, so it must ask every bucket.

    What it does: looks for reads that fix some, but not all, of the fields a bucket is computed
    from. If the given fields have too few values to fill the buckets by themselves, nothing is
    reported: a bucket of more fields is then right.

    Why it hurts: each answer is merged from all buckets, although the rows of the entity could be
    in one.

    Use instead: a bucket of the fields that the reads give; or the third number of a bucket, which
    spreads only the heavy values over several buckets.

    Source: claim 86 hashes so that chosen rows share a region, by hashing the entity: agrees. Claim
    38: n buckets are n scans.
    """

    name = "read_asks_every_bucket"
    code = "RK611"
    measured_by = "reads"
    severity: ClassVar[Severity] = "info"
    claims = (38, 69, 86)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, ts, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
limit = 1000
"""

    MIN_VALUES_PER_BUCKET = 4
    """Values a bucket below which some stay empty. Source: the cause `few_entities`."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that must query every bucket for a missing field."""
        spread = subject.key.parts[: count_spreading_parts(subject.key)]
        bucket_fields = {name for part in spread for name in part.fields}
        for one in subject.reads:
            single_value_fields = {
                name for name, bound in one.bounds.items() if isinstance(bound, Equal)
            }
            missing_fields = bucket_fields - single_value_fields
            buckets = subject.bucket_count
            if one.plan is None or buckets is None or not missing_fields:
                continue
            if one.plan.is_full_scan or one.plan.fan_out < buckets:
                continue
            hashed = [
                name for name in subject.key.fields if name in bucket_fields & single_value_fields
            ]
            pinned = hashed or self._list_leading_fields(subject, single_value_fields)
            if not pinned:
                continue
            counts = [subject.count_distinct(name) for name in pinned]
            is_known = all(counts)
            if is_known and prod(n for n in counts if n) < self.MIN_VALUES_PER_BUCKET * buckets:
                continue
            if not hashed and not is_known:
                continue  # a bucket of other fields may be there because these have few values
            names = ", ".join(pinned)
            yield self.build_finding(
                one.path,
                f"the read '{one.read.name}' gives {names} but not "
                f"{' and '.join(sorted(missing_fields))}, from which the bucket is computed"
                f"{' too' if hashed else ''}, "
                f"so it scans {pluralize(one.plan.fan_out, 'range')}",
                ANOTHER_KEY,
                value=one.read.name,
                fan_out=one.plan.fan_out,
                lacking=sorted(missing_fields),
                needs_key=True,
            )

    @staticmethod
    def _list_leading_fields(subject: LintSubject, single_value_fields: set[str]) -> list[str]:
        """Return the given fields that follow the bucket in the key."""
        rest = subject.key.parts[count_spreading_parts(subject.key) :]
        leading = takewhile(lambda part: single_value_fields.issuperset(part.fields), rest)
        return [name for part in leading for name in part.fields]
