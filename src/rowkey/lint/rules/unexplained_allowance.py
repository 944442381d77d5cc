"""The rule `unexplained_allowance`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UnexplainedAllowance(Rule):
    """An allow comment gives no reason.

    What it does: reads the comments `# rowkey: allow NAME - reason` of a design file.

    Why it hurts: a year later nobody knows whether the reason still holds, and nobody dares to
    delete the comment.

    Use instead: a dash and the reason after the name.

    Source: our own; a finding that is allowed for a reason is knowledge, without one it is noise.
    """

    name = "unexplained_allowance"
    code = "RK001"
    severity: ClassVar[Severity] = "warning"
    runs_last = True
    bad_design = """\
table = "audit"
key   = "[ts][id]"  # rowkey: allow monotone-lead

[fields]
ts = "timestamp_ms"
id = "u32"
"""
    good_design = """\
table = "audit"
key   = "[ts][id]"  # rowkey: allow monotone-lead - ten rows a day, read in order once a month

[fields]
ts = "timestamp_ms"
id = "u32"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each allow comment without a reason."""
        for one in subject.allowances:
            if not one.reason:
                yield self.build_finding(
                    subject.find_path_at(one.covered_line),
                    f"the comment on line {one.line} allows {', '.join(one.rule_names)} "
                    "without a reason",
                    "Add a dash and the reason after the rule's name.",
                    line=one.line,
                )
