"""Findings of the preflight of a move: what speaks against it, and what to know before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

from rowkey.errors import Mistake


class FindingLevel(Enum):
    """How much a finding matters."""

    BLOCKING = "blocking"
    """The move is refused."""
    WARNING = "warning"
    """The move is possible, and something is different after it."""
    NOTE = "note"
    """Good to know."""


@dataclass(frozen=True, slots=True)
class MoveFinding:
    """One thing that a preflight found.

    Args:
        level: how much it matters.
        mistake: the place, what is there, what is allowed, and the fix.
    """

    level: FindingLevel
    mistake: Mistake

    @classmethod
    def build(
        cls, level: FindingLevel, path: str, problem: str, expected: str = "", remedy: str = ""
    ) -> Self:
        """Return a finding from the pieces of its sentence."""
        return cls(level, Mistake(path, problem, expected, remedy))

    def __str__(self) -> str:
        """Return the finding as one sentence, its level in front."""
        return f"{self.level.value}: {self.mistake}"
