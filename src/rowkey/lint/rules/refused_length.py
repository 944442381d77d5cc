"""The rule `refused_length`."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import Determinant, FieldPart, NullablePart
from rowkey.lint.contract import Rule
from rowkey.lint.subject import DAYS_OF_A_YEAR
from rowkey.messages import format_days

if TYPE_CHECKING:
    from rowkey.keys import Part
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class RefusedLength(Rule):
    """A part of the key refuses values that its field may have.

    What it does: compares `max_bytes` of each field with the width of the part that holds it whole,
    and `distinct` with the number of values that this part can take. Under the arrival `sequential`
    a field that is `unique` counts up, and its values have to last for five years at the rate.

    Why it hurts: a longer value, and one beyond the last number, is refused when its row is
    written, and a sample with such values cannot be read. Cutting values off instead, or counting
    from 0 again, would give different rows the same key.

    Use instead: the default encoding, which marks where a value ends; a width for the longest
    value or for all values; or a smaller `max_bytes`, if no longer value occurs.

    Source: the encoding's width; a value never loses bytes silently.
    """

    name = "refused_length"
    code = "RK125"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "events"
key    = "[bucket(service, 16)][service:fixed(12)][ts]"
splits = "per_bucket"

[fields]
service = { type = "text", max_bytes = 32 }
ts      = "timestamp_ms"
event   = "u8"
"""
    good_design = """\
table  = "events"
key    = "[bucket(service, 16)][service][ts]"
splits = "per_bucket"

[fields]
service = { type = "text", max_bytes = 32 }
ts      = "timestamp_ms"
event   = "u8"
"""

    MIN_YEARS = 5
    """Years for which the values of a unique field have to last: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each part that is narrower than the values of its field."""
        for notation, outer in subject.iter_parts():
            part = outer.inner if isinstance(outer, NullablePart) else outer
            if len(part.fields) != 1 or not part.residue(part.fields[0]).is_empty:
                continue
            name, width = part.fields[0], part.framing.width
            yield from self._find_few_values(subject, notation, part, name)
            if width is None or part.determined_by is not Determinant.FIELDS:
                continue  # an id of a dictionary stands for a value of any length
            max_bytes = subject.design.fields[name].declaration.max_bytes
            if max_bytes is None or max_bytes <= width:
                continue
            widened = f"Write [{name}] instead of {notation}, which marks where a value ends"
            if not isinstance(part, FieldPart):
                widened = f"Give {notation} a width for {max_bytes:,} bytes"
            yield self.build_finding(
                "key",
                f"{notation} holds values of {width:,} bytes at most and refuses longer ones, but "
                f"{name} may have {max_bytes:,}",
                f"{widened}, or declare fewer max_bytes if no value is longer than {width:,}.",
                value=name,
                width=width,
                max_bytes=max_bytes,
            )

    def _find_few_values(
        self, subject: LintSubject, notation: str, part: Part, name: str
    ) -> Iterator[Finding]:
        """Yield a finding if a field has more values than the part that holds it can take."""
        declared, rate = subject.design.fields[name].declaration, subject.design.writes.rate
        values, needed = part.cardinality, declared.distinct
        if values is None:
            return
        message = f"{notation} can take {values:,} values, but {name} has {needed or 0:,}"
        is_counted = declared.unique and subject.design.writes.arrival == "sequential"
        if needed is None and is_counted and rate is not None:
            day_s = 86_400
            needed = ceil(rate * self.MIN_YEARS * DAYS_OF_A_YEAR * day_s)
            message = (
                f"{notation} can take {values:,} values, and {rate:,g} events a second with a new "
                f"{name} each use them up in {format_days(values / rate / day_s)}"
            )
        if needed is None or needed <= values:
            return
        remedy = f"Choose a width for {needed:,} values."
        if isinstance(part, FieldPart):
            remedy = f"Declare a type of {name} with {needed:,} values or more, such as u64"
            remedy += "." if notation == f"[{name}]" else f", and write [{name}]."
        yield self.build_finding("key", message, remedy, value=name, values=values, needed=needed)
