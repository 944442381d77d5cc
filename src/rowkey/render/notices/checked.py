"""What is to be told of checked files, whatever form it is told in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.design import Written
    from rowkey.errors import Mistake
    from rowkey.lint import Finding, Findings, Severity

MISTAKE = "mistake"
"""What stands for a rule's code where a file is no design at all."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One file that was checked.

    Args:
        path: the file, as it was given.
        mistakes: why it is no design; none if it is one.
        judged: what the rules found; None if the file is no design.
        written: what stands in the file; None where it is no design.
    """

    path: str
    mistakes: tuple[Mistake, ...] = ()
    judged: Findings | None = None
    written: Written | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to be told of a file, whether a rule found it or it could not be read.

    Args:
        path: the file, as it was given.
        line: its line, from 1; 0 if it has none.
        code: the rule's code, or that of a mistake.
        name: the rule's name.
        severity: how much it matters.
        where: where in the design, as dotted words.
        text: what is the case, and what would help.
        evidence: the figures by name.
        allowed: the reason why the file allows it; None where it does not.
        column: the character of its line with which it begins, from 1; 0 if it is not known.
    """

    path: str
    line: int
    code: str
    name: str
    severity: Severity
    where: str
    text: str
    evidence: Mapping[str, Any]
    allowed: str | None = None
    column: int = 0


def notices_of(one: Checked) -> Iterator[Notice]:
    """What is to be told of a file: its mistakes, or what the rules found; not what it allows."""
    for mistake in one.mistakes:
        yield Notice(
            one.path,
            mistake.line,
            MISTAKE,
            MISTAKE,
            "error",
            mistake.path,
            str(mistake),
            {},
            column=mistake.column,
        )
    if one.judged is not None:
        yield from (_notice(one.path, found) for found in one.judged.found)


def allowed_in(one: Checked) -> Iterator[Notice]:
    """What the rules found in a file and it allows."""
    for allowed in one.judged.allowed if one.judged is not None else ():
        yield _notice(one.path, allowed.finding, allowed.why)


def _notice(path: str, found: Finding, allowed: str | None = None) -> Notice:
    return Notice(
        path,
        found.line,
        found.code,
        found.name,
        found.severity,
        found.path,
        found.sentence,
        found.evidence,
        allowed,
    )
