"""A finding: what is wrong in a design, a table or a move, where it is, and how to fix it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Self

from rowkey.errors import Mistake
from rowkey.messages import shorten_text

Severity = Literal["info", "warning", "error"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""Severities, the least first; an error makes a design useless, loses rows or stops a move."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, with its fix.

    Args:
        code: the code of the rule, or the name of the cause; empty for what a move is checked for.
        message: the problem with its figures, as sentences; the last full stop may be missing.
        remedy: what to write instead, as a sentence; empty if nothing is better.
        path: the place in the design, as dotted names and indexes: `families.d.ttl`.
        severity: how much it matters.
        name: the rule's name, as a comment that allows it writes it; empty if no rule found it.
        expected: what is allowed at that place, or an empty string.
        value: the value it is about, as the file has it; None if there is none.
        evidence: the figures by name.
        verdict: where today's HBase differs from the sources, as a sentence.
        line: line of the file, from 1; 0 if there is no file.
        column: character of that line with which it begins, from 1; 0 if unknown.
        needs_key: whether another key is the remedy; `JudgedDesign` then names the one that the
            search recommends.
        allowed_reason: the reason why a comment in the file allows it; None where none does.
        allowed_line: the line of that comment.
    """

    code: str
    message: str
    remedy: str = ""
    _: KW_ONLY
    path: str = ""
    severity: Severity = "warning"
    name: str = ""
    expected: str = ""
    value: Any = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    verdict: str = ""
    line: int = 0
    column: int = 0
    needs_key: bool = False
    allowed_reason: str | None = None
    allowed_line: int = 0

    def __post_init__(self) -> None:
        """Make the texts printable, because values of a file may be in them."""
        for piece in ("path", "message", "remedy", "verdict"):
            object.__setattr__(self, piece, shorten_text(getattr(self, piece)))

    @classmethod
    def from_mistake(cls, mistake: Mistake, severity: Severity = "error", code: str = "") -> Self:
        """Return a mistake as a finding.

        >>> print(Finding.from_mistake(Mistake("key", "is empty", "a field", "Name one.")))
        key: is empty; expected a field. Name one.
        """
        return cls(
            code,
            mistake.problem,
            mistake.remedy,
            path=mistake.path,
            severity=severity,
            name=code,
            expected=mistake.expected,
            line=mistake.line,
            column=mistake.column,
        )

    def to_mistake(self) -> Mistake:
        """Return the finding as a mistake, which an error can list."""
        return Mistake(self.path, self.message, self.expected, self.remedy, self.line, self.column)

    @property
    def rank(self) -> int:
        """Return the severity as a number: 0 for info, 2 for error."""
        return SEVERITIES.index(self.severity)

    @property
    def sentence(self) -> str:
        """Return the message, what is expected, the remedy and the verdict as one text."""
        text = f"{self.message}; expected {self.expected}" if self.expected else self.message
        stop = "" if text.endswith((".", "…")) else "."
        return " ".join(filter(None, (f"{text}{stop}", self.remedy, self.verdict)))

    def __str__(self) -> str:
        """Return the finding on one line: path, code, name, message and fix."""
        names = " ".join(filter(None, (self.code, self.name)))
        return ": ".join(filter(None, (self.path, names, self.sentence)))
