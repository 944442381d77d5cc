"""The rule `dated_codec`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


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
