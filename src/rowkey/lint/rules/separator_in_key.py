"""The rule `separator_in_key`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SeparatorInKey(Rule):
    """The key has a separator that is not needed, or that a value may contain.

    What it does: looks for constant bytes after a part of the key. After a part that shows its own
    end they are useless; after one that does not, they mark its end, and any value may contain
    them.

    Why it hurts: a value that contains the separator is read as two. With `~`, 7E, a range from
    `uid~` to `uid~~` misses ids whose next byte is 7E or more. A useless separator is stored in
    every cell.

    Use instead: the default encodings, which end a text with 00, or fixed widths. A prefix range
    ends at the prefix with its last byte raised by one.

    Source: claim 47 scans from "uid1~" to "uid1~~", which misses what begins with 7E; claim 65 puts
    `_`, 5F, after digits that are not padded. ClientUtil: the closest next row key for a prefix.
    """

    name = "separator_in_key"
    code = "RK115"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (47, 65)
    bad_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan:raw]['~'][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[writes]
arrival = "random"
"""
    good_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[writes]
arrival = "random"
"""
    other_codes = ("RK109",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each separator that is needless or may occur in a value."""
        for (part_text, part), (separator, constant) in pairwise(subject.iter_parts()):
            if constant.fields or constant.cardinality != 1 or not part.fields:
                continue
            [piece] = constant.images({}).points or (b"",)
            if part.framing.is_self_delimiting:
                yield self.build_finding(
                    "key",
                    f"the separator {separator} is not needed, because {part_text} marks its own "
                    f"end; it wastes {len(piece)} byte{'s' * (len(piece) != 1)} of every cell",
                    f"Remove {separator}.",
                    severity="info",
                    value=separator,
                    bytes=len(piece),
                )
                continue
            names = " and ".join(part.fields)
            bad_values = [
                v
                for n in part.fields
                for v in subject.list_values(n)
                if self._has_separator(v, piece)
            ]
            example = f", as {bad_values[0]!r} of the sample does" if bad_values else ""
            yield self.build_finding(
                "key",
                f"the separator {separator} marks the end of {names}, whose values may contain "
                f"it{example}; such a key is decoded wrongly",
                f"Remove {separator}, and write {names} in its default encoding.",
                severity="error" if bad_values else None,
                value=separator,
                verdict="A prefix range ends at the prefix with its last byte raised by one.",
            )

    @staticmethod
    def _has_separator(value: object, piece: bytes) -> bool:
        """Return whether a text value contains the bytes of a separator."""
        return isinstance(value, str) and piece in value.encode()
