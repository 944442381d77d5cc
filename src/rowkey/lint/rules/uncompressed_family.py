"""The rule `uncompressed_family`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UncompressedFamily(Rule):
    """A large family is not compressed.

    What it does: where the rate and the ttl tell how large the table becomes, or how much it grows
    a year without a ttl, looks for families without a codec.

    Why it hurts: keys, families and qualifiers repeat in every cell, so blocks usually shrink to a
    third or less. Without compression, disk, network and replicas hold all of it.

    Use instead: ZSTD for data that is kept long, LZ4 or SNAPPY for data that is read often. Every
    server must have the codec.

    Source: HBase book, "Compression and Data Block Encoding"; claim 33 agrees, the default is NONE.
    Claim 34 calls Snappy the newest: LZ4 and ZSTD came later.
    """

    name = "uncompressed_family"
    code = "RK409"
    severity: ClassVar[Severity] = "info"
    claims = (33, 34)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"

[writes]
rate = "100/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl         = "30d"
compression = "ZSTD"

[writes]
rate = "100/s"
"""
    MIN_TABLE_BYTES = 10 * 2**30
    """Bytes of a table from which it is reported: those of one region."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each large family that is not compressed."""
        size: float = subject.demand.size
        if not size and subject.is_declared("families"):
            size = subject.endless_bytes_a_year
        if size < self.MIN_TABLE_BYTES:
            return
        growth = f"to {size / 2**30:,.0f} GiB"
        if not subject.demand.size:
            growth = f"by {size / 2**30:,.0f} GiB a year"
        for name, family in subject.families.items():
            if family.compression == "NONE":
                yield self.build_finding(
                    subject.find_nearest_path("families", name, "compression")
                    if subject.is_declared("families", name)
                    else "table",
                    f"the table grows {growth}, but family {name} is not compressed",
                    'Set compression = "ZSTD", or "LZ4" for data that is read often.',
                    value=family.compression,
                    verdict="LZ4 and ZSTD are newer than Snappy.",
                    family=name,
                    size=size,
                )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return ZSTD compression for the family of a finding."""
        return {("families", str(finding.evidence["family"]), "compression"): "ZSTD"}
