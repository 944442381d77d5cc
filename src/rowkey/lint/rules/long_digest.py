"""The rule `long_digest`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import Order, Transform
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.keys import Part
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class LongDigest(Rule):
    """A digest is longer than it needs to be, or is written as hexadecimal digits.

    What it does: looks for digests of more than 4 bytes whose fields follow them whole in the key,
    and for digests that replace their fields and are written as hexadecimal digits.

    Why it hurts: before the field itself a digest only spreads rows. 2 bytes have 65,536 values and
    4 have 4 billion, more than any number of regions, and every further byte is stored in every
    cell. Digits take twice the space and need splits for digits. If the field is nowhere in the
    key, it cannot be read back and is also stored in a column.

    Use instead: `digest(field, 4)` before the field, or a bucket, which ordered scans can
    enumerate; where the digest replaces the field, its raw bytes.

    Source: claim 53 puts MD5 as 32 digits in front, against its own 16 bytes of key: 2 to 4 raw
    bytes suffice. Claim 56 splits such digits at 00..90, which leaves 43.75 % to the last region.
    """

    name = "long_digest"
    code = "RK119"
    severity: ClassVar[Severity] = "info"
    claims = (53, 56)
    bad_design = """\
table  = "users"
key    = "[digest(user, 16, as=hex)][user]"
splits = { algorithm = "hex_string", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    SUFFICIENT_BYTES = 4
    """Bytes that are enough to spread rows: 4 billion values, far more than regions."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each digest with more bytes than it needs."""
        parts = list(subject.iter_parts())
        for index, (notation, part) in enumerate(parts):
            width = part.framing.width
            is_digest = bool(part.fields) and all(part.residue(n).is_total for n in part.fields)
            if (
                not is_digest
                or width is None
                or width <= self.SUFFICIENT_BYTES
                or part.order != Order.NONE
            ):
                continue
            later_parts = [one for _, one in parts[index + 1 :]]
            complete_fields = {
                n for one in later_parts for n in one.fields if one.residue(n).is_empty
            }
            names = " and ".join(part.fields)
            is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
            if complete_fields.issuperset(part.fields):
                yield self.build_finding(
                    "key",
                    f"{notation} takes {width} bytes of every cell only to spread rows, because "
                    f"{names} itself follows in the key",
                    f"Write [digest({', '.join(part.fields)}, {self.SUFFICIENT_BYTES})] "
                    f"instead{self._format_split_advice(subject, part)}, or use a bucket.",
                    value=notation,
                    verdict=f"2 to 4 raw bytes spread as well as {width}"
                    f"{' digits' if is_hex else ''}.",
                    bytes=width,
                )
            elif is_hex:
                yield self.build_finding(
                    "key",
                    f"{notation} writes {width // 2} bytes of digest as {width} digits in each "
                    f"cell; {names} cannot be read back from the digest, so a column stores it "
                    "too",
                    f"Remove as=hex, or put [digest({', '.join(part.fields)}, "
                    f"{self.SUFFICIENT_BYTES})] before {names} "
                    f"itself{self._format_split_advice(subject, part)}.",
                    value=notation,
                    verdict=f"{width // 2} raw bytes distinguish as many values as {width} digits.",
                    bytes=width,
                )

    @staticmethod
    def _format_split_advice(subject: LintSubject, part: Part) -> str:
        """Return a phrase with new splits if the present ones were chosen for digits."""
        is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
        advice = subject.format_split_advice(part) if is_hex else ""
        # RK201 names splits for the digits, which bytes would miss again.
        has_missed = bool(advice) and "missed_splits" in subject.causes
        return f"{advice} in place of what RK201 says" if has_missed else advice
