"""What the rules say of a design, as text for people and as a document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import escaped, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint import Allowed, Finding, Findings, Severity

_GROUPS: tuple[tuple[Severity, str, str], ...] = (
    ("error", "error", "errors"),
    ("warning", "warning", "warnings"),
    ("info", "remark", "remarks"),
)

FINDINGS = {
    "findings[].code": "the rule's code",
    "findings[].name": "the rule's name, as a comment in the file may allow it",
    "findings[].severity": "error, warning or info",
    "findings[].line": "line of the file",
    "findings[].path": "where, as dotted words",
    "findings[].value": "the value it is about; null if it is about none",
    "findings[].what": "what is the case",
    "findings[].evidence.*": "the figures by name",
    "findings[].remedy": "what to write instead",
    "findings[].verdict": "where today's HBase differs from what is often said",
    "allowed[].code": "the code of a rule whose finding the file allows",
    "allowed[].name": "its name",
    "allowed[].line": "line of the finding",
    "allowed[].path": "where, as dotted words",
    "allowed[].what": "what is the case",
    "allowed[].why": "the reason that the file gives",
    "allowed[].comment": "line of the comment that allows it",
    "sample.path": "the sample that was looked at; `sample` is null without one",
    "sample.events": "events it has",
    "sample.remark": "what they are too few for; null if they are not",
}


def finding_lines(path: str, found: Findings) -> Iterator[str]:
    """The findings in one file, the gravest first, each on a line that an editor can jump to.

    Args:
        path: the design file, as it was given.
        found: what the rules found.
    """
    if found.seen is not None and found.seen.remark:
        yield found.seen.remark
    for severity, one, many in _GROUPS:
        group = [finding for finding in found.found if finding.severity == severity]
        if group:
            yield f"{len(group):,} {one if len(group) == 1 else many}"
        yield from (f"{_place(path, finding.line)}: {finding}" for finding in group)
    if found.allowed:
        yield f"{len(found.allowed):,} allowed"
    for allowed in found.allowed:
        why = printable(allowed.why) or "no reason given"
        place = _place(path, allowed.line)
        yield f"{place}: {allowed.finding.code} {allowed.finding.name}: {why}"


def _place(path: str, line: int) -> str:
    return f"{escaped(path)}:{line}" if line else escaped(path)


def findings_document(found: Findings) -> dict[str, Any]:
    """What the rules found, as `rowkey check -f json` prints it."""
    seen = found.seen
    return {
        "findings": [_finding(one) for one in found.found],
        "allowed": [_allowed(one) for one in found.allowed],
        "sample": None
        if seen is None
        else {"path": seen.name, "events": seen.events, "remark": seen.remark or None},
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "code": one.code,
        "name": one.name,
        "severity": one.severity,
        "line": one.line or None,
        "path": one.path,
        "value": plain_value(one.value),
        "what": one.what,
        "evidence": {name: plain_value(value) for name, value in one.evidence.items()},
        "remedy": one.remedy or None,
        "verdict": one.verdict or None,
    }


def _allowed(one: Allowed) -> dict[str, Any]:
    found = one.finding
    return {
        "code": found.code,
        "name": found.name,
        "line": found.line or None,
        "path": found.path,
        "what": found.what,
        "why": one.why or None,
        "comment": one.line,
    }


def plain_value(value: Any) -> Any:
    """A value as JSON has it: what it has no word for as text, lists and tables of such inside."""
    if isinstance(value, dict):
        return {str(name): plain_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return str(value)
