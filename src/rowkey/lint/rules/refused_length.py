"""The rule `refused_length`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import Determinant, FieldPart, NullablePart
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class RefusedLength(Rule):
    """A part of the key refuses values that its field may have.

    What it does: compares `max_bytes` of each field with the width of the part that holds it whole.

    Why it hurts: a longer value is refused when its row is written, and a sample with such values
    cannot be read. Cutting values off instead would give different rows the same key.

    Use instead: the default encoding, which marks where a value ends; a width for the longest
    value; or a smaller `max_bytes`, if no longer value occurs.

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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each part that is narrower than the values of its field."""
        for notation, outer in subject.iter_parts():
            part = outer.inner if isinstance(outer, NullablePart) else outer
            width = part.framing.width
            if width is None or len(part.fields) != 1 or not part.residue(part.fields[0]).is_empty:
                continue
            if part.determined_by is not Determinant.FIELDS:
                continue  # an id of a dictionary stands for a value of any length
            name = part.fields[0]
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
