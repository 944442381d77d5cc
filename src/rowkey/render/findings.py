"""Findings of the rules as text for people and as a JSON document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.messages import escape_text, shorten_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint import AllowedFinding, Finding, LintResult, Severity

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
    "findings[].what": "what the rule found",
    "findings[].evidence.*": "the figures by name",
    "findings[].remedy": "what to write instead",
    "findings[].verdict": "where today's HBase differs from what is often said",
    "allowed[].code": "the code of a rule whose finding the file allows",
    "allowed[].name": "its name",
    "allowed[].line": "line of the finding",
    "allowed[].path": "where, as dotted words",
    "allowed[].what": "what the rule found",
    "allowed[].reason": "the reason that the file gives",
    "allowed[].comment": "line of the comment that allows it",
    "sample.path": "the sample that was looked at; `sample` is null without one",
    "sample.events": "events it has",
    "sample.remark": "which rules need more events; null if there are enough",
}


def format_findings(path: str, lint_result: LintResult) -> Iterator[str]:
    """Yield the findings of a design file by severity, each with its file and line.

    Args:
        path: the design file, as it was given.
        lint_result: what the rules found.
    """
    if lint_result.sample is not None and lint_result.sample.remark:
        yield lint_result.sample.remark
    for severity, one, many in _SEVERITY_NAMES:
        group = [finding for finding in lint_result.findings if finding.severity == severity]
        if group:
            yield f"{len(group):,} {one if len(group) == 1 else many}"
        yield from (f"{_format_place(path, finding.line)}: {finding}" for finding in group)
    if lint_result.allowed_findings:
        yield f"{len(lint_result.allowed_findings):,} allowed"
    for allowed in lint_result.allowed_findings:
        why = shorten_text(allowed.reason) or "no reason given"
        place = _format_place(path, allowed.line)
        yield f"{place}: {allowed.finding.code} {allowed.finding.name}: {why}"


def _format_place(path: str, line: int) -> str:
    """Return `path:line`, or only the path if the line is unknown."""
    return f"{escape_text(path)}:{line}" if line else escape_text(path)


def build_findings_document(lint_result: LintResult) -> dict[str, Any]:
    """Return the rule findings of a design as `rowkey check -f json` prints them."""
    sample = lint_result.sample
    return {
        "findings": [_build_finding(one) for one in lint_result.findings],
        "allowed": [_build_allowed_finding(one) for one in lint_result.allowed_findings],
        "sample": None
        if sample is None
        else {"path": sample.path, "events": sample.event_count, "remark": sample.remark or None},
    }


def _build_finding(finding: Finding) -> dict[str, Any]:
    """Return the JSON document of one finding."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "line": finding.line or None,
        "path": finding.path,
        "value": to_plain_value(finding.value),
        "what": finding.message,
        "evidence": {name: to_plain_value(value) for name, value in finding.evidence.items()},
        "remedy": finding.remedy or None,
        "verdict": finding.verdict or None,
    }


def _build_allowed_finding(allowed: AllowedFinding) -> dict[str, Any]:
    """Return the document of a finding that a comment allows."""
    finding = allowed.finding
    return {
        "code": finding.code,
        "name": finding.name,
        "line": finding.line or None,
        "path": finding.path,
        "what": finding.message,
        "reason": allowed.reason or None,
        "comment": allowed.line,
    }


def to_plain_value(value: Any) -> Any:
    """Return a value as JSON types; other types become text."""
    if isinstance(value, dict):
        return {str(name): to_plain_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain_value(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return str(value)
