"""The rule `hand_made_prefix`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Parameter, Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import PlannedRead, Subject


class HandMadePrefix(Rule):
    """A range that is meant as a prefix and ends at a character that is taken for the last.

    What it does: looks for two ends of a text written in the read, of which the later is the
    earlier one with something behind it: `uid1~` and `uid1~~`.

    Why it hurts: the order is that of unsigned bytes. `~` is 7E, and every byte above it, so every
    letter that is not ASCII, sorts behind that end: those rows are missing, and nothing says so.

    Use instead: `field starts with 'uid1~'`. Its range stops at the prefix with its last byte
    raised by one, behind everything that begins with the prefix.

    Source: claim 47 scans from "uid1~" to "uid1~~", which is wrong from 7E on. ClientUtil: the
    closest next row key for a prefix.
    """

    name = "hand_made_prefix"
    code = "RK609"
    severity: ClassVar[Severity] = "warning"
    claims = (47,)
    bad = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[[reads]]
name  = "clubs that a fan follows"
where = "fan = ? and star >= 'club~' and star < 'club~~'"
"""
    good = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[[reads]]
name  = "clubs that a fan follows"
where = "fan = ? and star starts with 'club~'"
"""

    LAST = frozenset("~|{}z\x7f\xff\uffff\U0010ffff")
    """Characters that are taken for the last one."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for index, one in enumerate(subject.reads):
            for name, bound in one.bounds.items():
                if not isinstance(bound, Range) or not self._is_written(one, name):
                    continue
                low, high = bound.low, bound.high
                if not isinstance(low, str) or not isinstance(high, str) or not low:
                    continue
                if high != low and high.startswith(low) and self.LAST.issuperset(high[len(low) :]):
                    yield self.finding(
                        subject.at("reads", index, "where"),
                        f"{one.read.name} asks {name} from {low!r} to {high!r}: what begins with "
                        f"{low!r} and sorts behind {high!r} is missing",
                        f"Write {name} starts with '{low}', if the prefix is meant.",
                        value=one.read.name,
                        verdict="A range of a prefix stops at the prefix with its last byte raised "
                        "by one.",
                        field=name,
                        low=low,
                        high=high,
                    )

    @staticmethod
    def _is_written(one: PlannedRead, name: str) -> bool:
        """Whether all that is compared with a field stands in the read."""
        conditions = [each for each in one.read.conditions if each.field == name]
        return not any(isinstance(o, Parameter) for each in conditions for o in each.operands)
