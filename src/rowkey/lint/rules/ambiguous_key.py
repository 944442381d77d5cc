"""The rule `ambiguous_key`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class AmbiguousKey(Rule):
    """The key contains a part whose end cannot be found, followed by another part.

    What it does: looks for parts, except the last, whose bytes do not show where they end.

    Why it hurts: user 1 with product 23 and user 12 with product 3 get the same key, so one put
    hides the other. Keys cannot be decoded, so rows cannot be read back.

    Use instead: the default encoding, which ends a text with the byte 00, or a fixed width.

    Source: claim 58 has user, product and time side by side without widths or ends; the rows that
    meet are versions of one row, of which `versions` are kept: HBase book, "Versions".
    """

    name = "ambiguous_key"
    code = "RK109"
    severity: ClassVar[Severity] = "error"
    claims = (58,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user:raw][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each key part whose end cannot be found in a row key."""
        ambiguous = iter(subject.properties.ambiguities)
        for notation, part in list(subject.iter_parts())[:-1]:
            if not part.framing.is_self_delimiting:
                yield self.build_finding(
                    "key",
                    next(ambiguous),
                    "Use an encoding with a terminator or a fixed width for this part.",
                    value=notation,
                    verdict=(
                        "The order of the fields is right, but a key needs terminators or "
                        "fixed widths to be decoded."
                    ),
                    fields=part.fields,
                )
