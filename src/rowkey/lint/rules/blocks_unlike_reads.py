"""The rule `blocks_unlike_reads`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class BlocksUnlikeReads(Rule):
    """The block size does not suit the declared reads.

    What it does: compares a declared `block_size` with the declared reads: larger than 64 KiB where
    all of them are gets of single rows, smaller where none is.

    Why it hurts: a get reads and unpacks a whole block for one row. Small blocks under scans need
    an index with many entries, which stays in memory.

    Use instead: 64 KiB, the default; 16 or 32 KiB if there are only gets, 128 KiB or more if there
    are only scans.

    Source: HBase book, "BlockSize"; claim 31 agrees. TableDescriptorChecker allows 1 KiB to 16 MiB.
    """

    name = "blocks_unlike_reads"
    code = "RK406"
    severity: ClassVar[Severity] = "warning"
    claims = (31,)
    bad_design = """\
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
    good_design = """\
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
    DEFAULT_BLOCK_BYTES = 65_536
    """Bytes of a block by default. Source: HConstants, BLOCKSIZE of ColumnFamilyDescriptor."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose block size does not suit the reads."""
        plans = [one.plan for one in subject.reads if one.plan is not None]
        for name, family in subject.families.items():
            if not plans or not subject.is_declared("families", name, "block_size"):
                continue
            gets = sum(plan.is_point for plan in plans)
            if family.block_size > self.DEFAULT_BLOCK_BYTES and gets == len(plans):
                what = "every declared read gets a single row, and each get loads a whole block"
            elif family.block_size < self.DEFAULT_BLOCK_BYTES and not gets:
                what = (
                    "no declared read gets a single row, so small blocks only enlarge the "
                    "block index"
                )
            else:
                continue
            yield self.build_finding(
                subject.format_path("families", name, "block_size"),
                f"{what} of {family.block_size:,} bytes"
                if gets
                else f"{what}; blocks have {family.block_size:,} bytes",
                f"Set it to {self.DEFAULT_BLOCK_BYTES:,}, the default block_size of HBase.",
                value=family.block_size,
                family=name,
                gets=gets,
                reads=len(plans),
            )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the default block size for the family of a finding."""
        return {
            ("families", str(finding.evidence["family"]), "block_size"): self.DEFAULT_BLOCK_BYTES
        }
