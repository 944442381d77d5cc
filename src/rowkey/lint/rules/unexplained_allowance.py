"""The rule `unexplained_allowance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnexplainedAllowance(Rule):
    """A comment that allows something and gives no reason.

    What it does: reads the comments `# rowkey: allow NAME - reason` of a design file.

    Why it hurts: a year later nobody knows whether the reason still holds, and nobody dares to
    take the comment away.

    Use instead: a dash and the reason behind the name.

    Source: our own; a finding that is allowed for a reason is knowledge, without one it is noise.
    """

    name = "unexplained_allowance"
    code = "RK001"
    severity: ClassVar[Severity] = "warning"
    after_others = True
    bad = """\
table = "audit"
key   = "[ts][id]"  # rowkey: allow monotone-lead

[fields]
ts = "timestamp_ms"
id = "u32"
"""
    good = """\
table = "audit"
key   = "[ts][id]"  # rowkey: allow monotone-lead - ten rows a day, read in order once a month

[fields]
ts = "timestamp_ms"
id = "u32"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for one in subject.allowances:
            if not one.why:
                yield self.finding(
                    subject.path_at(one.covers),
                    f"line {one.line} allows {', '.join(one.names)} and does not say why",
                    "Write a dash and the reason behind it.",
                    line=one.line,
                )
