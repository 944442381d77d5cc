"""Is it well designed? What experience knows of table designs, said of one."""

from rowkey.lint.allowances import Allowance
from rowkey.lint.contract import Rule, Sections, spoken
from rowkey.lint.finding import SEVERITIES, Finding, Severity
from rowkey.lint.fixing import Mended, mended
from rowkey.lint.rewriting import rewritten
from rowkey.lint.rules import KINDS as RULES
from rowkey.lint.run import Allowed, Findings, check, chosen
from rowkey.lint.seen import Seen, look
from rowkey.lint.subject import PlannedRead, Subject

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
