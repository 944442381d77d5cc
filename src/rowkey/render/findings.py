"""Findings of the rules as text for people and as a JSON document for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rowkey.messages import escape_text, shorten_text
from rowkey.render.redaction import NO_REDACTION, Redaction, to_plain_value

if TYPE_CHECKING:
    from rowkey.findings import Finding, Severity
    from rowkey.lint import LintResult

_SEVERITY_NAMES: tuple[tuple[Severity, str, str], ...] = (
    ("error", "error", "errors"),
    ("warning", "warning", "warnings"),
    ("info", "remark", "remarks"),
)

FINDINGS_FIELDS = {
    "findings[].code": "the rule's code",
    "findings[].name": "the rule's name, as a comment in the file may allow it",
    "findings[].severity": "error, warning or info",
    "findings[].line": "line of the file",
    "findings[].path": "where, as dotted words",
    "findings[].value": "the value it is about; null if it is about none",
    "findings[].message": "what the rule found",
    "findings[].evidence.*": "the figures by name",
    "findings[].remedy": "what to write instead",
    "findings[].verdict": "where today's HBase differs from what is often said",
    "allowed[].code": "the code of a rule whose finding the file allows",
    "allowed[].name": "its name",
    "allowed[].line": "line of the finding",
    "allowed[].path": "where, as dotted words",
    "allowed[].message": "what the rule found",
    "allowed[].reason": "the reason that the file gives",
    "allowed[].comment": "line of the comment that allows it",
    "sample.path": "the sample that was looked at; `sample` is null without one",
    "sample.events": "events it has",
    "sample.remark": "which rules need more events; null if there are enough",
}


def format_findings(path: str, lint_result: LintResult) -> Iterator[str]:
    """Yield the findings of a design file by severity, each with its file and line.

    Args:
        path: the design file, as the user wrote it.
    """
    if lint_result.sample is not None and lint_result.sample.remark:
        yield lint_result.sample.remark
    for severity, singular, plural in _SEVERITY_NAMES:
        group = [finding for finding in lint_result.findings if finding.severity == severity]
        if group:
            yield f"{len(group):,} {singular if len(group) == 1 else plural}"
        yield from (f"{_format_place(path, finding.line)}: {finding}" for finding in group)
    if lint_result.allowed_findings:
        yield f"{len(lint_result.allowed_findings):,} allowed"
    for allowed in lint_result.allowed_findings:
        why = shorten_text(allowed.allowed_reason or "") or "no reason given"
        place = _format_place(path, allowed.allowed_line)
        yield f"{place}: {allowed.code} {allowed.name}: {why}"


def _format_place(path: str, line: int) -> str:
    """Return `path:line`, or only the path if the line is unknown."""
    return f"{escape_text(path)}:{line}" if line else escape_text(path)


def build_findings_document(
    lint_result: LintResult, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return the rule findings of a design as `rowkey check -f json` prints them."""
    sample = lint_result.sample
    return {
        "findings": [_build_finding(one, redaction) for one in lint_result.findings],
        "allowed": [_build_allowed(one, redaction) for one in lint_result.allowed_findings],
        "sample": None
        if sample is None
        else {
            "path": redaction.omit_text(sample.path),
            "events": sample.event_count,
            "remark": sample.remark or None,
        },
    }


def _build_finding(finding: Finding, redaction: Redaction) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "line": finding.line or None,
        "path": redaction.omit_text(finding.path) or "",
        "value": None if redaction.is_hiding else to_plain_value(finding.value),
        "message": redaction.omit_text(finding.message),
        "evidence": redaction.redact_evidence(finding.evidence),
        "remedy": redaction.omit_text(finding.remedy),
        "verdict": redaction.omit_text(finding.verdict),
    }


def _build_allowed(allowed: Finding, redaction: Redaction) -> dict[str, Any]:
    finding = _build_finding(allowed, redaction)
    names = ("code", "name", "line", "path", "message")
    return {
        **{name: finding[name] for name in names},
        "reason": redaction.omit_text(allowed.allowed_reason or ""),
        "comment": allowed.allowed_line,
    }
