"""The rule `long_key`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import FieldPart
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LongKey(Rule):
    """A row key that takes more room than what it finds.

    What it does: takes the mean length of a key, where the sample or the file tells it, and the
    bytes that all cells of an event spend on it.

    Why it hurts: every cell repeats the key, in the MemStore, in the block cache and, before
    encoding, in the file. Of a cell of 8 bytes behind a key of 100, the key is most.

    Use instead: the encoding of fewer bytes, as `:bytes` is for hexadecimal digits; ids for names,
    `code` for long words that come often, one packed cell for many, and the block encoding
    FAST_DIFF, which stores what differs from the key before.

    Source: claim 4 asks for 10 to 100 bytes and 16 at best; the book only for short ones. Claim 7,
    multiples of 8, is folklore: cells are packed streams of bytes. KeyValue.java: 20 bytes, key,
    family, qualifier and value a cell.
    """

    name = "long_key"
    code = "RK107"
    severity: ClassVar[Severity] = "info"
    claims = (4, 5, 6, 22)
    bad = """\
table  = "visits"
key    = "[bucket(url, 16)][url][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
url    = { type = "text", max_bytes = 2000, mean_bytes = 120 }
clicks = "u32"
seen   = "u32"

[families.d]
encoding = "FAST_DIFF"
"""
    good = """\
table  = "visits"
key    = "[bucket(page, 16)][page][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
page   = "u32"
url    = { type = "text", max_bytes = 2000, mean_bytes = 120 }
clicks = "u32"
"""
    MANY = 100
    """Bytes above which it is a warning, as the verdict on claim 4 has it."""
    SHORT = 16
    """Bytes up to which nothing is said."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        mean = subject.known_key_bytes
        if mean is None or mean <= self.SHORT:
            return
        cells = sum(cell.share for cell in subject.cells)
        spent = mean * cells
        share = spent / subject.event_bytes
        if mean <= self.MANY and (cells >= 2 or share < 0.5):
            return  # of several cells, an encoding spares what repeats: that is another rule
        told = "the cell" if cells == 1 else f"{cells:,.3g} cells"
        yield self.finding(
            "key",
            f"a key of {mean:,.0f} bytes stands in {told} of an event: {spent:,.0f} of "
            f"{subject.event_bytes:,.0f} bytes, {share:.0%}",
            self._remedy(subject),
            severity="warning" if mean > self.MANY else "info",
            value=round(mean, 1),
            verdict="HBase sets no length but 32,767 bytes; what counts is bytes a cell.",
            key_bytes=mean,
            cells=cells,
            share=share,
        )

    @staticmethod
    def _remedy(subject: Subject) -> str:
        """The same key in fewer bytes, where an encoding of one of its fields has fewer."""
        for notation, part in subject.parts():
            narrower = part.narrower if isinstance(part, FieldPart) else None
            if narrower is not None:
                return f"Write [{narrower}] in place of {notation}{subject.cut_for_bytes(part)}."
        return (
            "Put ids for names, or pack the columns into one cell; a block encoding spares it in "
            "files and in the cache, and not in the MemStore."
        )
