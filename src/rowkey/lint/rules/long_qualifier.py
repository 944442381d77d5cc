"""The rule `long_qualifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LongQualifier(Rule):
    """A column with a long name beside a short value.

    What it does: compares the bytes of each column's qualifier with those of an event.

    Why it hurts: the qualifier stands in every cell. A name of 20 bytes for a number of 4 is most
    of what is stored, in memory and in the cache, where compression does not help.

    Use instead: `qualifier = "m"` on the field: the field keeps its name, the cell a short one.

    Source: HBase book, "Attributes": prefer short ones; claim 22 agrees.
    """

    name = "long_qualifier"
    code = "RK501"
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad = """\
table  = "sensors"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor                      = "u32"
ts                          = "timestamp_ms"
relative_humidity_in_percent = "u8"
"""
    good = """\
table  = "sensors"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor                      = "u32"
ts                          = "timestamp_ms"
relative_humidity_in_percent = { type = "u8", qualifier = "h" }
"""
    LONG, SHARE = 10, 0.2
    """Bytes above which, and share of an event's bytes from which, a name is said to be long."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for cell in subject.cells:
            length = len(cell.qualifier)
            share = length * cell.share / subject.event_bytes
            if length <= self.LONG or share < self.SHARE or len(cell.fields) != 1:
                continue
            [name] = cell.fields
            yield self.finding(
                subject.at("fields", name),
                f"the qualifier of {name} takes {length} bytes of every cell, {share:.0%} of an "
                "event's bytes",
                "Give it a short qualifier; the field keeps its name.",
                value=name,
                bytes=length,
                share=share,
            )
