"""The rule `unbounded_key`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import MAX_ROW_BYTES
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnboundedKey(Rule):
    """A row key may become longer than HBase accepts.

    What it does: adds up the longest bytes of each part, and reports fields without a limit, and
    limits that add up to more than 32,767 bytes.

    Why it hurts: HBase rejects a put with such a key, which happens to a rare row, long after the
    table went live.

    Use instead: `max_bytes` on the field, `digest` or `truncate` of it in the key, or a column.

    Source: HConstants.MAX_ROW_LENGTH, 32,767 bytes. Claim 3 says 64 KB, which is wrong.
    """

    name = "unbounded_key"
    code = "RK106"
    severity: ClassVar[Severity] = "info"
    claims = (3,)
    bad_design = """\
table  = "pages"
key    = "[bucket(url, 16)][url]"
splits = "per_bucket"

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""
    good_design = """\
table  = "pages"
key    = "[digest(url, 16)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if row keys may become longer than HBase accepts."""
        max_bytes = subject.key.part_sequence.framing.max_bytes
        if max_bytes is not None and max_bytes > MAX_ROW_BYTES:
            yield self.build_finding(
                "key",
                f"the longest possible row key has {max_bytes:,} bytes, but HBase accepts at most "
                f"{MAX_ROW_BYTES:,}",
                "Lower max_bytes of the key fields, or put a digest of the longest one into "
                "the key.",
                severity="warning",
                value=str(subject.key),
                verdict="The limit is 32,767 bytes, not 64 KB.",
                most=max_bytes,
            )
        if max_bytes is not None:
            return
        for name in subject.key.fields:
            if any(p.framing.max_bytes is None and name in p.fields for p in subject.key.parts):
                yield self.build_finding(
                    subject.format_path("fields", name),
                    f"the key field {name} has no max_bytes, and HBase rejects row keys of "
                    f"more than {MAX_ROW_BYTES:,} bytes",
                    f"Declare max_bytes for {name}.",
                    verdict="The limit is 32,767 bytes, not 64 KB.",
                )
