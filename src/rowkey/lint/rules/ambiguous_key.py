"""The rule `ambiguous_key`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class AmbiguousKey(Rule):
    """A key in which a part without an end runs into the next one.

    What it does: looks for parts whose bytes do not tell where they stop, anywhere but at the end.

    Why it hurts: user 1 with product 23 and user 12 with product 3 are one row, and the later put
    hides the earlier one. No key can be taken apart again, so no row can be read back.

    Use instead: the default encoding, which ends a text with a byte 00, or a fixed width.

    Source: claim 58 has user, product and time side by side without widths or ends; the rows that
    meet are versions of one row, of which `versions` are kept: HBase book, "Versions".
    """

    name = "ambiguous_key"
    code = "RK109"
    severity: ClassVar[Severity] = "error"
    claims = (58,)
    bad = """\
table  = "orders"
key    = "[bucket(user, 16)][user:raw][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""
    good = """\
table  = "orders"
key    = "[bucket(user, 16)][user][product]"
splits = "per_bucket"

[fields]
user    = { type = "text", max_bytes = 12 }
product = { type = "text", max_bytes = 12 }
amount  = "u32"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        ambiguous = iter(subject.properties.ambiguous)
        for notation, part in list(subject.parts())[:-1]:
            if not part.framing.closed:
                yield self.finding(
                    "key",
                    next(ambiguous),
                    "Use an encoding with an end or a fixed width.",
                    value=notation,
                    verdict=(
                        "The order of the fields is sound; without ends or widths they are no key."
                    ),
                    fields=part.fields,
                )
