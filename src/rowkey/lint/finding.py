"""A finding: where it is, what is wrong, and how to fix it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rowkey.messages import shorten_text

Severity = Literal["info", "warning", "error"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""Severities, the least first; an error makes a design useless or loses rows."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that a rule found in a design, with its fix.

    Args:
        code: the rule's code.
        name: the rule's name, as a comment that allows it writes it.
        severity: how much it matters.
        path: the place in the design, as dotted names and indexes: `families.d.ttl`.
        message: the problem with its figures, as a sentence without its full stop.
        remedy: what to write instead, as a sentence; empty if nothing is better.
        value: the value it is about, as the file has it; None if there is none.
        evidence: the figures by name.
        verdict: where today's HBase differs from the sources, as a sentence.
        line: line of the file, from 1; 0 if there is no file.
        needs_key: whether another key is the remedy; `JudgedDesign` then names the one that the
            search recommends.
    """

    code: str
    name: str
    severity: Severity
    path: str
    message: str
    remedy: str = ""
    value: Any = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    verdict: str = ""
    line: int = 0
    needs_key: bool = False

    def __post_init__(self) -> None:
        """Make the texts printable, because values of a file may be in them."""
        for piece in ("path", "message", "remedy", "verdict"):
            object.__setattr__(self, piece, shorten_text(getattr(self, piece)))

    @property
    def rank(self) -> int:
        """Return the severity as a number: 0 for info, 2 for error."""
        return SEVERITIES.index(self.severity)

    @property
    def sentence(self) -> str:
        """Return the message, the remedy and the verdict on the sources as one text."""
        stop = "" if self.message.endswith((".", "…")) else "."
        return " ".join(filter(None, (f"{self.message}{stop}", self.remedy, self.verdict)))

    def __str__(self) -> str:
        """Return the finding on one line: path, code, name, message and fix."""
        return ": ".join(filter(None, (self.path, f"{self.code} {self.name}", self.sentence)))
