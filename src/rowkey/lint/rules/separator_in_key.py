"""The rule `separator_in_key`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SeparatorInKey(Rule):
    """A separator between parts that need none, or that a value may hold.

    What it does: looks for constant bytes behind a part of the key. Behind a part that tells its
    own end they are bytes for nothing; behind one that does not, they are its end, and any value
    may hold them.

    Why it hurts: a value with the separator in it is taken for two. With `~`, 7E, every byte above
    it sorts behind the separator, so a range from `uid~` to `uid~~` misses ids that begin with 7E
    or more. A needless one is stored in every cell.

    Use instead: the default encodings, which end a text with 00, or fixed widths. The stop of a
    range is the prefix with its last byte raised by one.

    Source: claim 47 scans from "uid1~" to "uid1~~", which misses what begins with 7E; claim 65 puts
    `_`, 5F, behind digits that are not padded. ClientUtil: the closest next row key for a prefix.
    """

    name = "separator_in_key"
    code = "RK115"
    severity: ClassVar[Severity] = "warning"
    claims = (47, 65)
    bad = """\
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
    good = """\
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
    also = ("RK109",)

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for (before, part), (shown, constant) in pairwise(subject.parts()):
            if constant.fields or constant.cardinality != 1 or not part.fields:
                continue
            [piece] = constant.images({}).points or (b"",)
            if part.framing.closed:
                yield self.finding(
                    "key",
                    f"{shown} stands behind {before}, which tells its own end: {len(piece)} "
                    f"byte{'s' * (len(piece) != 1)} of every cell for nothing",
                    f"Leave {shown} out.",
                    severity="info",
                    value=shown,
                    bytes=len(piece),
                )
                continue
            names = " and ".join(part.fields)
            held = [v for n in part.fields for v in subject.values(n) if self._holds(v, piece)]
            seen = f", and {held[0]!r} does" if held else ""
            yield self.finding(
                "key",
                f"{shown} is the end of {names}, which may hold it{seen}: such a value is taken "
                "for two",
                f"Leave {shown} out, and write {names} in its default encoding.",
                severity="error" if held else None,
                value=shown,
                verdict="A range of a prefix stops at the prefix with its last byte raised by one.",
            )

    @staticmethod
    def _holds(value: object, piece: bytes) -> bool:
        return isinstance(value, str) and piece in value.encode()
