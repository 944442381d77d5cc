"""The rule `long_digest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.keys import Order, Transform
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.keys import Part
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class LongDigest(Rule):
    """A digest longer than it needs to be: in front of the field it is of, or spelled in digits.

    What it does: looks for digests whose fields stand whole behind them, of more than 4 bytes, and
    for those that stand for their fields and are written as hexadecimal digits.

    Why it hurts: in front of the field itself a digest only spreads rows. 2 bytes have 65,536
    places and 4 have 4 billion, which is beyond any number of regions; every byte more is in every
    cell. As digits, each takes twice the room, and splits must be made for digits. Where the field
    itself is nowhere in the key, it cannot be read back, and is stored once more in a column.

    Use instead: `digest(field, 4)` in front of the field, or a bucket, of which a scan in order can
    ask each; in place of the field, the raw bytes.

    Source: claim 53 puts MD5 as 32 digits in front, against its own 16 bytes of key: 2 to 4 raw
    bytes suffice. Claim 56 splits such digits at 00..90, which leaves 43.75 % to the last region.
    """

    name = "long_digest"
    code = "RK119"
    severity: ClassVar[Severity] = "info"
    claims = (53, 56)
    bad = """\
table  = "users"
key    = "[digest(user, 16, as=hex)][user]"
splits = { algorithm = "hex_string", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    good = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    ENOUGH = 4
    """Bytes whose 4 billion places are beyond any number of regions."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        parts = list(subject.parts())
        for index, (shown, part) in enumerate(parts):
            width = part.framing.width
            is_digest = bool(part.fields) and all(part.residue(n).everything for n in part.fields)
            if not is_digest or width is None or width <= self.ENOUGH or part.order != Order.NONE:
                continue
            behind = [one for _, one in parts[index + 1 :]]
            whole = {n for one in behind for n in one.fields if one.residue(n).nothing}
            names = " and ".join(part.fields)
            is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
            if whole.issuperset(part.fields):
                yield self.finding(
                    "key",
                    f"{shown} takes {width} bytes of every cell to spread rows, and {names} stands "
                    "whole behind it",
                    f"Write [digest({', '.join(part.fields)}, {self.ENOUGH})] in its place"
                    f"{self._splits(subject, part)}, or take a bucket.",
                    value=shown,
                    verdict=f"2 to 4 raw bytes spread as well as {width}"
                    f"{' digits' if is_hex else ''}.",
                    bytes=width,
                )
            elif is_hex:
                yield self.finding(
                    "key",
                    f"{shown} spells {width // 2} bytes of digest as {width} digits, in each cell, "
                    f"and {names} is stored besides, for it cannot be read back",
                    f"Leave as=hex out; or put [digest({', '.join(part.fields)}, {self.ENOUGH})] "
                    f"in front of {names} itself{self._splits(subject, part)}.",
                    value=shown,
                    verdict=f"{width // 2} raw bytes tell as many values apart as {width} digits.",
                    bytes=width,
                )

    @staticmethod
    def _splits(subject: Subject, part: Part) -> str:
        """What is said of the splits where those that stand were made for digits."""
        is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
        return subject.cut_for_bytes(part) if is_hex else ""
