"""Findings in the forms that other programs take: SARIF, GitHub's annotations, JUnit."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from rowkey.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.errors import Mistake
    from rowkey.lint import Finding, Findings, Rule, Severity

MISTAKE = "mistake"
"""What stands for a rule's code where a file is no design at all."""
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""Severities as SARIF has them."""
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
"""Severities as GitHub has them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One file that was checked.

    Args:
        path: the file, as it was given.
        mistakes: why it is no design; none if it is one.
        judged: what the rules found; None if the file is no design.
    """

    path: str
    mistakes: tuple[Mistake, ...] = ()
    judged: Findings | None = None


@dataclass(frozen=True, slots=True)
class _Notice:
    """One thing to be told of a file, whether a rule found it or it could not be read."""

    path: str
    line: int
    code: str
    name: str
    severity: Severity
    where: str
    text: str


def _notices(one: Checked) -> Iterator[_Notice]:
    for mistake in one.mistakes:
        where = mistake.path
        yield _Notice(one.path, mistake.line, MISTAKE, MISTAKE, "error", where, str(mistake))
    if one.judged is not None:
        yield from (_notice(one.path, found) for found in one.judged.found)


def _notice(path: str, found: Finding) -> _Notice:
    text = str(found).removeprefix(f"{found.path}: {found.code} {found.name}: ")
    return _Notice(path, found.line, found.code, found.name, found.severity, found.path, text)


# SARIF


def sarif_document(checked: Iterable[Checked]) -> dict[str, Any]:
    """What was found, as SARIF 2.1.0, for code scanning.

    What a file allows is listed with its reason, as suppressed in the source.

    Source: OASIS, Static Analysis Results Interchange Format 2.1.0.
    """
    from rowkey.lint import chosen

    every = chosen()
    places = {MISTAKE: 0} | {rule.code: n for n, rule in enumerate(every, 1)}
    results = []
    for one in checked:
        results += [_result(notice, places) for notice in _notices(one)]
        for allowed in one.judged.allowed if one.judged is not None else ():
            result = _result(_notice(one.path, allowed.finding), places)
            why = {"justification": allowed.why} if allowed.why else {}
            results.append({**result, "suppressions": [{"kind": "inSource", **why}]})
    driver = {
        "name": "rowkey",
        "version": version("rowkey"),
        "rules": [_MISTAKE_RULE, *map(_descriptor, every)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


_MISTAKE_RULE: dict[str, Any] = {
    "id": MISTAKE,
    "shortDescription": {"text": "The file is no design."},
    "defaultConfiguration": {"level": "error"},
}


def _descriptor(rule: type[Rule]) -> dict[str, Any]:
    from rowkey.lint import spoken

    told = rule.told()
    return {
        "id": rule.code,
        "name": spoken(rule.name),
        "shortDescription": {"text": told.summary},
        "fullDescription": {"text": " ".join(told.why.split())},
        "help": {"text": " ".join(told.instead.split())},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(notice: _Notice, places: dict[str, int]) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(notice.path.replace("\\", "/"))}}
    if notice.line:
        physical["region"] = {"startLine": notice.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if notice.where:
        location["logicalLocations"] = [{"fullyQualifiedName": notice.where}]
    return {
        "ruleId": notice.code,
        "ruleIndex": places[notice.code],
        "level": _LEVELS[notice.severity],
        "message": {"text": notice.text},
        "locations": [location],
    }


# GitHub


def github_lines(checked: Iterable[Checked]) -> Iterator[str]:
    """What was found, as commands that GitHub's runners turn into annotations.

    Source: GitHub, Workflow commands; actions/toolkit, command.ts, for what is escaped.

    >>> from rowkey.errors import Mistake
    >>> list(github_lines([Checked("a,b.toml", (Mistake("key", "it is 100% wrong", line=2),))]))
    ['::error file=a%2Cb.toml,line=2,title=mistake::key: it is 100%25 wrong.']
    """
    for one in checked:
        for notice in _notices(one):
            title = notice.code if notice.code == notice.name else f"{notice.code} {notice.name}"
            line = f",line={notice.line}" if notice.line else ""
            place = f"file={_property(notice.path)}{line},title={_property(title)}"
            yield f"::{_COMMANDS[notice.severity]} {place}::{_data(notice.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# JUnit


def junit_lines(checked: Sequence[Checked], least: Severity) -> Iterator[str]:
    """What was found, as JUnit's XML: a suite a file, a case a finding.

    Args:
        checked: the files.
        least: severity from which a finding is a failure; lesser ones count as skipped.

    Source: the schema that Jenkins' xUnit plugin publishes, junit-10.xsd.
    """
    suites = [(one, list(_notices(one))) for one in checked]
    every = [notice for _, notices in suites for notice in notices]
    cases = sum(max(len(notices), 1) for _, notices in suites)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f'<testsuites name="rowkey check" {_counts(every, cases, least)}>'
    for one, notices in suites:
        counts = _counts(notices, max(len(notices), 1), least)
        yield f"  <testsuite name={quoteattr(printable(one.path))} {counts}>"
        for notice in notices:
            yield from _case(notice, least)
        if not notices:
            yield f'    <testcase name="check" classname={quoteattr(printable(one.path))}/>'
        yield "  </testsuite>"
    yield "</testsuites>"


def _counts(notices: Sequence[_Notice], cases: int, least: Severity) -> str:
    failures = sum(_fails(notice, least) for notice in notices)
    skipped = len(notices) - failures
    return f'tests="{cases}" failures="{failures}" errors="0" skipped="{skipped}"'


def _fails(notice: _Notice, least: Severity) -> bool:
    from rowkey.lint import SEVERITIES

    return SEVERITIES.index(notice.severity) >= SEVERITIES.index(least)


def _case(notice: _Notice, least: Severity) -> Iterator[str]:
    name = quoteattr(printable(f"{notice.code} {notice.where}".strip()))
    yield f"    <testcase name={name} classname={quoteattr(printable(notice.path))}>"
    message = quoteattr(printable(notice.text))
    if _fails(notice, least):
        place = escape(printable(f"{notice.path}:{notice.line}: {notice.where}"))
        yield f"      <failure message={message} type={quoteattr(notice.name)}>{place}</failure>"
    else:
        yield f"      <skipped message={message}/>"
    yield "    </testcase>"
