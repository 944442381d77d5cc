"""The rule `bloom_unlike_reads`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class BloomUnlikeReads(Rule):
    """A Bloom filter that the declared reads cannot use.

    What it does: compares the declared filter with the reads: none where single rows are got, one
    of prefixes that are longer than what the reads pin.

    Why it hurts: a get looks into every file of a region, however many there are. Filters of a
    longer prefix than a read gives are never asked.

    Use instead: ROW, the default, for gets; ROWPREFIX_FIXED_LENGTH(n) for scans that pin n bytes.

    Source: HBase book, "Bloom Filters"; claim 36 agrees: they help gets, not ranges. HBASE-20636
    added the fixed prefix.
    """

    name = "bloom_unlike_reads"
    code = "RK411"
    severity: ClassVar[Severity] = "warning"
    claims = (36, 48)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
bloom = "NONE"

[[reads]]
name  = "a user"
where = "user = ?"
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
bloom = "ROW"

[[reads]]
name  = "a user"
where = "user = ?"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        planned = [one for one in subject.reads if one.plan is not None]
        gets = [one.read.name for one in planned if one.plan and one.plan.is_point]
        pinned = {one.read.name: subject.pinned_bytes(one) for one in planned}
        for name, family in subject.families.items():
            if not subject.says("families", name, "bloom"):
                continue
            path = subject.at("families", name, "bloom")
            if gets and family.bloom == "NONE":
                yield self.finding(
                    path,
                    f"{gets[0]} gets single rows, and without a filter it looks into every file",
                    'Set bloom = "ROW".',
                    value=family.bloom,
                    verdict="A scan is dearer than a get: filters by row spare gets alone.",
                    family=name,
                )
            length = family.prefix_length
            if length is not None and planned and max(pinned.values()) < length:
                longest = max(pinned, key=lambda read: pinned[read])
                yield self.finding(
                    path,
                    f"the filter holds prefixes of {length} bytes, and no read pins as many: "
                    f"{longest} pins {pinned[longest]}",
                    "Take the bytes that the reads pin, or ROW.",
                    value=family.bloom,
                    verdict="A scan is dearer than a get: filters by row spare gets alone.",
                    family=name,
                    pinned=pinned[longest],
                )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), "bloom"): "ROW"}
