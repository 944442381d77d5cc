"""Is it well designed? What experience knows of table designs, said of one."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.lint.allowances import Allowance
    from rowkey.lint.contract import Rule, Sections, spoken
    from rowkey.lint.finding import SEVERITIES, Finding, Severity
    from rowkey.lint.fixing import Mended, mended
    from rowkey.lint.rewriting import rewritten
    from rowkey.lint.rules import KINDS as RULES
    from rowkey.lint.run import Allowed, Findings, check, chosen
    from rowkey.lint.seen import Seen, look
    from rowkey.lint.subject import PlannedRead, Subject
else:
    __getattr__ = lazily(
        __name__,
        {
            "allowances": "Allowance",
            "contract": "Rule Sections spoken",
            "finding": "SEVERITIES Finding Severity",
            "fixing": "Mended mended",
            "rewriting": "rewritten",
            "rules": "KINDS=RULES",
            "run": "Allowed Findings check chosen",
            "seen": "Seen look",
            "subject": "PlannedRead Subject",
        },
    )

__all__ = [
    "RULES",
    "SEVERITIES",
    "Allowance",
    "Allowed",
    "Finding",
    "Findings",
    "Mended",
    "PlannedRead",
    "Rule",
    "Sections",
    "Seen",
    "Severity",
    "Subject",
    "check",
    "chosen",
    "look",
    "mended",
    "rewritten",
    "spoken",
]
