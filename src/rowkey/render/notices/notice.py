"""Notices on checked files, independent of the output format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rowkey.design import DesignSource
    from rowkey.errors import Mistake
    from rowkey.lint import Finding, LintResult, Severity

MISTAKE_CODE = "mistake"
"""What stands for a rule's code where a file is not a valid design."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A checked design file with its mistakes or rule findings.

    Args:
        path: the file, as it was given.
        mistakes: why it is no design; none if it is one.
        lint_result: what the rules found; None if the file is no design.
        file_text: what stands in the file; None where it is no design.
    """

    path: str
    mistakes: tuple[Mistake, ...] = ()
    lint_result: LintResult | None = None
    file_text: DesignSource | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A mistake or finding in a design file, independent of the output format.

    Args:
        path: the file, as it was given.
        line: its line, from 1; 0 if it has none.
        code: the rule's code, or that of a mistake.
        name: the rule's name.
        severity: how much it matters.
        design_path: where in the design, as dotted words.
        text: what is the case, and what would help.
        evidence: the figures by name.
        allowed_reason: the reason why the file allows it; None where it does not.
        column: the character of its line with which it begins, from 1; 0 if it is not known.
    """

    path: str
    line: int
    code: str
    name: str
    severity: Severity
    design_path: str
    text: str
    evidence: Mapping[str, Any]
    allowed_reason: str | None = None
    column: int = 0


def list_notices(checked_file: CheckedFile) -> Iterator[Notice]:
    """Yield the mistakes or findings of a file as notices, without allowed findings."""
    for mistake in checked_file.mistakes:
        yield Notice(
            checked_file.path,
            mistake.line,
            MISTAKE_CODE,
            MISTAKE_CODE,
            "error",
            mistake.path,
            str(mistake),
            {},
            column=mistake.column,
        )
    if checked_file.lint_result is not None:
        yield from (
            _build_notice(checked_file.path, finding)
            for finding in checked_file.lint_result.findings
        )


def list_allowed_notices(checked_file: CheckedFile) -> Iterator[Notice]:
    """Yield the findings that a comment in the file allows, as notices."""
    for allowed in (
        checked_file.lint_result.allowed_findings if checked_file.lint_result is not None else ()
    ):
        yield _build_notice(checked_file.path, allowed.finding, allowed.reason)


def _build_notice(path: str, finding: Finding, allowed_reason: str | None = None) -> Notice:
    """Return the notice of a finding."""
    return Notice(
        path,
        finding.line,
        finding.code,
        finding.name,
        finding.severity,
        finding.path,
        finding.sentence,
        finding.evidence,
        allowed_reason,
    )
