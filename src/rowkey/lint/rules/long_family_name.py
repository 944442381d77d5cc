"""The rule `long_family_name`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LongFamilyName(Rule):
    """A family with a long name.

    What it does: takes the bytes of each family's name, and what share of an event they are.

    Why it hurts: the name stands in every cell, in memory and, before encoding, in the file. It can
    not be changed later without writing all data anew.

    Use instead: one letter, such as d.

    Source: HBase book, "Column Families": keep names as small as possible, one character; claim 20
    agrees. KeyValue: at most 127 bytes.
    """

    name = "long_family_name"
    code = "RK302"
    severity: ClassVar[Severity] = "info"
    claims = (20, 22)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 200 }

[families.user_information]
versions = 1
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 200 }

[families.u]
versions = 1
"""
    SHORT, LONG = 3, 8
    """Bytes up to which nothing is said, though one is best, and above which it is a warning."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name in subject.families:
            length = len(name.encode())
            if length <= self.SHORT:
                continue
            cells = sum(cell.share for cell in subject.cells if cell.family == name)
            share = length * cells / subject.event_bytes
            yield self.finding(
                subject.at("families", name),
                f"the name {name} takes {length} bytes of every cell, {share:.0%} of an event's "
                "bytes",
                "Call it by one letter, before there is data.",
                severity="warning" if length > self.LONG else "info",
                value=name,
                bytes=length,
                share=share,
            )
