"""The rule `missed_splits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class MissedSplits(Rule):
    """Splits that lie where no keys are.

    What it does: asks the leading part which bytes it can have, and puts them into the declared
    regions.

    Why it hurts: regions without a key are empty for ever, and the others take their load. Splits
    00, 10 … 90 under hexadecimal digits leave the last region 43.75 % of all rows, and the first
    none.

    Use instead: `per_bucket` where the first part is one of a number; `hex_string` for hexadecimal
    digits, `decimal_string` for decimal ones, `uniform` for raw bytes, else a sample.

    Source: claim 56 splits hexadecimal digits at 00..90; claim 71 chooses the algorithm by the sort
    of prefix, which agrees. The shares are computed. RegionSplitter.java.
    """

    name = "missed_splits"
    code = "RK201"
    severity: ClassVar[Severity] = "warning"
    claims = (56, 71)
    cause = "missed_splits"
    bad = """\
table  = "users"
key    = "[digest(user, 4, as=hex)][user]"
splits = ["00", "10", "20", "30", "40", "50", "60", "70", "80", "90"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 11
"""
    good = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    also = ("RK119",)

    def findings(self, subject: Subject) -> Iterator[Finding]:
        found = subject.causes.get(self.cause)
        if found is not None:
            yield self.finding(
                subject.nearest("splits") if subject.says("splits") else "key",
                found.message,
                found.remedy,
                severity="info" if "assumed" in found.evidence else None,
                value=subject.words.get("splits"),
                verdict="Choose the algorithm by the bytes that keys begin with.",
                **found.evidence,
            )
