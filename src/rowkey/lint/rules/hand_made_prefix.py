"""The rule `hand_made_prefix`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Parameter, Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject, PlannedRead


class HandMadePrefix(Rule):
    """A range is written as a prefix search with a hand-made end.

    What it does: looks for ranges of a text, written in the read, whose end is the start with a
    character appended that is taken for the highest: `uid1~` and `uid1~~`.

    Why it hurts: keys compare as unsigned bytes. `~` is 7E, so every letter that is not ASCII sorts
    after that end: its rows are missing, without an error.

    Use instead: `field starts with 'uid1~'`. That range ends at the prefix with its last byte
    raised by one, after every key with the prefix.

    Source: claim 47 scans from "uid1~" to "uid1~~", which is wrong from 7E on. ClientUtil: the
    closest next row key for a prefix.
    """

    name = "hand_made_prefix"
    code = "RK609"
    severity: ClassVar[Severity] = "warning"
    claims = (47,)
    bad_design = """\
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
    good_design = """\
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

    HIGHEST_CHARACTERS = frozenset("~|{}z\x7f\xff\uffff\U0010ffff")
    """Characters that are used as the highest one in a hand-made range end."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each range that imitates a prefix with a hand-made end."""
        for one in subject.reads:
            for name, bound in one.bounds.items():
                if not isinstance(bound, Range) or not self._is_literal(one, name):
                    continue
                low, high = bound.low, bound.high
                if not isinstance(low, str) or not isinstance(high, str) or not low:
                    continue
                if (
                    high != low
                    and high.startswith(low)
                    and self.HIGHEST_CHARACTERS.issuperset(high[len(low) :])
                ):
                    yield self.build_finding(
                        f"{one.path}.where",
                        f"the read '{one.read.name}' asks for {name} from {low!r} to {high!r}, "
                        f"which misses the values that start with {low!r} but sort after "
                        f"{high!r}",
                        f"Write {name} starts with '{low}' if you mean the prefix.",
                        value=one.read.name,
                        verdict=(
                            "A prefix range ends at the prefix with its last byte raised by one."
                        ),
                        field=name,
                        low=low,
                        high=high,
                    )

    @staticmethod
    def _is_literal(planned_read: PlannedRead, name: str) -> bool:
        """Return whether all conditions of a read on one field have written-out values."""
        conditions = [each for each in planned_read.read.conditions if each.field == name]
        return not any(isinstance(o, Parameter) for each in conditions for o in each.operands)
