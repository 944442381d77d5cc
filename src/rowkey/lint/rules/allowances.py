"""Rules on comments that allow findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
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


class IdleAllowance(Rule):
    """An allow comment names a rule that finds nothing there.

    What it does: looks, after all rules have run, for names in `# rowkey: allow NAME - reason` that
    matched no finding on their line or on the line below their comment. Of a rule that looks at a
    sample this is only said with one.

    Why it hurts: the comment stays after the design was fixed, and hides the same mistake the next
    time.

    Use instead: nothing; delete the name, or move the comment to the line of the finding.

    Source: our own, as `unused-noqa` of linters of code.
    """

    name = "idle_allowance"
    code = "RK002"
    severity: ClassVar[Severity] = "warning"
    runs_last = True
    bad_design = """\
table  = "audit"
# rowkey: allow colliding-keys - it had only a second once
key    = "[bucket(id, 16)][id][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
id   = "u32"
text = { type = "text", max_bytes = 100 }
"""
    good_design = """\
table  = "audit"
key    = "[bucket(id, 16)][id][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
id   = "u32"
text = { type = "text", max_bytes = 100 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each allow comment that matches no finding."""
        if subject.design.source is None:
            return  # its file allows findings of the design that this one was changed from
        for one in subject.allowances:
            for name in one.find_unused_names():
                yield self.build_finding(
                    subject.find_path_at(one.covered_line),
                    f"the comment on line {one.line} allows {name}, but that rule finds "
                    f"nothing on line {one.covered_line}",
                    "Delete the name from the comment, or move the comment to the line of "
                    "the finding.",
                    value=name,
                    line=one.line,
                )
