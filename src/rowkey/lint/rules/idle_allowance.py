"""The rule `idle_allowance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class IdleAllowance(Rule):
    """A comment that allows what is not found there.

    What it does: looks, once all rules have run, for names in `# rowkey: allow NAME - reason` that
    had nothing to allow, on their line or on the line below their comment.

    Why it hurts: it stays when the design was mended, and allows the mistake the next time it is
    made.

    Use instead: nothing; take the name away, or put the comment on the line of the finding.

    Source: our own, as `unused-noqa` of linters of code.
    """

    name = "idle_allowance"
    code = "RK002"
    severity: ClassVar[Severity] = "warning"
    after_others = True
    bad = """\
table  = "audit"
# rowkey: allow monotone-lead - it was time first once
key    = "[bucket(id, 16)][id][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
id   = "u32"
text = { type = "text", max_bytes = 100 }
"""
    good = """\
table  = "audit"
key    = "[bucket(id, 16)][id][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
id   = "u32"
text = { type = "text", max_bytes = 100 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for one in subject.allowances:
            for name in one.names:
                if name not in one.used:
                    yield self.finding(
                        subject.path_at(one.covers),
                        f"line {one.line} allows {name}, which is not found on line {one.covers}",
                        "Take the name away, or put the comment where the finding is.",
                        value=name,
                        line=one.line,
                    )
