"""The rule `uncompressed_family`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UncompressedFamily(Rule):
    """Much data without compression.

    What it does: where rate and time to live tell how much the table will hold, looks for families
    without a codec.

    Why it hurts: keys, families and qualifiers repeat in every cell, so that blocks usually shrink
    to a third or less. Disk, network and copies are paid in full.

    Use instead: ZSTD for what is kept long, LZ4 or SNAPPY for what is read much. The codec must be
    there on every server.

    Source: HBase book, "Compression and Data Block Encoding"; claim 33 agrees, the default is NONE.
    Claim 34 calls Snappy the newest: LZ4 and ZSTD came later.
    """

    name = "uncompressed_family"
    code = "RK409"
    severity: ClassVar[Severity] = "info"
    claims = (33, 34)
    bad = """\
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
    good = """\
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
    MUCH = 10 * 2**30
    """Bytes from which it is said: one region's."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        if subject.demand.size < self.MUCH:
            return
        for name, family in subject.families.items():
            if family.compression == "NONE":
                yield self.finding(
                    subject.nearest("families", name, "compression")
                    if subject.says("families", name)
                    else "table",
                    f"{subject.demand.size / 2**30:,.0f} GiB will be stored, and family {name} is "
                    "not compressed",
                    'Set compression = "ZSTD", or "LZ4" for what is read much.',
                    value=family.compression,
                    verdict="LZ4 and ZSTD have come since Snappy was the newest.",
                    family=name,
                    size=subject.demand.size,
                )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), "compression"): "ZSTD"}
