"""The rule `blocks_unlike_reads`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class BlocksUnlikeReads(Rule):
    """A block size made for the other sort of reads.

    What it does: compares a declared `block_size` with the declared reads: larger than 64 KiB where
    all of them get single rows, smaller where none does.

    Why it hurts: a get reads and unpacks a whole block for one row. A scan over small blocks asks
    an index of many entries, which stays in memory.

    Use instead: 64 KiB, the default; 16 or 32 KiB for gets only, 128 KiB or more for scans only.

    Source: HBase book, "BlockSize"; claim 31 agrees. TableDescriptorChecker allows 1 KiB to 16 MiB.
    """

    name = "blocks_unlike_reads"
    code = "RK406"
    severity: ClassVar[Severity] = "warning"
    claims = (31,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_size = 1048576

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
block_size = 16384

[[reads]]
name  = "a user"
where = "user = ?"
"""
    DEFAULT = 65_536
    """Bytes of a block by default. Source: HConstants, BLOCKSIZE of ColumnFamilyDescriptor."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        plans = [one.plan for one in subject.reads if one.plan is not None]
        for name, family in subject.families.items():
            if not plans or not subject.says("families", name, "block_size"):
                continue
            gets = sum(plan.is_point for plan in plans)
            if family.block_size > self.DEFAULT and gets == len(plans):
                what = "all declared reads get single rows, each of which reads a whole block"
            elif family.block_size < self.DEFAULT and not gets:
                what = "no declared read gets a single row, and small blocks need a large index"
            else:
                continue
            yield self.finding(
                subject.at("families", name, "block_size"),
                f"{what} of {family.block_size:,} bytes"
                if gets
                else f"{what}: {family.block_size:,} bytes a block",
                f"Leave it at {self.DEFAULT:,}.",
                value=family.block_size,
                family=name,
                gets=gets,
                reads=len(plans),
            )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), "block_size"): self.DEFAULT}
