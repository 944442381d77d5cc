"""The rule `dated_codec`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class DatedCodec(Rule):
    """A codec that others have overtaken.

    What it does: looks for LZO and GZ as codecs of a family, and BZIP2, which is slower still.

    Why it hurts: LZO does not come with HBase, for its licence, and a server without it does not
    open the regions. GZ unpacks several times slower than ZSTD at about the same size.

    Use instead: LZ4 or SNAPPY for speed, ZSTD for size. Files that stand are rewritten by
    compactions, so the change is safe.

    Source: HBase book, "Compression and Data Block Encoding In HBase"; claim 34 has Snappy as the
    newest, better than LZO: it is, and LZ4 and ZSTD came since.
    """

    name = "dated_codec"
    code = "RK416"
    severity: ClassVar[Severity] = "info"
    claims = (34,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
compression = "LZO"
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
compression = "LZ4"
"""
    BETTER: ClassVar = {"LZO": "LZ4", "GZ": "ZSTD", "BZIP2": "ZSTD"}

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            better = self.BETTER.get(family.compression)
            if better is not None:
                yield self.finding(
                    subject.at("families", name, "compression"),
                    f"{family.compression} is slower than {better} for what it saves",
                    f'Set compression = "{better}".',
                    value=family.compression,
                    verdict="LZ4 and ZSTD have come since Snappy was the newest.",
                    family=name,
                    better=better,
                )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        family, better = finding.evidence["family"], finding.evidence["better"]
        return {("families", str(family), "compression"): better}
