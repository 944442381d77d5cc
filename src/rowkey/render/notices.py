"""Findings as other tools read them: GitHub annotations, JUnit, SARIF."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rowkey import lint
from rowkey.errors import Mistake
from rowkey.findings import SEVERITIES, Finding
from rowkey.messages import escape_text, shorten_text
from rowkey.render.redaction import to_plain_value

if TYPE_CHECKING:
    from rowkey.design import DesignSource, TextRange
    from rowkey.findings import Severity
    from rowkey.lint import LintResult, Rule


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

    @property
    def findings(self) -> list[Finding]:
        """Return its mistakes as findings, or what the rules found and no comment allows."""
        if self.lint_result is not None:
            return list(self.lint_result.findings)
        return [Finding.from_mistake(one, code=MISTAKE_CODE) for one in self.mistakes]


_COMMAND_NAMES = {"error": "error", "warning": "warning", "info": "notice"}
"""Severities as GitHub has them."""


def format_github_commands(checked_files: Iterable[CheckedFile]) -> Iterator[str]:
    """Yield the findings as GitHub workflow commands, one per line.

    Source: GitHub, Workflow commands; actions/toolkit, command.ts, for what is escaped.

    >>> from rowkey.errors import Mistake
    >>> from rowkey.render import CheckedFile
    >>> mistake = Mistake("key", "it is 100% wrong", line=2)
    >>> list(format_github_commands([CheckedFile("a,b.toml", (mistake,))]))
    ['::error file=a%2Cb.toml,line=2,title=mistake::key: it is 100%25 wrong.']
    """
    for one in checked_files:
        yield from (_format_command(one.path, finding) for finding in one.findings)


def _format_command(path: str, finding: Finding) -> str:
    """Return the GitHub workflow command that annotates the line of a finding in a file."""
    title = finding.code if finding.code == finding.name else f"{finding.code} {finding.name}"
    line = f",line={finding.line}" if finding.line else ""
    column = f",col={finding.column}" if finding.column else ""
    place = f"file={_escape_property(path)}{line}{column},title={_escape_property(title)}"
    return f"::{_COMMAND_NAMES[finding.severity]} {place}::{_escape_data(_format_text(finding))}"


def _format_text(finding: Finding) -> str:
    """Return what is the case, and what would help; a mistake names its place, too."""
    return str(finding.to_mistake()) if finding.code == MISTAKE_CODE else finding.sentence


def _escape_data(text: str) -> str:
    """Return a text escaped for the message of a GitHub command."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escape_text(escaped)


def _escape_property(text: str) -> str:
    """Return a text escaped for a property of a GitHub command."""
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def format_junit(
    checked_files: Sequence[CheckedFile], min_severity: Severity | None
) -> Iterator[str]:
    """Yield the findings as JUnit XML: a suite per file, a case per finding.

    Args:
        min_severity: severity from which a finding is a failure, None if only mistakes are
            failures; other findings count as skipped.

    Source: the schema that Jenkins' xUnit plugin publishes, junit-10.xsd.
    """
    suites = [(one, one.findings) for one in checked_files]
    every = [finding for _, findings in suites for finding in findings]
    cases = sum(max(len(findings), 1) for _, findings in suites)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    # The schema gives only suites a count of what was skipped, not the whole.
    yield f'<testsuites name="rowkey check" {_format_counts(every, cases, min_severity)}>'
    for one, findings in suites:
        counts = _format_counts(findings, max(len(findings), 1), min_severity)
        skipped = sum(not _is_failure(finding, min_severity) for finding in findings)
        name = _quote_attribute(one.path)
        yield f'  <testsuite name={name} {counts} skipped="{skipped}">'
        for finding in findings:
            yield from _format_case(one.path, finding, min_severity)
        if not findings:
            yield f'    <testcase name="check" classname={name}/>'
        yield "  </testsuite>"
    yield "</testsuites>"


def _format_counts(
    findings: Sequence[Finding], case_count: int, min_severity: Severity | None
) -> str:
    """Return the XML attributes that count tests and failures."""
    failures = sum(_is_failure(finding, min_severity) for finding in findings)
    return f'tests="{case_count}" failures="{failures}" errors="0"'


def _is_failure(finding: Finding, min_severity: Severity | None) -> bool:
    """Return whether a finding is severe enough to fail its test."""
    if min_severity is None or finding.code == MISTAKE_CODE:
        return finding.code == MISTAKE_CODE
    return finding.rank >= SEVERITIES.index(min_severity)


def _format_case(path: str, finding: Finding, min_severity: Severity | None) -> Iterator[str]:
    """Yield the XML lines of one finding as a JUnit test case."""
    name = _quote_attribute(f"{finding.code} {finding.path}".strip())
    yield f"    <testcase name={name} classname={_quote_attribute(path)}>"
    message = _quote_attribute(_format_text(finding))
    if _is_failure(finding, min_severity):
        spot = f"{finding.line}:{finding.column}" if finding.column else finding.line
        place = _escape_xml(f"{path}:{spot}: {finding.path}")
        yield (
            f"      <failure message={message} "
            f"type={_quote_attribute(finding.name)}>{place}</failure>"
        )
    else:
        yield f"      <skipped message={message}/>"
    yield "    </testcase>"


def _quote_attribute(text: str) -> str:
    """Return a text as a quoted XML attribute value."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(shorten_text(text))


def _escape_xml(text: str) -> str:
    """Return a text escaped for the content of an XML element."""
    from xml.sax.saxutils import escape

    return escape(shorten_text(text))


_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""Severities as SARIF has them."""
_MISTAKE_RULE: dict[str, Any] = {
    "id": MISTAKE_CODE,
    "shortDescription": {"text": "The file is not a valid design."},
    "defaultConfiguration": {"level": "error"},
}


def build_sarif_document(checked_files: Iterable[CheckedFile]) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run.

    What a file allows is listed with its reason, as suppressed in the source.

    Source: OASIS, Static Analysis Results Interchange Format 2.1.0, with errata 01.
    """
    every = lint.select_rules()
    places = {MISTAKE_CODE: 0} | {rule.code: n for n, rule in enumerate(every, 1)}
    driver = {
        "name": "rowkey",
        "version": version("rowkey"),
        "rules": [_MISTAKE_RULE, *map(_build_descriptor, every)],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [result for one in checked_files for result in _build_results(one, places)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _build_descriptor(rule: type[Rule]) -> dict[str, Any]:
    """Return the SARIF description of a lint rule."""
    sections = rule.parse_docstring()
    instead = " ".join(sections.remedy.split())
    help_text = (
        f"{instead}\n\nBad:\n\n```toml\n{rule.bad_design}```\n\n"
        f"Good:\n\n```toml\n{rule.good_design}```\n"
    )
    return {
        "id": rule.code,
        "name": lint.format_rule_name(rule.name),
        "shortDescription": {"text": sections.summary},
        "fullDescription": {"text": " ".join(sections.reason.split())},
        "help": {"text": instead, "markdown": help_text},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _build_results(
    checked_file: CheckedFile, rule_indexes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    stretches = {} if checked_file.file_text is None else checked_file.file_text.build_text_ranges()
    counts: Counter[str] = Counter()
    lint_result = checked_file.lint_result
    allowed = () if lint_result is None else lint_result.allowed_findings
    for finding in [*checked_file.findings, *allowed]:
        fingerprint = f"{finding.code} {finding.path}"
        counts[fingerprint] += 1
        mark = sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        yield _build_result(checked_file.path, finding, stretches) | {
            "ruleIndex": rule_indexes[finding.code],
            "partialFingerprints": {"codeAndPath/v1": f"{mark}:{counts[fingerprint]}"},
        }


def _build_result(
    path: str, finding: Finding, text_ranges: Mapping[str, TextRange]
) -> dict[str, Any]:
    """Return the SARIF result of one finding."""
    physical: dict[str, Any] = {"artifactLocation": {"uri": to_uri(path)}}
    if finding.line:
        physical["region"] = _build_region(finding, text_ranges.get(finding.path))
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    why = {"justification": finding.allowed_reason} if finding.allowed_reason else {}
    evidence = {name: to_plain_value(value) for name, value in finding.evidence.items()}
    return {
        "ruleId": finding.code,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": break_links(_format_text(finding))},
        "locations": [location],
        # Where one result has the word, all must: an empty list says that nothing allows it.
        "suppressions": [] if finding.allowed_reason is None else [{"kind": "inSource", **why}],
        **({"properties": {"evidence": evidence}} if evidence else {}),
    }


def _build_region(finding: Finding, text_range: TextRange | None) -> dict[str, int]:
    """Return the SARIF text region of the key and value that a finding is about."""
    if text_range is None or text_range.line != finding.line:
        column = {"startColumn": finding.column} if finding.column else {}
        return {"startLine": finding.line, **column}
    return {
        "startLine": text_range.line,
        "startColumn": text_range.column,
        "endLine": text_range.last_line,
        "endColumn": text_range.end_column,
    }


def break_links(text: str) -> str:
    """Return a message in which SARIF viewers find no links.

    Source: SARIF 2.1.0, 3.11.6, Messages with embedded links.

    >>> break_links("reads[0]: [a](https://example.org) is unknown")
    'reads[0]: [a] (https://example.org) is unknown'
    """
    return text.replace("](", "] (")


def to_uri(path: str) -> str:
    """Return a file path as a SARIF URI, relative to the current folder if it is below it.

    >>> to_uri("designs/100% b.toml"), to_uri("./a:b.toml")
    ('designs/100%25%20b.toml', 'a%3Ab.toml')
    """
    place = Path(path)
    if place.is_absolute():
        if not place.is_relative_to(Path.cwd()):
            return place.as_uri()
        place = place.relative_to(Path.cwd())
    return quote(os.fsencode(os.path.normpath(place).replace(os.sep, "/")))
