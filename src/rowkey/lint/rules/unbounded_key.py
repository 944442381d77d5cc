"""The rule `unbounded_key`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import ROW_BYTES_MOST
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnboundedKey(Rule):
    """A row key that may become longer than HBase stores.

    What it does: adds up the longest bytes of each part. A field that nothing limits, or limits
    that add up to more than 32,767 bytes, let rows come that no table takes.

    Why it hurts: the put of such a row is refused, and it is always the odd row, long after the
    table went live.

    Use instead: declare `max_bytes` on the field, keep `digest` or `truncate` of it in the key, or
    leave it to a column.

    Source: HConstants.MAX_ROW_LENGTH, 32,767 bytes. Claim 3 says 64 KB, which is wrong.
    """

    name = "unbounded_key"
    code = "RK106"
    severity: ClassVar[Severity] = "info"
    claims = (3,)
    bad = """\
table  = "pages"
key    = "[bucket(url, 16)][url]"
splits = "per_bucket"

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""
    good = """\
table  = "pages"
key    = "[digest(url, 16)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        most = subject.key.body.framing.most
        if most is not None and most > ROW_BYTES_MOST:
            yield self.finding(
                "key",
                f"its longest key has {most:,} bytes, and HBase stores {ROW_BYTES_MOST:,}",
                "Lower max_bytes of its fields, or keep a digest of one.",
                severity="warning",
                value=str(subject.key),
                verdict="The limit is 32,767 bytes, not 64 KB.",
                most=most,
            )
        if most is not None:
            return
        for name in subject.key.fields:
            if any(p.framing.most is None and name in p.fields for p in subject.key.parts):
                yield self.finding(
                    subject.at("fields", name),
                    f"nothing limits {name}, and a row whose key exceeds {ROW_BYTES_MOST:,} bytes "
                    "is refused",
                    "Declare max_bytes.",
                    verdict="The limit is 32,767 bytes, not 64 KB.",
                )
