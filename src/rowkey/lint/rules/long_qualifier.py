"""The rule `long_qualifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LongQualifier(Rule):
    """Columns with long names beside short values.

    What it does: takes the mean length of the qualifiers that an event writes, and their share of
    its bytes; a field's name is its qualifier unless `qualifier` says another.

    Why it hurts: every cell holds its qualifier, in requests, in the MemStore and in the files. The
    encodings of blocks save what a key shares with the one before, and that is the row, not the
    name of the next column.

    Use instead: a short `qualifier`; the field keeps its name in the design, in reads and in
    programs. Or `pack`, which has numbers for names.

    Source: HBase book, "Try to minimize row and column sizes"; claim 22 agrees. From 8 bytes on, as
    the verdict on claim 20 has it for families.
    """

    name = "long_qualifier"
    code = "RK501"
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = "float32"
relative_humidity   = "float32"
"""
    good = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = { type = "float32", qualifier = "t" }
relative_humidity   = { type = "float32", qualifier = "h" }
"""
    LONG = 8
    """Bytes up to which nothing is said. Source: the verdict on claim 20, of a family's name."""
    SHARE = 0.1
    """Share of an event's bytes up to which nothing is said: a choice of ours."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        named = [cell for cell in subject.cells if cell.fields and cell.share]
        count = sum(cell.share for cell in named)
        spent = sum(len(cell.qualifier) * cell.share for cell in named)
        if not count or spent / count <= self.LONG:
            return
        share = spent / subject.event_bytes
        if share <= self.SHARE:
            return
        longest = max(named, key=lambda cell: len(cell.qualifier))
        name = longest.qualifier.decode()
        yield self.finding(
            subject.at("fields", longest.fields[0]),
            f"the names of columns take {spent:,.3g} bytes of each event, {share:.0%} of it and "
            f"{spent / count:,.3g} a cell; {name[:60]} has {len(longest.qualifier)}",
            'Write a short one, as in qualifier = "t": the field keeps its name.',
            value=name[:200],
            mean=spent / count,
            spent=spent,
            share=share,
        )
