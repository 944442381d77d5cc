"""Rules on how a family's files are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import join_names

if TYPE_CHECKING:
    from rowkey.design import KeyPath
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

    def join_findings(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """Return what to do about all families."""
        first = findings[0]
        growth, _, _ = first.message.partition(", but ")
        names = join_names([str(one.evidence["family"]) for one in findings])
        return f"{growth}, but families {names} are not compressed", first.remedy

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return ZSTD compression for the families of a finding."""
        names = finding.evidence.get("families", [finding.evidence["family"]])
        return {("families", str(name), "compression"): "ZSTD" for name in names}


class UnencodedKeys(Rule):
    """Keys take most of the space, and no block encoding shortens them.

    What it does: where the length of keys is known, takes their share of an event's bytes, and
    looks for families without a data block encoding. Of one cell an event only where neighbouring
    rows are those of other times.

    Why it hurts: neighbouring cells share most of their key. Stored whole each time, keys fill the
    blocks in the cache, where compression does not help, because cached blocks are not compressed.

    Use instead: FAST_DIFF, which stores only the difference from the previous cell; ROW_INDEX_V1
    for reads of single rows from large blocks.

    Source: HBase book, "Data Block Encoding Types"; the verdict on claim 33.
    """

    name = "unencoded_keys"
    code = "RK410"
    severity: ClassVar[Severity] = "info"
    claims = (33,)
    bad_design = """\
table  = "visits"
key    = "[bucket(site, 16)][site][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
site   = { type = "text", max_bytes = 60, mean_bytes = 40 }
clicks = "u32"
seen   = "u32"
left   = "u32"

[families.d]
versions = 1
"""
    good_design = """\
table  = "visits"
key    = "[bucket(site, 16)][site][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
site   = { type = "text", max_bytes = 60, mean_bytes = 20 }
clicks = "u32"
seen   = "u32"
left   = "u32"

[families.d]
encoding = "FAST_DIFF"
"""
    MIN_KEY_BYTES = 24
    """Bytes of a key below which nothing is reported: every cell has 20 bytes besides its key."""
    MIN_KEY_SHARE = 0.5

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that stores long keys without a block encoding."""
        mean = subject.mean_key_bytes
        cells = sum(cell.event_share for cell in subject.cells)
        if mean is None or mean <= self.MIN_KEY_BYTES:
            return
        if cells < 2 and not self._has_neighbours(subject):
            return
        share = mean * cells / subject.event_bytes
        for name, family in subject.families.items():
            if share >= self.MIN_KEY_SHARE and family.encoding == "NONE":
                yield self.build_finding(
                    subject.find_nearest_path("families", name, "encoding")
                    if subject.is_declared("families", name)
                    else "key",
                    f"row keys take {share:.0%} of the stored bytes, because family {name} has "
                    "no block encoding and repeats the whole key in every cell",
                    'Set encoding = "FAST_DIFF".',
                    value=family.encoding,
                    family=name,
                    share=share,
                )

    @staticmethod
    def _has_neighbours(subject: LintSubject) -> bool:
        """Return whether neighbouring rows differ by a time that other fields come before."""
        fields = subject.key.fields
        has_times = [
            any(fields[name].type.unit_ns is not None for name in part.fields)
            for part in subject.key.parts
            if part.order.is_ascending or part.order.is_descending
        ]
        return True in has_times[1:]

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the FAST_DIFF block encoding for the family of a finding."""
        return {("families", str(finding.evidence["family"]), "encoding"): "FAST_DIFF"}


class SingleCopy(Rule):
    """HDFS keeps only one copy of a family's files.

    What it does: looks for `dfs_replication = 1`.

    Why it hurts: one lost disk is lost data. A region with a missing block does not open, so its
    other families are unavailable as well.

    Use instead: nothing, which keeps the file system's own setting, usually 3. For data that can be
    produced again, allow the finding and say so.

    Source: ColumnFamilyDescriptorBuilder, DFS_REPLICATION; HDFS dfs.replication, 3 by default.
    """

    name = "single_copy"
    code = "RK415"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
dfs_replication = 1
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family of which HDFS keeps only one copy."""
        for name, family in subject.families.items():
            if family.dfs_replication == 1:
                yield self.build_finding(
                    subject.format_path("families", name, "dfs_replication"),
                    f"HDFS keeps only one copy of family {name}, so a lost disk loses data",
                    "Remove dfs_replication, which keeps the file system's setting.",
                    value=1,
                )


class DatedCodec(Rule):
    """The compression codec is outdated.

    What it does: looks for families compressed with LZO, GZ or BZIP2.

    Why it hurts: LZO is not shipped with HBase because of its licence, and a server without it
    cannot open the regions. GZ decompresses several times slower than ZSTD at about the same size;
    BZIP2 is slower still.

    Use instead: LZ4 or SNAPPY for speed, ZSTD for size. The change is safe: compactions rewrite
    existing files.

    Source: HBase book, "Compression and Data Block Encoding In HBase"; claim 34 has Snappy as the
    newest, better than LZO: it is, and LZ4 and ZSTD came since.
    """

    name = "dated_codec"
    code = "RK416"
    severity: ClassVar[Severity] = "info"
    claims = (34,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
compression = "LZO"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
compression = "LZ4"
"""
    BETTER_CODECS: ClassVar = {"LZO": "LZ4", "GZ": "ZSTD", "BZIP2": "ZSTD"}

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose compression codec has a better successor."""
        for name, family in subject.families.items():
            better = self.BETTER_CODECS.get(family.compression)
            if better is not None:
                yield self.build_finding(
                    subject.format_path("families", name, "compression"),
                    f"the compression codec {family.compression} is slower than {better} and "
                    "saves no more space",
                    f'Set compression = "{better}".',
                    value=family.compression,
                    verdict="LZ4 and ZSTD are newer than Snappy.",
                    family=name,
                    better=better,
                )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the newer codec for the family of a finding."""
        family, better = finding.evidence["family"], finding.evidence["better"]
        return {("families", str(family), "compression"): better}
