"""The rule `constant_in_front`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ConstantInFront(Rule):
    """Bytes in front that are the same in every key.

    What it does: looks for a leading part that has one value: a constant, a choice of one, or a
    field of which the sample shows one value.

    Why it hurts: it tells nothing and stands in every cell; the splits must begin with it, or they
    leave all rows in one region.

    Use instead: nothing. A prefix that keeps room for a second version of the key, or for other
    tenants, is worth its byte: then allow it, and say so.

    Source: KeyValue.java; claim 59 keeps spare fields in the key: a version of one byte does that,
    or fields at the end that may be null.
    """

    name = "constant_in_front"
    code = "RK121"
    severity: ClassVar[Severity] = "info"
    claims = (51, 59)
    bad = """\
table  = "logs"
key    = "['log-'][bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for shown, part in subject.parts():
            if part is subject.leading or part.framing.most == 0:
                return
            yield self.finding(
                "key",
                f"{shown} is the same in every key, and takes {part.framing.least} or more bytes "
                "of every cell",
                "Leave it out, unless it is a version of the key or keeps tenants apart.",
                value=shown,
                verdict="Nothing need be reserved: a field that may be null is added at the end.",
                fields=part.fields,
            )
