"""The rule `long_key`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import FieldPart
from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize
from rowkey.schema import Equal, OneOf

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject

MIN_PADDING = 2
"""Width of an encoding, as a multiple of the longest value, from which it is mostly padding."""


DIGEST_BYTES = 16
"""Bytes of a digest that no two of many values share."""


class LongKey(Rule):
    """The row key takes more space than the data it finds.

    What it does: takes the mean length of a key, if the sample or the file tells it, and the bytes
    that all cells of an event spend on it.

    Why it hurts: every cell repeats the key: in the memstore, in the block cache and, before
    encoding, in the file. A cell with a value of 8 bytes and a key of 100 is mostly key.

    Use instead: an encoding with fewer bytes, such as `:bytes` for hexadecimal digits; a `digest`
    of a long text that reads give whole, such as a URL; ids instead of names; `code` for long
    values that repeat; one packed cell instead of many; and the block encoding FAST_DIFF, which
    stores only the difference from the previous key.

    Source: claim 4 asks for 10 to 100 bytes and 16 at best; the book only for short ones. Claim 7,
    multiples of 8, is folklore: cells are packed streams of bytes. KeyValue.java: 20 bytes, key,
    family, qualifier and value a cell.
    """

    name = "long_key"
    code = "RK107"
    severity: ClassVar[Severity] = "info"
    claims = (4, 5, 6, 22)
    bad_design = """\
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
    good_design = """\
table  = "visits"
key    = "[bucket(page, 16)][page][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
page   = "u32"
url    = { type = "text", max_bytes = 2000, mean_bytes = 120 }
clicks = "u32"
"""
    WARNING_ABOVE_BYTES = 100
    """Bytes above which it is a warning. Source: verdict on claim 4."""
    MAX_UNREPORTED_BYTES = 16
    """Bytes up to which nothing is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if row keys take much of the stored bytes."""
        mean = subject.mean_key_bytes
        if mean is None or mean <= self.MAX_UNREPORTED_BYTES:
            return
        cells = sum(cell.event_share for cell in subject.cells)
        spent = mean * cells
        share = spent / subject.event_bytes
        if mean <= self.WARNING_ABOVE_BYTES and (cells >= 2 or share < 0.5):
            return  # with several cells, another rule reports the missing encoding
        n_cells = "the cell" if cells == 1 else f"{format_number(cells)} cells"
        yield self.build_finding(
            "key",
            f"the row key of {mean:,.0f} bytes is stored with {n_cells} of each event, which "
            f"takes {spent:,.0f} of the event's {subject.event_bytes:,.0f} bytes ({share:.0%})",
            self._format_remedy(subject),
            severity="warning" if mean > self.WARNING_ABOVE_BYTES else "info",
            value=round(mean, 1),
            verdict="HBase allows 32,767 bytes; what matters is the bytes in each cell.",
            key_bytes=mean,
            cells=cells,
            share=share,
        )

    @staticmethod
    def _format_remedy(subject: LintSubject) -> str:
        """Return the remedy: a shorter encoding of a key field, or general advice."""
        for notation, part in subject.iter_parts():
            if not isinstance(part, FieldPart):
                continue
            name, width = part.field.name, part.framing.width or 0
            longest = subject.find_facts(name).max_bytes or part.field.declaration.max_bytes
            if part.field.type.is_sequence and longest and width >= MIN_PADDING * longest:
                return (
                    f"Write [{name}] instead of {notation}, which pads values of at most "
                    f"{pluralize(longest, 'byte')} to {width}{subject.format_split_advice(part)}."
                )
            narrower = part.narrower_reference
            if narrower is not None:
                return (
                    f"Write [{narrower}] instead of {notation}{subject.format_split_advice(part)}."
                )
        for notation, part in subject.iter_parts():
            if isinstance(part, FieldPart) and _is_long_and_given_whole(subject, part):
                name = part.field.name
                splits = subject.format_split_advice(part, keeps_size=False)
                return (
                    f"Write [digest({name}, {DIGEST_BYTES})] instead of {notation}{splits}: all "
                    f"reads give {name} whole, and a column then stores it once."
                )
        return (
            "Use ids instead of names, or pack the columns into one cell; a block encoding "
            "shortens keys in files and in the cache, but not in the memstore."
        )


def _is_long_and_given_whole(subject: LintSubject, part: FieldPart) -> bool:
    """Return whether a digest would halve a text, and each read that names it gives it whole."""
    name, mean = part.field.name, subject.find_facts(part.field.name).mean_bytes
    if not part.field.type.is_sequence or mean is None or mean < 2 * DIGEST_BYTES:
        return False
    bounds = [one.bounds[name] for one in subject.reads if name in one.bounds]
    is_sorted = any(name in {order.field for order in one.read.order} for one in subject.reads)
    is_whole = all(isinstance(one, Equal | OneOf) for one in bounds)
    return bool(bounds) and is_whole and not is_sorted
