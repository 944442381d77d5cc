"""The rule `cell_too_large`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import CELL_BYTES_MOST
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class CellTooLarge(Rule):
    """A value that may be larger than a server takes, or than its files are made for.

    What it does: compares `max_bytes` of stored fields with 10 MiB, and their mean, where it is
    known, with 100 kB.

    Why it hurts: a server refuses a larger cell. Below that, large values make every compaction
    write them again.

    Use instead: pieces under keys of their own, or a file elsewhere and its name here; `mob = true`
    on the family for values of 100 kB to 10 MB.

    Source: hbase.server.keyvalue.maxsize, 10 MiB; HBase book, "Storing Medium-sized Objects".
    """

    name = "cell_too_large"
    code = "RK503"
    severity: ClassVar[Severity] = "warning"
    claims = (46,)
    bad = """\
table  = "files"
key    = "[bucket(file, 16)][file]"
splits = "per_bucket"

[fields]
file = "u64"
body = { type = "bytes", max_bytes = 50000000 }
"""
    good = """\
table  = "files"
key    = "[bucket(file, 16)][file][piece]"
splits = "per_bucket"

[fields]
file  = "u64"
piece = "u16"
body  = { type = "bytes", max_bytes = 1000000 }
"""
    MEDIUM = 102_400
    """Mean bytes from which a value is of medium size. Source: MOB_THRESHOLD, 100 kB."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for cell in subject.cells:
            for name in cell.fields:
                most = subject.design.fields[name].words.max_bytes
                mean = subject.fact(name).bytes_mean
                path = subject.at("fields", name)
                if most is not None and most > CELL_BYTES_MOST:
                    yield self.finding(
                        path,
                        f"{name} may have {most:,} bytes, and a server refuses cells above "
                        f"{CELL_BYTES_MOST:,}",
                        "Cut it into pieces under keys of their own.",
                        value=most,
                    )
                elif mean is not None and mean > self.MEDIUM:
                    if subject.families[cell.family].mob:
                        continue
                    yield self.finding(
                        path,
                        f"{name} has {mean:,.0f} bytes on average, which every compaction writes "
                        "again",
                        "Put it into a family with mob = true.",
                        severity="info",
                        value=mean,
                    )
